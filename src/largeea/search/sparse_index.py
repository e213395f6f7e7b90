"""An inverted index of sparse vectors whose posting lists are bounded."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.execution.settings import current
from largeea.graph import Float32, Int32, Int64
from largeea.search.sorting import sort_range
from largeea.similarity.arrays import stable_order


class Csr(NamedTuple):
    """A sparse matrix: row i has `columns[pointer[i]:pointer[i + 1]]`, and `weights` likewise."""

    pointer: Int64
    columns: Int32
    weights: Float32

    @classmethod
    def of(cls, matrix: Any) -> Csr:
        """A matrix in the types that compiled code expects; copied only where they are others."""
        matrix = sp.csr_array(matrix)
        return cls(
            matrix.indptr.astype(np.int64, copy=False),
            matrix.indices.astype(np.int32, copy=False),
            matrix.data.astype(np.float32, copy=False),
        )


class SparseIndex(NamedTuple):
    """Items by feature, and features by item. Features are numbered by rank, from rare to common.

    rank: the rank of each feature, by the number of items that have it, ties by feature, `[features]`.
    items: the features of each item as ranks, ascending.
    postings: the items of each rank, at most `most`: of those that have a more common feature the ones with
        the fewest features, in which it weighs most.
    """

    rank: Int32
    items: Csr
    postings: Csr

    @property
    def entries(self) -> int:
        """Entries of the items and of the postings together."""
        return len(self.items.columns) + len(self.postings.columns)

    def by_rarest_feature(self, queries: Csr) -> Int32:
        """The order of queries by their rarest feature, `[queries]`.

        Those that share it look up the same items one after another, while these are in the cache.
        """
        rarest = np.empty(len(queries.pointer) - 1, np.int32)
        over_rows(_lowest_ranks, len(rarest), queries, self.rank, rarest)
        return stable_order(rarest.view(np.uint32)).astype(np.int32)

    @classmethod
    def build(cls, items: Csr, features: int, most: int) -> SparseIndex:
        """The index of items; posting lists have up to `most` entries."""
        frequency = np.bincount(items.columns, minlength=features)
        order = np.argsort(frequency, kind="stable")
        rank = np.empty(features, np.int32)
        rank[order] = np.arange(features, dtype=np.int32)
        rows = len(items.pointer) - 1
        ranked = Csr(items.pointer, np.empty_like(items.columns), np.empty_like(items.weights))
        over_rows(_rank_rows, rows, items, rank, ranked)
        pointer = np.zeros(features + 1, np.int64)
        np.cumsum(np.minimum(frequency[order], most), out=pointer[1:])
        postings = Csr(pointer, np.empty(pointer[-1], np.int32), np.empty(pointer[-1], np.float32))
        shortest_first = stable_order(np.diff(items.pointer).astype(np.uint32)).astype(np.int32)
        parts = current().thread_count
        bounds = np.searchsorted(pointer, np.linspace(0, pointer[-1], parts + 1)[1:-1])
        bounds = np.concatenate([[0], bounds, [features]]).astype(np.int64)
        over_rows(_post, parts, bounds, ranked, shortest_first, postings, least=1)
        return cls(rank, ranked, postings)


@njit(cache=True, nogil=True)
def _lowest_ranks(first: int, last: int, rows: Csr, rank: Int32, lowest: Int32) -> None:
    """Write the lowest rank of the features of each of the rows `first:last`."""
    for row in range(first, last):
        least = len(rank)
        for at in range(rows.pointer[row], rows.pointer[row + 1]):
            least = min(least, rank[rows.columns[at]])
        lowest[row] = least


@njit(cache=True, nogil=True)
def _rank_rows(first: int, last: int, items: Csr, rank: Int32, ranked: Csr) -> None:
    """Write the features of the items `first:last` as ranks, ascending, with their weights."""
    order = np.empty(1024, np.uint64)
    for item in range(first, last):
        begin, end = items.pointer[item], items.pointer[item + 1]
        size = end - begin
        if size > len(order):
            order = np.empty(2 * size, np.uint64)
        for at in range(size):
            order[at] = (np.uint64(rank[items.columns[begin + at]]) << np.uint64(32)) | np.uint64(at)
        sort_range(order, np.int64(0), size)
        for at in range(size):
            ranked.columns[begin + at] = np.int64(order[at] >> np.uint64(32))
            ranked.weights[begin + at] = items.weights[begin + np.int64(order[at] & np.uint64(0xFFFFFFFF))]


@njit(cache=True, nogil=True)
def _post(first: int, last: int, bounds: Int64, items: Csr, order: Int32, postings: Csr) -> None:
    """Fill the posting lists of the ranks `bounds[first]:bounds[last]` with items in a given order."""
    low, high = bounds[first], bounds[last]
    if low == high:
        return
    free = postings.pointer[low:high].copy()
    for item in order:
        start, end = items.pointer[item], items.pointer[item + 1]
        stop = end
        while start < stop:
            middle = (start + stop) >> 1
            if items.columns[middle] < low:
                start = middle + 1
            else:
                stop = middle
        for at in range(start, end):
            rank = items.columns[at]
            if rank >= high:
                break
            place = free[rank - low]
            if place < postings.pointer[rank + 1]:
                postings.columns[place], postings.weights[place] = item, items.weights[at]
                free[rank - low] = place + 1
