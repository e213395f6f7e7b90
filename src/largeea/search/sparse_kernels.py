"""The compiled part of the sparse search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from largeea.graph import Float32, Int32, Int64
from largeea.search.sorting import sort_range
from largeea.search.sparse_index import Csr, SparseIndex
from largeea.similarity.kernels import best_first

PROPOSED_PER_KEPT = 4
"""Items that are scored again with all features for each one kept, where only rare features proposed them."""
BUCKETS = 512
"""Classes of scores by which the best of the proposed items are told apart."""


class Scratch(NamedTuple):
    """Working space of a job.

    partial: the scores so far, `[items]`, 0 between queries.
    touched: the items that have one, `[budget + 1]`.
    near: those of them whose scores are near the cut, `[budget]`.
    values: the scores of `touched`, `[budget]`.
    asked: the weights of a query's features by rank, `[features]`, 0 between queries.
    """

    partial: Float32
    touched: Int32
    near: Int32
    values: Float32
    asked: Float32

    @classmethod
    def of(cls, items: int, features: int, budget: int) -> Scratch:
        """Working space for an index of so many items and features."""
        return cls(
            np.zeros(items, np.float32),
            np.empty(budget + 1, np.int32),
            np.empty(budget, np.int32),
            np.empty(budget, np.float32),
            np.zeros(features, np.float32),
        )


@njit(cache=True, nogil=True)
def search_rows(
    asking: Int32, queries: Csr, index: SparseIndex, scratch: Scratch, ids: Int32, scores: Float32
) -> None:
    """Write the best items of some queries, `asking`, into `ids[len(asking), k]` and `scores`.

    Features propose items from rare to common, until they have named `len(scratch.near)` items. If that
    leaves features out, the best of the proposed items are scored again with these too.
    """
    rank, items, postings = index
    partial, touched, near, values, asked = scratch
    k, budget = ids.shape[1], len(near)
    order, zero = np.empty(1024, np.uint64), np.int64(0)
    chosen, proposed = np.empty(k, np.int32), np.empty(PROPOSED_PER_KEPT * k, np.int32)
    saved, ends = np.empty(len(proposed), np.float32), np.empty(len(proposed), np.int64)
    sizes = np.empty(BUCKETS, np.int64)
    for row in range(len(asking)):
        query = asking[row]
        begin = queries.pointer[query]
        size = queries.pointer[query + 1] - begin
        if size > len(order):
            order = np.empty(2 * size, np.uint64)
        for at in range(size):
            order[at] = (np.uint64(rank[queries.columns[begin + at]]) << np.uint64(32)) | np.uint64(at)
        sort_range(order, zero, size)
        found, walked, next_feature = zero, zero, zero
        while next_feature < size:
            feature = np.int64(order[next_feature] >> np.uint64(32))
            start, end = postings.pointer[feature], postings.pointer[feature + 1]
            if walked + end - start > budget:
                break
            walked += end - start
            weight = queries.weights[begin + np.int64(order[next_feature] & np.uint64(0xFFFFFFFF))]
            for posting in range(start, end):
                item = postings.columns[posting]
                score = partial[item]
                touched[found] = item
                found += score == 0
                partial[item] = score + weight * postings.weights[posting]
            next_feature += 1
        if next_feature < size:
            count = _choose_best(partial, touched[:found], near, values, sizes, proposed)
            for place in range(count):
                saved[place] = partial[proposed[place]]
            for at in range(found):
                partial[touched[at]] = 0
            found = count
            first_left = np.int64(order[next_feature] >> np.uint64(32))
            for place in range(next_feature, size):
                at = begin + np.int64(order[place] & np.uint64(0xFFFFFFFF))
                asked[np.int64(order[place] >> np.uint64(32))] = queries.weights[at]
            for place in range(found):
                ends[place] = items.pointer[proposed[place] + 1] - 1
            for place in range(found):
                at = ends[place]
                saved[place] += asked[items.columns[at]] * items.weights[at]
            for place in range(found):
                item, score, at = proposed[place], saved[place], ends[place] - 1
                start = items.pointer[item]
                while at >= start and items.columns[at] >= first_left:
                    score += asked[items.columns[at]] * items.weights[at]
                    at -= 1
                touched[place], partial[item] = item, score
            for place in range(next_feature, size):
                asked[np.int64(order[place] >> np.uint64(32))] = 0
        for place in range(best_first(partial, touched[:found], chosen)):
            ids[row, place] = chosen[place]
            scores[row, place] = partial[chosen[place]]
        for at in range(found):
            partial[touched[at]] = 0


@njit(cache=True, nogil=True)
def _choose_best(
    scores: Float32, candidates: Int32, near: Int32, values: Float32, sizes: Int64, chosen: Int32
) -> int:
    """Write the best of the candidates to `chosen`, up to its length, in any order; say how many.

    Ties go to smaller ids. `near[candidates]`, `values[candidates]` and `sizes[BUCKETS]` are working space.
    """
    count = len(candidates)
    if count <= len(chosen):
        chosen[:count] = candidates
        return count
    highest = np.float32(0)
    for at in range(count):
        values[at] = scores[candidates[at]]
        highest = max(highest, values[at])
    scale = np.float32(BUCKETS - 1) / highest
    sizes[:] = 0
    for at in range(count):
        sizes[int(values[at] * scale)] += 1
    cut, above = BUCKETS - 1, 0
    while above + sizes[cut] < len(chosen):
        above += sizes[cut]
        cut -= 1
    kept, at_cut = 0, 0
    for at in range(count):
        bucket = int(values[at] * scale)
        if bucket >= cut:
            if bucket > cut:
                chosen[kept] = candidates[at]
                kept += 1
            else:
                near[at_cut] = candidates[at]
                at_cut += 1
    best_first(scores, near[:at_cut], chosen[kept:])
    return len(chosen)
