"""Compiled loops that add CSR matrices row by row; where a matrix lacks an entry, its floor is added."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Bool, Float32, Int32, Int64
from largeea.similarity.kernels import keep_best


@njit(cache=True, nogil=True)
def count_union(
    first: int, last: int, indptr_a: Int64, indices_a: Int32, indptr_b: Int64, indices_b: Int32, counts: Int64
) -> None:
    """Write how many entries are in one matrix at least, for each row."""
    for row in range(first, last):
        a, b = indptr_a[row], indptr_b[row]
        end_a, end_b = indptr_a[row + 1], indptr_b[row + 1]
        count = end_a - a + end_b - b
        while a < end_a and b < end_b:
            of_a, of_b = indices_a[a], indices_b[b]
            count -= of_a == of_b
            a += of_a <= of_b
            b += of_b <= of_a
        counts[row] = count


@njit(cache=True, nogil=True)
def add_rows(
    first: int,
    last: int,
    indptr_a: Int64,
    indices_a: Int32,
    scores_a: Float32,
    floor_a: np.float32,
    indptr_b: Int64,
    indices_b: Int32,
    scores_b: Float32,
    floor_b: np.float32,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
) -> None:
    """Write the sum of two matrices, explicit zeros included, which scipy's sum would drop."""
    for row in range(first, last):
        of_a, of_b = slice(indptr_a[row], indptr_a[row + 1]), slice(indptr_b[row], indptr_b[row + 1])
        place = slice(indptr[row], indptr[row + 1])
        _merge(
            indices_a[of_a], scores_a[of_a], floor_a, indices_b[of_b], scores_b[of_b], np.float32(1), floor_b,
            indices[place], scores[place],
        )  # fmt: skip


@njit(cache=True, nogil=True)
def best_of_sums(
    first: int,
    last: int,
    pointers: tuple[Int64, ...],
    indices: tuple[Int32, ...],
    scores: tuple[Float32, ...],
    weights: Float32,
    floors: Float32,
    factor: np.float32,
    sources: Bool,
    targets: Bool,
    ids: Int32,
    best: Float32,
    counts: Int64,
) -> None:
    """Write the top k of `factor` times the weighted sum of several matrices to the rows `first:last` of
    `ids[rows, k]` and `best[rows, k]`, ascending by id, and how many they are to `counts[rows]`.

    Only sources and targets in the masks count; an empty mask stands for all. Floors are weighted already.
    """
    k = ids.shape[1]
    columns, sums = np.empty((2, 4 * k + 1), np.int32), np.empty((2, 4 * k + 1), np.float32)
    ranked = np.empty(4 * k + 1, np.float32)
    for row in range(first, last):
        counts[row] = 0
        if len(sources) and not sources[row]:
            continue
        longest = 0
        for part in range(len(pointers)):
            longest += pointers[part][row + 1] - pointers[part][row]
        if longest > len(ranked):
            columns, sums = np.empty((2, 2 * longest), np.int32), np.empty((2, 2 * longest), np.float32)
            ranked = np.empty(2 * longest, np.float32)
        count, now, so_far = 0, 0, np.float32(0)
        for part in range(len(pointers)):
            start, end = pointers[part][row], pointers[part][row + 1]
            count = _merge(
                columns[now, :count], sums[now, :count], so_far,
                indices[part][start:end], scores[part][start:end], weights[part], floors[part],
                columns[1 - now], sums[1 - now],
            )  # fmt: skip
            so_far += floors[part]
            now = 1 - now
        if len(targets):
            count = _drop(columns[now], sums[now], count, targets)
        for place in range(count):
            sums[now, place] *= factor
        counts[row] = min(count, k)
        keep_best(columns[now, :count], sums[now, :count], ranked, ids[row], best[row])


@njit(cache=True, nogil=True)
def _merge(
    columns: Int32,
    sums: Float32,
    so_far: np.float32,
    others: Int32,
    scores: Float32,
    weight: np.float32,
    floor: np.float32,
    merged: Int32,
    totals: Float32,
) -> int:
    """Write the union of the columns, and their sums plus the weighted scores; return their number.

    `so_far` is the sum of a column that is not in `columns`.
    """
    a, b, count = np.uint64(0), np.uint64(0), np.uint64(0)  # unsigned: numba checks signed indices
    end_a, end_b = np.uint64(len(columns)), np.uint64(len(others))
    while a < end_a and b < end_b:
        of_a, of_b = columns[a], others[b]
        sum_a, sum_b = sums[a], weight * scores[b]
        in_a, in_b = of_a <= of_b, of_b <= of_a
        merged[count] = min(of_a, of_b)
        totals[count] = (sum_a if in_a else so_far) + (sum_b if in_b else floor)
        a += np.uint64(in_a)
        b += np.uint64(in_b)
        count += np.uint64(1)
    rest_a, rest_b = int(end_a - a), int(end_b - b)
    for place in range(rest_a):
        merged[int(count) + place] = columns[int(a) + place]
        totals[int(count) + place] = sums[int(a) + place] + floor
    for place in range(rest_b):
        merged[int(count) + place] = others[int(b) + place]
        totals[int(count) + place] = so_far + weight * scores[int(b) + place]
    return int(count) + rest_a + rest_b


@njit(cache=True, nogil=True)
def _drop(columns: Int32, sums: Float32, count: int, targets: Bool) -> int:
    """Remove the columns that are not in the mask; return how many stay."""
    kept = 0
    for place in range(count):
        columns[kept], sums[kept] = columns[place], sums[place]
        kept += targets[columns[place]]
    return kept
