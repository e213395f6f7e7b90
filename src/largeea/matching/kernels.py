"""Compiled loops for Sinkhorn iterations and exact assignment."""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numba import njit

from largeea.graph import Bool, Float32, Float64, Int32, Int64

LOWEST_LOG_ODDS = np.float32(-80)
"""Lower logarithms count as this one: float32 holds its exponential."""


@njit(cache=True, nogil=True)
def row_odds(
    first: int, last: int, pointers: Int64, scores: Float32, temperature: np.float32,
    no_match_score: np.float32, weights: Float32, bins: Float32,
) -> None:  # fmt: skip
    """Write the odds `exp((score - no_match_score) / temperature)` of the rows `first:last` to
    `weights[entries]`, and those of their bins, which are 1, to `bins[rows]`; each row divided by its
    highest."""
    for row in range(first, last):
        highest = np.float32(0)
        for entry in range(pointers[row], pointers[row + 1]):
            weights[entry] = (scores[entry] - no_match_score) / temperature
            highest = max(highest, weights[entry])
        for entry in range(pointers[row], pointers[row + 1]):
            weights[entry] = np.exp(max(weights[entry] - highest, LOWEST_LOG_ODDS))
        bins[row] = np.exp(max(-highest, LOWEST_LOG_ODDS))


@njit(cache=True, nogil=True, fastmath={"contract"})
def normalise_rows(
    first: int, last: int, pointers: Int64, others: Int32, weights: Float32, bins: Float32, fixed: Float32,
    scale: Float32,
) -> None:  # fmt: skip
    """Set `scale[row] = 1 / (bin + sum of weights * fixed[other])` for the rows `first:last`.

    Four sums of every fourth entry take half the time of one, whose additions wait for each other.
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    for row in range(first, last):
        entry, end = np.uint64(pointers[row]), np.uint64(pointers[row + 1])
        a, b, c, d = bins[row], np.float32(0), np.float32(0), np.float32(0)
        while entry + four <= end:
            a += weights[entry] * fixed[np.uint32(others[entry])]
            b += weights[entry + one] * fixed[np.uint32(others[entry + one])]
            c += weights[entry + two] * fixed[np.uint32(others[entry + two])]
            d += weights[entry + three] * fixed[np.uint32(others[entry + three])]
            entry += four
        while entry < end:
            a += weights[entry] * fixed[np.uint32(others[entry])]
            entry += one
        scale[row] = np.float32(1) / ((a + b) + (c + d))


@njit(cache=True, nogil=True)
def row_probabilities(
    first: int, last: int, pointers: Int64, targets: Int32, weights: Float32, source: Float32,
    target: Float32, probabilities: Float32,
) -> None:  # fmt: skip
    """Write `source[row] * weight * target[column]` of each entry in the rows `first:last`, not above 1."""
    for row in range(first, last):
        for entry in range(pointers[row], pointers[row + 1]):
            product = source[row] * weights[entry] * target[targets[entry]]
            probabilities[entry] = min(product, np.float32(1))


@njit(cache=True, nogil=True)
def greedy_entries(pointers: Int64, targets: Int32, scores: Float32, target_count: int) -> Int64:
    """Return the entry of each source that is taken if pairs are taken by score, ties by id; -1 for none.

    Sources propose to their best target, and targets keep their best proposal (Gale and Shapley, 1962).
    Where both sides rank pairs alike, the stable matching is the greedy one, and nothing has to be sorted.
    """
    taken = np.full(len(pointers) - 1, -1)
    kept, owner = np.full(target_count, -1), np.full(target_count, -1)
    for newcomer in range(len(taken)):
        source = newcomer
        while source >= 0:
            best = -1
            for entry in range(pointers[source], pointers[source + 1]):
                if best < 0 or scores[entry] > scores[best]:
                    other = kept[targets[entry]]
                    is_tie = other >= 0 and scores[entry] == scores[other]
                    if other < 0 or scores[entry] > scores[other] or (is_tie and entry < other):
                        best = entry
            taken[source] = best
            if best < 0:
                break
            target = targets[best]
            kept[target], source, owner[target] = best, owner[target], source
    return taken


@njit(cache=True, nogil=True)
def best_partners(pointers: Int64, targets: Int64, gains: Float64, target_count: int) -> Int64:
    """Return the target of each source in the optimal assignment, `[sources]`; -1 if unmatched.

    Shortest augmenting paths (Jonker and Volgenant, 1987). Sources are added one by one. A new source takes a
    free target or displaces another source, which takes another target in turn or stays unmatched; the path
    with the smallest total loss is chosen. `worth` of sources and `price` of targets are the dual variables:
    they are not negative, `worth + price >= gain` with equality for pairs, and 0 for unmatched entities.
    """
    sources = len(pointers) - 1
    partner, owner = np.full(sources, -1), np.full(target_count, -1)
    worth, price = np.zeros(sources), np.zeros(target_count)
    loss, wanted_by = np.full(target_count, np.inf), np.full(target_count, -1)
    for newcomer in range(sources):
        for entry in range(pointers[newcomer], pointers[newcomer + 1]):
            worth[newcomer] = max(worth[newcomer], gains[entry] - price[targets[entry]])
        free, alone, least, seen = search_place(
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


@njit(cache=True, nogil=True)
def search_place(
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
    """Find the shortest augmenting path of a new source with Dijkstra's algorithm.

    Returns `(free target or -1, source that stays unmatched or -1, loss of the path, targets seen)`.
    Writes the loss of the path to each target to `loss[seen]`, and the source before it to `wanted_by[seen]`.
    Among equal losses, free targets come first: this saves most of the search if many scores are equal.
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


@njit(cache=True, nogil=True)
def mark_sharing(
    first: int, last: int, pointers: Int64, targets: Int32, blocks_at: Int64, blocks: Int32,
    blocks_at_t: Int64, blocks_t: Int32, kept: Bool,
) -> None:  # fmt: skip
    """Set `kept[entry]` to False for entries in the rows `first:last` whose ends have blocks, but none in
    common. Blocks ascend within an entity."""
    for row in range(first, last):
        start, end = blocks_at[row], blocks_at[row + 1]
        if start == end:
            continue
        for entry in range(pointers[row], pointers[row + 1]):
            ours, theirs = start, blocks_at_t[targets[entry]]
            end_t = blocks_at_t[targets[entry] + 1]
            shared = theirs == end_t
            while not shared and ours < end and theirs < end_t:
                if blocks[ours] == blocks_t[theirs]:
                    shared = True
                elif blocks[ours] < blocks_t[theirs]:
                    ours += 1
                else:
                    theirs += 1
            if not shared:
                kept[entry] = False
