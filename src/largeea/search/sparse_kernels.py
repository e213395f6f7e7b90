"""The compiled part of the sparse search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from largeea.graph import Float32, Int32, Int64
from largeea.search.sorting import sort_range
from largeea.similarity.kernels import best_first

PROPOSED_PER_KEPT = 4
"""Items that are scored again with all features for each one kept, where only rare features proposed them."""


class Csr(NamedTuple):
    """A sparse matrix: row i has `columns[pointer[i]:pointer[i + 1]]`, ascending, and `weights` likewise."""

    pointer: Int64
    columns: Int32
    weights: Float32


@njit(cache=True, nogil=True)
def search_rows(
    first: int,
    last: int,
    queries: Csr,
    items: Csr,
    postings: Csr,
    budget: int,
    partial: Float32,
    touched: Int32,
    asked: Float32,
    ids: Int32,
    scores: Float32,
) -> None:
    """Write the best items of the queries `first:last` into `ids[last - first, k]` and `scores`.

    Features propose items from rare to common, until they have named `budget` items. If that leaves features
    out, the best of the proposed items are scored again with all features.

    Working space: `partial[items]` are the scores so far, `touched[items]` the items that have one, and
    `asked[features]` the weights of a query. `partial` and `asked` are 0 before and after.
    """
    query_pointer, query_features, query_weights = queries
    item_pointer, item_features, item_weights = items
    posting_pointer, posting_items, posting_weights = postings
    k = ids.shape[1]
    order, zero = np.empty(1024, np.uint64), np.int64(0)
    proposed = np.empty(PROPOSED_PER_KEPT * k, np.int64)
    chosen = np.empty(k, np.int64)
    for query in range(first, last):
        begin, end = query_pointer[query], query_pointer[query + 1]
        if end - begin > len(order):
            order = np.empty(2 * (end - begin), np.uint64)
        for at in range(begin, end):
            feature = query_features[at]
            length = posting_pointer[feature + 1] - posting_pointer[feature]
            order[at - begin] = (np.uint64(length) << np.uint64(32)) | np.uint64(at - begin)
        sort_range(order, zero, end - begin)
        found, walked, complete = zero, zero, True
        for rank in range(end - begin):
            length = np.int64(order[rank] >> np.uint64(32))
            if walked and walked + length > budget:
                complete = False
                break
            walked += length
            at = begin + np.int64(order[rank] & np.uint64(0xFFFFFFFF))
            start, weight = posting_pointer[query_features[at]], query_weights[at]
            for posting in range(start, start + length):
                item = posting_items[posting]
                if partial[item] == 0:
                    touched[found] = item
                    found += 1
                partial[item] += weight * posting_weights[posting]
        if not complete:
            count = best_first(partial, touched[:found], proposed)
            for at in range(found):
                partial[touched[at]] = 0
            for at in range(begin, end):
                asked[query_features[at]] = query_weights[at]
            for rank in range(count):
                item = proposed[rank]
                for at in range(item_pointer[item], item_pointer[item + 1]):
                    partial[item] += asked[item_features[at]] * item_weights[at]
                touched[rank] = item
            for at in range(begin, end):
                asked[query_features[at]] = 0
            found = count
        for rank in range(best_first(partial, touched[:found], chosen)):
            ids[query - first, rank] = chosen[rank]
            scores[query - first, rank] = partial[chosen[rank]]
        for at in range(found):
            partial[touched[at]] = 0
