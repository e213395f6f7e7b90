"""Average linkage: clusters are joined where their pairs are likely on average, not by a single likely pair.

Without it, one wrong pair would join all duplicates of two things.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Bool, Float32, Int32, Int64, Links


def joining_pairs(pairs: Links, confidence: Float32, threshold: float, size: int) -> Bool:
    """Return which pairs within one graph of `size` entities join entities of one cluster, `[n]`.

    `pairs` are all candidates, sorted, the smaller id first. From the most likely pair on, as far as the
    `threshold`, two clusters are joined if the mean confidence of all candidates between them reaches it.
    """
    order = np.lexsort((pairs.target, pairs.source, -confidence))
    order = order[confidence[order] >= threshold]
    starts = np.searchsorted(pairs.source, np.arange(size + 1)).astype(np.int64)
    ends = np.ascontiguousarray(pairs.source), np.ascontiguousarray(pairs.target)
    cluster = _join(order, starts, *ends, confidence, np.float32(threshold))
    return np.asarray((confidence >= threshold) & (cluster[ends[0]] == cluster[ends[1]]))


@njit(cache=True, nogil=True)
def _join(
    order: Int64, starts: Int64, source: Int32, target: Int32, confidence: Float32, threshold: np.float32
) -> Int64:
    """Return the cluster of each entity; `starts[e]` is the first pair of entity e."""
    size = len(starts) - 1
    cluster, last, following = np.arange(size), np.arange(size), np.full(size, -1)
    members = np.ones(size, np.int64)
    for pair in order:
        one, other = cluster[source[pair]], cluster[target[pair]]
        if one == other:
            continue
        if members[one] < members[other]:
            one, other = other, one
        total, count = 0.0, 0
        a = one
        while a >= 0:
            b = other
            while b >= 0:
                low, high = min(a, b), max(a, b)
                place = starts[low] + np.searchsorted(target[starts[low] : starts[low + 1]], high)
                if place < starts[low + 1] and target[place] == high:
                    total += confidence[place]
                    count += 1
                b = following[b]
            a = following[a]
        if total < threshold * count:
            continue
        following[last[one]], last[one] = other, last[other]
        members[one] += members[other]
        while other >= 0:
            cluster[other] = one
            other = following[other]
    return cluster
