"""Kernels of `use_network`: convolutions as sums of precomputed products, standardisation, sums per name."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Float32, Int64

_FAST = {"reassoc", "contract", "nsz"}


def distinct_windows(line: Int64, places: Int64) -> dict[int, tuple[Int64, Int64]]:
    """Distinct windows of 2, 3 and 5 pieces at `places`, by window size: `(number[line], place[windows])`.

    `number` gives equal windows the same number, and `place` is a place where a window of that number occurs.
    A window of 2 starts at its place; the others are centred on it. The number at all other positions of the
    line is `windows`, an empty window.
    """
    size = line.max() + 1
    pair = line[places] * size + line[places + 1]
    triple, of_triple = _numbered(line[places - 1] * size**2 + pair, places, len(line))
    quintuple = (triple[places] * size + line[places - 2]) * size + line[places + 2]
    return {
        2: _numbered(pair, places, len(line)),
        3: (triple, of_triple),
        5: _numbered(quintuple, places, len(line)),
    }


def _numbered(keys: Int64, places: Int64, length: int) -> tuple[Int64, Int64]:
    """`(number[length], place[distinct])` of the distinct keys, see `distinct_windows`."""
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    numbers = np.full(length, len(first), np.int64)
    numbers[places] = number
    return numbers, places[first]


@njit(cache=True, nogil=True, fastmath=_FAST)
def convolve(
    out: Float32,
    column: int,
    places: Int64,
    line: Int64,
    left: int,
    products: Float32,
    residual: Float32,
    bias: Float32,
) -> None:
    """For the window at `places[i]`: `out[i, column:] = relu(bias + sum of its products) + residual`.

    `line` holds row numbers of `products` and `residual`. The window starts `left` before its place. Columns
    from k * width of `products` hold what a row adds at position k of a window.
    """
    width = len(bias)
    total = np.empty(width, np.float32)
    for i in range(len(places)):
        start = places[i] - left
        total[:] = bias
        for k in range(products.shape[1] // width):
            product = products[line[start + k], k * width : (k + 1) * width]
            for d in range(width):
                total[d] += product[d]
        kept = residual[line[places[i]]]
        target = out[i, column : column + width]
        for d in range(width):
            target[d] = max(total[d], np.float32(0)) + kept[d]


@njit(cache=True, nogil=True, fastmath=_FAST)
def standardise(rows: Float32, epsilon: np.float32) -> None:
    """Scale each row to mean 0 and variance 1, in place."""
    width = np.float32(rows.shape[1])
    for i in range(len(rows)):
        row = rows[i]
        mean = np.float32(0)
        for d in range(len(row)):
            mean += row[d]
        mean /= width
        variance = np.float32(0)
        for d in range(len(row)):
            row[d] -= mean
            variance += row[d] * row[d]
        scale = np.float32(1) / np.sqrt(variance / width + epsilon)
        for d in range(len(row)):
            row[d] *= scale


@njit(cache=True, nogil=True)
def sums_of_runs(rows: Float32, offsets: Int64) -> Float32:
    """`sums[i] = rows[offsets[i]:offsets[i + 1]].sum(axis=0)`."""
    sums = np.zeros((len(offsets) - 1, rows.shape[1]), np.float32)
    for i in range(len(sums)):
        for row in range(offsets[i], offsets[i + 1]):
            for d in range(rows.shape[1]):
                sums[i, d] += rows[row, d]
    return sums
