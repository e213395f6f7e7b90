"""Inner-product search between sparse vectors, over an inverted index.

Ours, because a sparse matrix product walks every posting list in full: at a million names those of a few
common n-grams cost more than all others together. Here rare features propose items, and all features decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largeea.execution.jobs import row_blocks, run_jobs
from largeea.graph import Arrays, Float32, Int32
from largeea.search.sparse_kernels import Csr, search_rows

EXACT_UP_TO = 50_000
"""Items up to which every feature of a query may propose, which makes the search exact."""
POSTINGS_PER_QUERY = 20_000
"""Above that, features propose from rare to common until they have named this many items."""
ROWS_PER_JOB = 8192


def sparse_top_k(
    queries: sp.csr_array, items: sp.csr_array, k: int, *, stored: bool = False
) -> tuple[Int32, Float32]:
    """The k items with the highest inner product for each query, of those that share a feature with it.

    `(ids[n, k], scores[n, k])`, best first, ties by id, padded with -1 and 0. Exact up to `EXACT_UP_TO`
    items; above, one that shares only common features with a query may be missed. Weights are positive.
    A stage that searches once may have its jobs `stored`.
    """
    rows, vectors, postings = (_csr(matrix) for matrix in (queries, items, items.T))
    budget = np.iinfo(np.int64).max if items.shape[0] <= EXACT_UP_TO else POSTINGS_PER_QUERY
    ids = np.empty((queries.shape[0], k), np.int32)
    scores = np.empty((queries.shape[0], k), np.float32)
    blocks = row_blocks(queries.shape[0], most=ROWS_PER_JOB)
    for number, found in run_jobs(search_block, blocks, rows, vectors, postings, budget, k, stored=stored):
        first, last = blocks[number]
        ids[first:last], scores[first:last] = found["ids"], found["scores"]
    return ids, scores


def search_block(
    first: int, last: int, queries: Csr, items: Csr, postings: Csr, budget: int, k: int
) -> Arrays:
    """The answers to the queries `first:last`."""
    ids = np.full((last - first, k), -1, np.int32)
    scores = np.zeros((last - first, k), np.float32)
    partial = np.zeros(len(items.pointer) - 1, np.float32)
    touched = np.empty(len(partial), np.int32)
    asked = np.zeros(len(postings.pointer) - 1, np.float32)
    search_rows(first, last, queries, items, postings, budget, partial, touched, asked, ids, scores)
    return {"ids": ids, "scores": scores}


def sparse_memory(entries: int, item_entries: int, queries: int, items: int, k: int, threads: int) -> int:
    """Bytes that `sparse_top_k` needs at its peak, the matrices included, which have so many `entries`.

    An entry takes 8 bytes, one of the items twice that; each thread has its working space.
    """
    answers = queries + threads * min(queries, ROWS_PER_JOB)
    return 8 * (entries + item_entries) + 8 * k * answers + 8 * threads * items


def _csr(matrix: Any) -> Csr:
    """A matrix in the types that compiled code expects; nothing is copied where they are right already."""
    matrix = sp.csr_array(matrix)
    matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
    return Csr(
        matrix.indptr.astype(np.int64, copy=False),
        matrix.indices.astype(np.int32, copy=False),
        matrix.data.astype(np.float32, copy=False),
    )
