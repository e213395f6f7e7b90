"""Loops over the columns of a CSR matrix on all threads: each part owns a range of columns.

Every part goes through all rows, in which the entries of its columns follow each other. So nothing has to be
merged, no part needs arrays of its own, and the result does not depend on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from largeea.execution import current
from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Float64, Int32, Int64

ENTRIES_PER_PART = 1 << 16
"""With fewer entries, one thread is faster than several."""


def over_columns(kernel: Any, entries: int, columns: int, *arguments: Any) -> None:
    """Call `kernel(first, last, *arguments)` for ranges of columns, one range a thread."""
    parts = max(1, min(current().thread_count, entries // ENTRIES_PER_PART, columns))
    bounds = np.linspace(0, columns, parts + 1).astype(np.int64).tolist()

    def work(first: int, last: int) -> None:
        for part in range(first, last):
            kernel(bounds[part], bounds[part + 1], *arguments)

    over_rows(work, parts, least=1)


def transposed(indptr: Int64, indices: Int32, scores: Float32, columns: int) -> tuple[Int64, Int32, Float32]:
    """Return the row pointers, indices and scores of the transposed matrix; rows ascend in each column."""
    rows = len(indptr) - 1
    orders = np.arange(columns, dtype=np.int32), np.arange(rows, dtype=np.int32)
    return columns_in_order(indptr, indices, scores, *orders)


def columns_in_order(
    indptr: Int64, indices: Int32, scores: Float32, order: Int32, row_numbers: Int32
) -> tuple[Int64, Int32, Float32]:
    """Return the transposed matrix with the columns in some order, `[columns]`, and the rows renumbered.

    The entries of a column are in the order of the rows, whatever their new numbers are.
    """
    columns = len(order)
    counts = np.zeros(columns, np.int64)
    over_columns(_count, len(indices), columns, indptr, indices, counts)
    pointers = np.zeros(columns + 1, np.int64)
    np.cumsum(counts[order], out=pointers[1:])
    places = counts
    places[order] = pointers[:-1]
    rows, flipped = np.empty(len(indices), np.int32), np.empty(len(indices), np.float32)
    over_columns(_scatter, len(indices), columns, indptr, indices, scores, row_numbers, places, rows, flipped)
    return pointers, rows, flipped


def column_sums(indptr: Int64, indices: Int32, scores: Float32, columns: int) -> Float64:
    """Return the sum of each column, `[columns]`, added in the order of the entries."""
    sums = np.zeros(columns)
    over_columns(_add, len(indices), columns, indptr, indices, scores, sums)
    return sums


def highest_of_columns(indptr: Int64, indices: Int32, scores: Float32, columns: int, floor: float) -> Float32:
    """Return the highest score of each column, `[columns]`; the floor where there is none."""
    highest = np.full(columns, floor, np.float32)
    over_columns(_raise, len(indices), columns, indptr, indices, scores, highest)
    return highest


@njit(cache=True, nogil=True)
def _run(first: int, last: int, indices: Int32, start: int, end: int) -> tuple[int, int]:
    """Return where the columns `first:last` begin and end among the ascending indices `start:end`."""
    found = start, end
    for column in (first, last):
        low, high = found[0], end
        while low < high:
            middle = (low + high) >> 1
            if indices[middle] < column:
                low = middle + 1
            else:
                high = middle
        found = (low, end) if column == first else (found[0], low)
    return found


@njit(cache=True, nogil=True)
def _count(first: int, last: int, indptr: Int64, indices: Int32, counts: Int64) -> None:
    for row in range(len(indptr) - 1):
        start, end = _run(first, last, indices, indptr[row], indptr[row + 1])
        for column in indices[start:end]:
            counts[np.uint32(column)] += 1


@njit(cache=True, nogil=True)
def _scatter(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    row_numbers: Int32,
    places: Int64,
    rows: Int32,
    flipped: Float32,
) -> None:
    for row in range(len(indptr) - 1):
        start, end = _run(first, last, indices, indptr[row], indptr[row + 1])
        for entry in range(start, end):
            column = np.uint32(indices[entry])
            place = places[column]
            places[column] = place + 1
            rows[np.uint64(place)], flipped[np.uint64(place)] = row_numbers[row], scores[entry]


@njit(cache=True, nogil=True)
def _add(first: int, last: int, indptr: Int64, indices: Int32, scores: Float32, sums: Float64) -> None:
    for row in range(len(indptr) - 1):
        start, end = _run(first, last, indices, indptr[row], indptr[row + 1])
        for entry in range(start, end):
            sums[np.uint32(indices[entry])] += scores[entry]


@njit(cache=True, nogil=True)
def _raise(first: int, last: int, indptr: Int64, indices: Int32, scores: Float32, highest: Float32) -> None:
    for row in range(len(indptr) - 1):
        start, end = _run(first, last, indices, indptr[row], indptr[row + 1])
        for entry in range(start, end):
            column = np.uint32(indices[entry])
            highest[column] = max(highest[column], scores[entry])
