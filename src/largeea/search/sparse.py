"""Inner-product search between sparse vectors, over an inverted index, with bounded work for each query.

Ours, because a sparse matrix product walks every posting list in full, and those of a few common n-grams cost
more than all others together. Here rare features propose items, and all features decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from largeea import progress
from largeea.execution.devices import cuda_is_chosen
from largeea.execution.jobs import row_blocks, run_jobs
from largeea.graph import Arrays, Float32, Int32
from largeea.search.sparse_index import Csr, SparseIndex
from largeea.search.sparse_kernels import Scratch, search_rows

POSTINGS_PER_QUERY = 4096
"""Features of a query propose from rare to common until they have named this many items."""
POSTINGS_PER_KEPT = 80
"""The same for each item that is kept: the larger limit counts."""
ROWS_PER_JOB = 8192
BLOCKS_PER_THREAD = 8
"""Twice as many as elsewhere: a search takes long, and the nodes of a cluster wait for its last block."""


class SparseSearch(Protocol):
    """Queries and an index of items."""

    @property
    def at_once(self) -> int | None:
        """Blocks of queries that are answered at a time; None: one a thread."""

    def find(self, first: int, last: int, k: int) -> tuple[Int32, Float32]:
        """The answers to the queries `first:last`, as of `sparse_top_k`."""


def sparse_top_k(
    queries: sp.csr_array, items: sp.csr_array, k: int, *, stored: bool = False
) -> tuple[Int32, Float32]:
    """The k items with the highest inner product for each query, of those that share a feature with it.

    `(ids[n, k], scores[n, k])`, best first, ties by id, padded with -1 and 0. Exact for queries whose
    features have no more than `POSTINGS_PER_QUERY` items in all; otherwise an item that shares only common
    features with a query may be missed. Weights are positive. A stage that searches once may have its jobs
    `stored`.
    """
    budget = max(POSTINGS_PER_QUERY, POSTINGS_PER_KEPT * k)
    index = SparseIndex.build(Csr.of(items), items.shape[1], budget)
    search = _chosen_search(Csr.of(queries), index, budget)
    ids = np.empty((queries.shape[0], k), np.int32)
    scores = np.empty((queries.shape[0], k), np.float32)
    blocks = row_blocks(queries.shape[0], most=ROWS_PER_JOB, per_thread=BLOCKS_PER_THREAD)
    stored = stored and search.at_once is None  # a GPU finds blocks sooner than they are stored
    for number, found in run_jobs(search_block, blocks, search, k, at_once=search.at_once, stored=stored):
        first, last = blocks[number]
        ids[first:last], scores[first:last] = found["ids"], found["scores"]
    return ids, scores


def search_block(first: int, last: int, search: SparseSearch, k: int) -> Arrays:
    """The answers to the queries `first:last`."""
    ids, scores = search.find(first, last, k)
    return {"ids": ids, "scores": scores}


@dataclass(frozen=True)
class CompiledSearch:
    """The search on the CPU."""

    queries: Csr
    index: SparseIndex
    budget: int
    at_once: int | None = None

    def find(self, first: int, last: int, k: int) -> tuple[Int32, Float32]:
        """See `SparseSearch.find`."""
        ids = np.full((last - first, k), -1, np.int32)
        scores = np.zeros((last - first, k), np.float32)
        scratch = Scratch.of(len(self.index.items.pointer) - 1, len(self.index.rank), self.budget)
        search_rows(first, last, self.queries, self.index, scratch, ids, scores)
        return ids, scores


def _chosen_search(queries: Csr, index: SparseIndex, budget: int) -> SparseSearch:
    """On a GPU where one is chosen and has room for the index."""
    if cuda_is_chosen():
        from largeea.search.cuda_sparse import CudaSparseSearch

        search = CudaSparseSearch(queries, index, budget)
        if search.fits():
            return search
        progress.note("the GPU has too little free memory for the index of names: the CPU searches them")
    return CompiledSearch(queries, index, budget)


def sparse_memory(entries: int, item_entries: int, queries: int, items: int, k: int, threads: int) -> int:
    """Bytes that `sparse_top_k` needs at its peak, the matrices included, which have so many `entries`.

    An entry takes 8 bytes, one of the items four times that at most; each thread has its working space.
    """
    answers = queries + threads * min(queries, ROWS_PER_JOB)
    return 8 * (entries + 3 * item_entries) + 8 * k * answers + 8 * threads * items
