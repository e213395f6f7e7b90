"""Rows and columns of a sparse matrix in an order in which neighbours share entries.

A pass over a matrix looks up one number for each entry. In a large matrix these are all over memory, and most
are in no cache. Rows with the same column next to each other look up the same numbers, and if these columns
are also next to each other, the numbers are as well. The order is that of a MinHash (Broder, 1997): the more
columns two rows share, the more likely they have the same hash.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32, Int64, UInt32
from largeea.similarity.arrays import new_entries, row_pointers, stable_order
from largeea.similarity.columns import over_columns

HIGHEST = np.uint32(0xFFFFFFFF)


def local_order_of_rows(indptr: Int64, indices: Int32) -> Int32:
    """Return the rows in an order in which those that share columns are close, `[rows]`."""
    lowest = np.empty(len(indptr) - 1, np.uint32)
    over_rows(_lowest_of_rows, len(lowest), indptr, indices, lowest)
    return stable_order(lowest).astype(np.int32)


def local_order_of_columns(indptr: Int64, indices: Int32, columns: int) -> Int32:
    """Return the columns in an order in which those that share rows are close, `[columns]`."""
    lowest = np.full(columns, HIGHEST)
    over_columns(_lowest_of_columns, len(indices), columns, indptr, indices, lowest)
    return stable_order(lowest).astype(np.int32)


def places_of(order: Int32) -> Int32:
    """Return the place of each number in an order of all numbers, `[n]`."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def rows_in_order(
    indptr: Int64, indices: Int32, scores: Float32, order: Int32, column_numbers: Int32
) -> tuple[Int64, Int32, Float32]:
    """Return a matrix with its rows in some order and its columns renumbered.

    The entries of a row stay in their order, so that their sum does not change.
    """
    pointers = row_pointers(np.diff(indptr)[order])
    numbers, moved = new_entries(pointers)
    over_rows(
        _move_rows, len(order), order, indptr, indices, scores, column_numbers, pointers, numbers, moved
    )
    return pointers, numbers, moved


@njit(cache=True, nogil=True)
def _lowest_of_rows(first: int, last: int, indptr: Int64, indices: Int32, lowest: UInt32) -> None:
    for row in range(first, last):
        least = HIGHEST
        for entry in range(indptr[row], indptr[row + 1]):
            least = min(least, _hash(indices[entry]))
        lowest[row] = least


@njit(cache=True, nogil=True)
def _lowest_of_columns(first: int, last: int, indptr: Int64, indices: Int32, lowest: UInt32) -> None:
    for row in range(len(indptr) - 1):
        own = _hash(row)
        for entry in range(indptr[row], indptr[row + 1]):
            column = np.uint32(indices[entry])
            if first <= column < last:
                lowest[column] = min(lowest[column], own)


@njit(cache=True, nogil=True, inline="always")
def _hash(number: int) -> np.uint32:
    """Random bits for a number (the finaliser of MurmurHash3)."""
    bits = np.uint32(number)
    bits = np.uint32((bits ^ (bits >> np.uint32(16))) * np.uint32(0x85EBCA6B))
    bits = np.uint32((bits ^ (bits >> np.uint32(13))) * np.uint32(0xC2B2AE35))
    return np.uint32(bits ^ (bits >> np.uint32(16)))


@njit(cache=True, nogil=True)
def _move_rows(
    first: int, last: int, order: Int32, indptr: Int64, indices: Int32, scores: Float32,
    column_numbers: Int32, pointers: Int64, numbers: Int32, moved: Float32,
) -> None:  # fmt: skip
    for place in range(first, last):
        start, to = indptr[order[place]], pointers[place]
        for entry in range(pointers[place + 1] - to):
            numbers[to + entry] = column_numbers[np.uint32(indices[start + entry])]
            moved[to + entry] = scores[start + entry]
