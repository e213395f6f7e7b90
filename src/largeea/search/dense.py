"""Nearest neighbours among dense vectors: one signature, chosen by name.

- `exact`: every query against every item, on a GPU where one is chosen (`cuda.py`), else on the CPU
- `approximate`: on the CPU, an inverted file: only the cells nearest to a query are searched
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from largeea.errors import UsageError
from largeea.execution.devices import cuda_is_chosen
from largeea.execution.jobs import row_blocks, run_jobs
from largeea.execution.shards import Shards
from largeea.graph import Arrays, Float32, Int32
from largeea.search.manhattan import candidate_count
from largeea.search.repeats import first_of_each, numbered

APPROXIMATE_FROM = 1e9
"""Query-item pairs from which an approximate search on a CPU is several times as fast as an exact one."""
QUERIES_AT_ONCE = 1024
"""Queries of one matrix product. Its rounding depends on its shape, so block bounds are multiples of this."""
METRICS = ("cosine", "manhattan")


class DenseSearch(Protocol):
    """Items, ready to be searched."""

    at_once: int | None
    """Blocks of queries that are answered at a time; None: one a thread."""

    def nearest(self, queries: Float32, k: int, metric: str) -> tuple[Int32, Float32]:
        """`(ids[n, k], scores[n, k])` as `dense_top_k` promises, for at most `QUERIES_AT_ONCE` queries."""


def _exact(items: Float32) -> DenseSearch:
    if cuda_is_chosen():
        from largeea.search.cuda import CudaSearch

        return CudaSearch(items)
    from largeea.search.exact import ExactSearch

    return ExactSearch(items)


def _approximate(items: Float32) -> DenseSearch:
    from largeea.search.approximate import ApproximateSearch

    return ApproximateSearch(items)


SEARCHES: dict[str, Callable[[Float32], DenseSearch]] = {"exact": _exact, "approximate": _approximate}


def dense_top_k(
    queries: Float32,
    items: Float32,
    k: int,
    *,
    metric: str = "cosine",
    search: str = "auto",
    stored: bool = False,
) -> tuple[Int32, Float32]:
    """The k most similar items of each query; both sides have rows of length 1 (or 0: never found).

    `(ids[n, k], scores[n, k])`, best first, ties by id, padded with -1 and 0. The score is the cosine, or for
    "manhattan" `1 - distance / (2 sqrt(d))`, which is in [0, 1] too. Manhattan distances are computed for the
    `candidate_count` nearest by cosine only. A stage that searches once may have its jobs `stored`.

    Where half of the queries or items of an approximate search repeat others, each vector is searched once.
    """
    if metric not in METRICS:
        raise UsageError(f"metric {metric!r} is none of {', '.join(METRICS)}")
    if search != "auto" and search not in SEARCHES:
        raise UsageError(f"search {search!r} is none of auto, {', '.join(SEARCHES)}")
    ids, scores = np.full((len(queries), k), -1, np.int32), np.zeros((len(queries), k), np.float32)
    if not len(queries) or not len(items):
        return ids, scores
    chosen = chosen_search(len(queries), len(items)) if search == "auto" else search
    if chosen == "approximate":
        distinct, answer = numbered(queries)
        kept = first_of_each(numbered(items)[1], k)
        if 2 * len(distinct) <= len(queries) or 2 * len(kept) <= len(items):
            fewer = queries[distinct], items[kept]
            places, scores = dense_top_k(*fewer, k, metric=metric, search=search, stored=stored)
            return np.append(kept, -1).astype(np.int32)[places[answer]], scores[answer]
    blocks = row_blocks(len(queries), multiple_of=QUERIES_AT_ONCE)
    index = SEARCHES[chosen](items)
    asked = Shards(tuple(queries[first:last] for first, last in blocks))
    shared = asked, index, k, metric
    for number, found in run_jobs(nearest_block, blocks, *shared, at_once=index.at_once, stored=stored):
        first, last = blocks[number]
        ids[first:last], scores[first:last] = found["ids"], found["scores"]
    return ids, scores


def chosen_search(queries: int, items: int) -> str:
    """What "auto" stands for: exact, but approximate for many vectors on a CPU."""
    return "exact" if cuda_is_chosen() or queries * items < APPROXIMATE_FROM else "approximate"


def dense_memory(
    queries: int, items: int, dimension: int, k: int, metric: str, search: str, threads: int
) -> int:
    """Bytes that `dense_top_k` needs at its peak on the CPU, beside the vectors.

    The answers, the scores and candidates of one chunk a thread, and for an approximate search its index.
    """
    chosen = chosen_search(queries, items) if search == "auto" else search
    candidates = min(candidate_count(k, metric), items)
    scores = 4096 if chosen == "exact" else 0
    index = 0
    if chosen == "approximate":
        from largeea.search.approximate import index_memory

        index = index_memory(items, dimension)
    return 8 * queries * k + threads * min(queries, QUERIES_AT_ONCE) * (scores + 40 * candidates) + index


def nearest_block(first: int, last: int, queries: Float32, index: DenseSearch, k: int, metric: str) -> Arrays:
    """The answers to the queries `first:last`, which are given."""
    starts = range(0, last - first, QUERIES_AT_ONCE)
    parts = [index.nearest(queries[at : at + QUERIES_AT_ONCE], k, metric) for at in starts]
    return {
        "ids": np.concatenate([ids for ids, _ in parts]),
        "scores": np.concatenate([scores for _, scores in parts]),
    }
