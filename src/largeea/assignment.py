"""Exact assignment: of all ways to pair sources and targets one-to-one, the one of highest total score."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from largeea.compiled import compiled
from largeea.graph import Float64, Int64, Links
from largeea.similarity import Similarity


def exact_one_to_one(similarity: Similarity) -> Links:
    """The one-to-one pairs of kept entries with the highest sum of scores, weighted by score.

    An entity may stay alone, which counts as the floor; but no kept entry has both of its ends left alone.
    Memory is linear in the entries, and the search for a pair sees only those who compete for it.
    Ours, as scipy's sparse matching wants everybody paired: with stand-ins it takes twice as long.
    """
    gains = similarity.scores.astype(np.float64) - similarity.floor
    targets = similarity.indices.astype(np.int64)
    partner = _best_partners(similarity.indptr, targets, gains, similarity.shape[1])
    paired = np.flatnonzero(partner >= 0)
    links = Links(np.column_stack([paired, partner[paired]]))
    return Links(links.pairs, similarity.score_of(links))


@compiled()
def _best_partners(pointers: Int64, targets: Int64, gains: Float64, target_count: int) -> Int64:
    """The target of each source, -1 where it stays alone, `[sources]`.

    Shortest augmenting paths (Jonker and Volgenant, 1987). Sources come one by one. A newcomer takes a free
    target, or drives out another source, which takes another target in turn or stays alone: whatever loses
    least on the whole. The `worth` of sources and the `price` of targets prove it (the dual problem): none is
    negative, `worth + price >= gain` with equality for pairs, and who is alone has 0.
    """
    sources = len(pointers) - 1
    partner, owner = np.full(sources, -1), np.full(target_count, -1)
    worth, price = np.zeros(sources), np.zeros(target_count)
    loss, wanted_by = np.full(target_count, np.inf), np.full(target_count, -1)
    for newcomer in range(sources):
        for entry in range(pointers[newcomer], pointers[newcomer + 1]):
            worth[newcomer] = max(worth[newcomer], gains[entry] - price[targets[entry]])
        free, alone, least, seen = _search(
            newcomer, pointers, targets, gains, worth, price, owner, loss, wanted_by
        )
        worth[newcomer] -= least
        for target in seen:
            rise = least - loss[target]
            if rise > 0:
                price[target] += rise
                worth[owner[target]] -= rise
            loss[target] = np.inf
        target = free
        if free < 0:
            target, partner[alone] = partner[alone], -1
        while target >= 0:
            source = owner[target] = wanted_by[target]
            target, partner[source] = partner[source], target
    return partner


@compiled()
def _search(
    newcomer: int,
    pointers: Int64,
    targets: Int64,
    gains: Float64,
    worth: Float64,
    price: Float64,
    owner: Int64,
    loss: Float64,
    wanted_by: Int64,
) -> tuple[int, int, float, list[int]]:
    """Dijkstra's search for a place for the newcomer: `(free target or -1, else who stays alone, at which
    loss, targets seen)`; `loss[seen]` is what is lost until a target is had, `wanted_by[seen]` by whom.

    Among equal losses a free target comes first: where many scores are equal, it saves most of the search.
    """
    queue = [(0.0, True, 0) for _ in range(0)]
    seen = [0 for _ in range(0)]
    source, so_far = newcomer, 0.0
    alone, least = newcomer, worth[newcomer]
    while True:
        if so_far + worth[source] < least:
            alone, least = source, so_far + worth[source]
        for entry in range(pointers[source], pointers[source + 1]):
            target = targets[entry]
            here = so_far + max(worth[source] + price[target] - gains[entry], 0.0)
            if here < loss[target] and here <= least:
                if loss[target] == np.inf:
                    seen.append(target)
                loss[target], wanted_by[target] = here, source
                heappush(queue, (here, owner[target] >= 0, target))
        while len(queue) and queue[0][0] > loss[queue[0][2]]:
            heappop(queue)
        if not len(queue) or queue[0][0] > least:
            return -1, alone, least, seen
        so_far, taken, target = heappop(queue)
        if not taken:
            return target, -1, so_far, seen
        source = owner[target]
