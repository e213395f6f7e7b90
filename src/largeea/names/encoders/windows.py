"""Convolutions over rows in a line as sums of precomputed shares, and what goes with them, compiled."""

from __future__ import annotations

import numpy as np

from largeea.compiled import compiled
from largeea.graph import Float32, Int64

_FAST = {"reassoc", "contract", "nsz"}


def distinct_windows(line: Int64, places: Int64) -> dict[int, tuple[Int64, Int64]]:
    """Numbers windows of 2, 3 and 5 rows at `places`, equal ones alike: `(number[line], a place of each)`.

    A window of 2 starts at its place, the others have it in the middle. Elsewhere on the line the number is
    one more than the last: a window of nothing.
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
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    numbers = np.full(length, len(first), np.int64)
    numbers[places] = number
    return numbers, places[first]


@compiled(nogil=True, fastmath=_FAST)
def convolve(
    out: Float32,
    column: int,
    places: Int64,
    line: Int64,
    left: int,
    shares: Float32,
    residual: Float32,
    bias: Float32,
) -> None:
    """`out[i, column:] = relu(bias + shares of the rows around places[i]) + residual of the row there`.

    The window starts `left` before its place; columns k * width... of `shares` are a row's share at place k.
    """
    width = len(bias)
    total = np.empty(width, np.float32)
    for i in range(len(places)):
        start = places[i] - left
        total[:] = bias
        for k in range(shares.shape[1] // width):
            share = shares[line[start + k], k * width : (k + 1) * width]
            for d in range(width):
                total[d] += share[d]
        kept = residual[line[places[i]]]
        target = out[i, column : column + width]
        for d in range(width):
            target[d] = max(total[d], np.float32(0)) + kept[d]


@compiled(nogil=True, fastmath=_FAST)
def standardise(rows: Float32, epsilon: np.float32) -> None:
    """Give each row mean 0 and variance 1, in place."""
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


@compiled(nogil=True)
def sums_of_runs(rows: Float32, offsets: Int64) -> Float32:
    """`sums[i]` is the sum of `rows[offsets[i]:offsets[i + 1]]`."""
    sums = np.zeros((len(offsets) - 1, rows.shape[1]), np.float32)
    for i in range(len(sums)):
        for row in range(offsets[i], offsets[i + 1]):
            for d in range(rows.shape[1]):
                sums[i, d] += rows[row, d]
    return sums
