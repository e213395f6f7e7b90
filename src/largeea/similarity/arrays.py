"""CSR arrays: row pointers, and entries that are packed without gaps."""

from __future__ import annotations

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32, Int64
from largeea.similarity import entry_kernels as loops


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
