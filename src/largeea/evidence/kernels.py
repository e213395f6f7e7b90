"""The compiled loop of neighbour evidence. Those of label propagation are in `sketch_kernels.py`."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.prefetch import prefetch
from largeea.graph import Float32, Int8, Int32, Int64, UInt32
from largeea.similarity.kernels import keep_best_in_any_order

AHEAD = 16
"""Candidates between the one whose sum is asked for and the one that is added to."""
EDGES_AHEAD = 16
"""Edges of a source for which is asked ahead: few have more."""
STEPS = np.float64(1 << 20)
"""What a witness adds is a whole number of steps of `1 / STEPS`: float32 holds sums of up to 16 exactly, in
whatever order they are made, and what is above that is certain anyway."""


@njit(cache=True, nogil=True)
def busiest_neighbours(
    first: int, last: int, max_fan: int, pointers: Int64, neighbour: Int32, pointers_t: Int64, anchor: Int32,
    busiest: UInt32,
) -> None:  # fmt: skip
    """The neighbour of each source whose counterpart has the most edges, up to `max_fan`.

    It leads to most of the targets: sources that share it reach the same ones.
    """
    for x in range(first, last):
        most = -1
        busiest[x - first] = len(anchor)
        for edge in range(pointers[x], pointers[x + 1]):
            counterpart = anchor[neighbour[edge]]
            edges = pointers_t[counterpart + 1] - pointers_t[counterpart] if counterpart >= 0 else -1
            if most < edges <= max_fan:
                most, busiest[x - first] = edges, neighbour[edge]


@njit(cache=True, nogil=True)
def witnesses(
    first: int, order: Int32, max_fan: int, max_strength: float,
    pointers: Int64, relation: Int32, neighbour: Int32, inverse_functionality: Float32,
    pointers_t: Int64, relation_t: Int32, neighbour_t: Int32, fan_t: Int32, inverse_functionality_t: Float32,
    anchor: Int32, trust: Float32,
    agreed: Int64, agreed_with: Int32, agreement: Float32,
    ids: Int32, sums: Float32, kinds: Int8, kinds_t: Int8,
) -> None:  # fmt: skip
    """The k targets of each source with the highest sum of `-log(1 - witness)`; ties go to smaller ids.

    Sources are `first + order`. What is found for source x is written into `ids[x - first, k]` and
    `sums[x - first, k]`, in any order. A source has targets of its own kind only; entities of kind -1 take no
    part. Nodes behind the entities of `kinds_t` are literal values.
    """
    targets, one_kind = len(kinds_t), not kinds_t.any()
    total = np.zeros(targets, np.float32)
    reached = np.empty(targets + 1, np.int32)
    sums_of_reached, ranked = np.empty((2, 4 * ids.shape[1]), np.float32)
    for turn in range(len(order)):
        _look_ahead(
            first, order, turn, pointers, relation, neighbour, anchor, pointers_t, relation_t, neighbour_t,
            fan_t,
        )  # fmt: skip
        x, count = first + order[turn], 0
        if kinds[x] < 0 or (one_kind and kinds[x] > 0):
            continue
        for edge in range(pointers[x], pointers[x + 1]):
            y, r = neighbour[edge], relation[edge]
            counterpart = anchor[y]
            if counterpart < 0:
                continue
            agreeing = agreed_with[agreed[r] : agreed[r + 1]]
            other = pointers_t[counterpart]
            while other < pointers_t[counterpart + 1]:
                inverse, end = relation_t[other] ^ 1, other + fan_t[other]
                place = np.searchsorted(agreeing, inverse)
                gain = np.float32(0)
                if place < len(agreeing) and agreeing[place] == inverse and fan_t[other] <= max_fan:
                    functional = min(inverse_functionality[r], inverse_functionality_t[inverse])
                    strength = trust[y] * agreement[agreed[r] + place] * functional
                    failing = 1 - np.float64(min(strength, np.float32(max_strength)))
                    gain = np.float32(np.rint(-np.log(failing) * STEPS) / STEPS)
                if gain > 0:
                    for found in range(other, end):
                        prefetch(total, neighbour_t[min(found + AHEAD, end - 1)])
                        candidate = neighbour_t[found]
                        if candidate < targets and (one_kind or kinds_t[candidate] == kinds[x]):
                            sum_before = total[candidate]
                            reached[count] = candidate
                            count += sum_before == 0
                            total[candidate] = sum_before + gain
                other = end
        if count > len(ranked):
            sums_of_reached, ranked = np.empty((2, 2 * count), np.float32)
        for rank in range(count):
            sums_of_reached[rank], total[reached[rank]] = total[reached[rank]], 0
        keep_best_in_any_order(
            reached[:count], sums_of_reached[:count], ranked, ids[x - first], sums[x - first]
        )


@njit(cache=True, nogil=True, inline="always")
def _look_ahead(
    first: int, order: Int32, turn: int, pointers: Int64, relation: Int32, neighbour: Int32, anchor: Int32,
    pointers_t: Int64, relation_t: Int32, neighbour_t: Int32, fan_t: Int32,
) -> None:  # fmt: skip
    """Ask for what the next sources look up: each lookup needs what the one before it has found."""
    last = len(order) - 1
    prefetch(pointers, first + order[min(turn + 8, last)])
    row = first + order[min(turn + 6, last)]
    prefetch(relation, pointers[row])
    prefetch(neighbour, pointers[row])
    row = first + order[min(turn + 4, last)]
    for edge in range(pointers[row], min(pointers[row] + EDGES_AHEAD, pointers[row + 1])):
        prefetch(anchor, neighbour[edge])
    row = first + order[min(turn + 3, last)]
    for edge in range(pointers[row], min(pointers[row] + EDGES_AHEAD, pointers[row + 1])):
        prefetch(pointers_t, max(anchor[neighbour[edge]], 0))
    row = first + order[min(turn + 2, last)]
    for edge in range(pointers[row], min(pointers[row] + EDGES_AHEAD, pointers[row + 1])):
        start = pointers_t[max(anchor[neighbour[edge]], 0)]
        prefetch(relation_t, start)
        prefetch(neighbour_t, start)
        prefetch(fan_t, start)
