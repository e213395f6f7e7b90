"""CSR arrays: row pointers, entries that are packed without gaps, and the order of keys."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32, Int64
from largeea.similarity import entry_kernels as loops

Number = TypeVar("Number", bound=np.generic)


def closed_up(starts: Int64, counts: Int64, indices: Int32, scores: Float32) -> tuple[Int64, Int32, Float32]:
    """Return CSR arrays of rows that begin at `starts` and have `counts` entries each, without gaps."""
    indptr = row_pointers(counts)
    if indptr[-1] == len(indices) and np.array_equal(indptr[:-1], starts):
        return indptr, indices, scores
    packed = new_entries(indptr)
    over_rows(loops.close_up, len(counts), starts, indices, scores, indptr, *packed)
    return indptr, *packed


def row_pointers(counts: Int64) -> Int64:
    """Return the row pointers of rows with so many entries each, `[rows + 1]`."""
    pointers = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=pointers[1:])
    return pointers


def new_entries(indptr: Int64) -> tuple[Int32, Float32]:
    """Return arrays for the indices and scores of all entries, not yet filled."""
    return np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)


def taken(values: npt.NDArray[Number], places: Int32 | Int64) -> npt.NDArray[Number]:
    """Return `values[places]`, on all threads."""
    found = np.empty(len(places), values.dtype)

    def take(first: int, last: int) -> None:
        found[first:last] = values[places[first:last]]

    over_rows(take, len(places))
    return found


def stable_order(keys: npt.NDArray[np.unsignedinteger]) -> Int64:
    """Return `np.argsort(keys, kind="stable")` of integers without a sign, several times as fast.

    The sort of numpy that uses the processor's vector instructions is not stable. So short keys get their
    place as a lower half, and equal long ones are put in order afterwards.
    """
    if keys.itemsize <= 4:
        packed = _next_to_places(keys, np.arange(len(keys)))
        packed.sort()
        return _places(packed)
    order = np.argsort(keys)
    ordered = keys[order]
    is_repeated = np.concatenate([[False], ordered[1:] == ordered[:-1], [False]])
    tied = np.flatnonzero(is_repeated[1:] | is_repeated[:-1])
    run = np.cumsum(~is_repeated[tied])
    packed = _next_to_places(run, order[tied])
    packed.sort()
    order[tied] = _places(packed)
    return order


def _next_to_places(keys: npt.NDArray[np.integer], places: Int64) -> npt.NDArray[np.uint64]:
    return (keys.astype(np.uint64) << np.uint64(32)) | places.astype(np.uint64)


def _places(packed: npt.NDArray[np.uint64]) -> Int64:
    return (packed & np.uint64(0xFFFFFFFF)).astype(np.int64)
