"""Inner-product search between sparse vectors, over an inverted index.

Ours, because a sparse matrix product walks every posting list in full: at a million names those of a few
common n-grams cost more than all others together. Here rare features propose items, and all features decide.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from largeea.compiled import compiled, thread_count
from largeea.graph import Float32, Int32, Int64
from largeea.progress import track
from largeea.sparse import sp

EXACT_UP_TO = 50_000
"""Items up to which every feature of a query may propose, which makes the search exact."""
POSTINGS_PER_QUERY = 20_000
"""Above that, features propose from rare to common until they have named this many items."""
_PROPOSED_PER_KEPT = 4
_BINS = 1024
_CHUNK = 2048


def sparse_top_k(queries: sp.csr_array, items: sp.csr_array, k: int) -> tuple[Int32, Float32]:
    """The k items with the highest inner product for each query, of those that share a feature with it.

    `(ids[n, k], scores[n, k])`, best first, ties by id, padded with -1 and 0. Exact up to `EXACT_UP_TO`
    items; above, one that shares only common features with a query may be missed. Weights are positive.
    """
    rows, vectors, postings = (_csr(matrix) for matrix in (queries, items, items.T))
    budget = np.iinfo(np.int64).max if items.shape[0] <= EXACT_UP_TO else POSTINGS_PER_QUERY
    ids = np.full((queries.shape[0], k), -1, np.int32)
    scores = np.zeros((queries.shape[0], k), np.float32)
    starts = range(0, queries.shape[0], _CHUNK)

    def answer(start: int) -> None:
        _search(*rows, *vectors, *postings, budget, start, ids, scores)

    with ThreadPoolExecutor(thread_count()) as pool:
        for _ in track(pool.map(answer, starts), len(starts)):
            pass
    return ids, scores


def _csr(matrix: Any) -> tuple[Int64, Int32, Float32]:
    matrix = sp.csr_array(matrix)
    matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.astype(np.float32)


@compiled(nogil=True)
def _search(
    query_rows: Int64,
    query_features: Int32,
    query_weights: Float32,
    item_rows: Int64,
    item_features: Int32,
    item_weights: Float32,
    posting_rows: Int64,
    posting_items: Int32,
    posting_weights: Float32,
    budget: int,
    start: int,
    ids: Int32,
    scores: Float32,
) -> None:
    """Answer the queries of one chunk."""
    k = ids.shape[1]
    items = len(item_rows) - 1
    partial = np.zeros(items, np.float32)
    touched = np.empty(items, np.int32)
    for query in range(start, min(start + _CHUNK, len(query_rows) - 1)):
        first, last = query_rows[query], query_rows[query + 1]
        features, weights = query_features[first:last], query_weights[first:last]
        lengths = posting_rows[features + 1] - posting_rows[features]
        found, walked, complete = 0, 0, True
        for f in np.argsort(lengths, kind="mergesort"):
            if walked and walked + lengths[f] > budget:
                complete = False
                break
            walked += lengths[f]
            begin = posting_rows[features[f]]
            for posting in range(begin, begin + lengths[f]):
                item = posting_items[posting]
                if partial[item] == 0:
                    touched[found] = item
                    found += 1
                partial[item] += weights[f] * posting_weights[posting]
        proposed = _best(partial, touched[:found], k if complete else _PROPOSED_PER_KEPT * k)
        exact = partial[proposed]
        partial[touched[:found]] = 0
        if not complete:
            for i in range(len(proposed)):
                begin, stop = item_rows[proposed[i]], item_rows[proposed[i] + 1]
                exact[i] = _inner(features, weights, item_features[begin:stop], item_weights[begin:stop])
        order = np.argsort(-exact, kind="mergesort")[:k]
        for rank in range(len(order)):
            ids[query, rank] = proposed[order[rank]]
            scores[query, rank] = exact[order[rank]]


@compiled(nogil=True)
def _best(values: Float32, candidates: Int32, count: int) -> Int32:
    """The `count` candidates with the highest values, in ascending order; ties go to the smaller id.

    Values are counted into bins first, so that only those near the top are ever sorted.
    """
    if len(candidates) <= count:
        return np.sort(candidates)
    highest = np.float32(0)
    for candidate in candidates:
        highest = max(highest, values[candidate])
    scale = np.float32(_BINS - 1) / highest
    bins = np.zeros(_BINS, np.int64)
    for candidate in candidates:
        bins[int(values[candidate] * scale)] += 1
    bar, reached = _BINS, 0
    while reached < count:
        bar -= 1
        reached += bins[bar]
    near = np.empty(reached, np.int32)
    found = 0
    for candidate in candidates:
        if int(values[candidate] * scale) >= bar:
            near[found] = candidate
            found += 1
    near = np.sort(near)
    return np.sort(near[np.argsort(-values[near], kind="mergesort")[:count]])


@compiled(nogil=True)
def _inner(left: Int32, left_weights: Float32, right: Int32, right_weights: Float32) -> np.float32:
    total = np.float32(0)
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] == right[j]:
            total += left_weights[i] * right_weights[j]
            i += 1
            j += 1
        elif left[i] < right[j]:
            i += 1
        else:
            j += 1
    return total
