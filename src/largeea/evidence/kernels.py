"""The compiled loop of neighbour evidence. Those of label propagation are in `sketch_kernels.py`."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.prefetch import prefetch
from largeea.graph import Float32, Int8, Int32, Int64
from largeea.similarity.kernels import keep_best_in_any_order

AHEAD = 16
"""Candidates between the one whose sum is asked for and the one that is added to."""
STEP = 8
"""Edges ahead for which each of three lookups is asked for: the anchor, its place, the edges there."""


@njit(cache=True, nogil=True)
def witnesses(
    first: int, last: int, max_fan: int, max_strength: float,
    pointers: Int64, relation: Int32, neighbour: Int32, inverse_functionality: Float32,
    pointers_t: Int64, relation_t: Int32, neighbour_t: Int32, fan_t: Int32, inverse_functionality_t: Float32,
    anchor: Int32, trust: Float32,
    agreed: Int64, agreed_with: Int32, agreement: Float32,
    ids: Int32, sums: Float32, kinds: Int8, kinds_t: Int8,
) -> None:  # fmt: skip
    """The k targets of each source with the highest sum of `-log(1 - witness)`; ties go to smaller ids.

    They are written into `ids[last - first, k]` and `sums[last - first, k]`, in any order. A source has
    targets of its own kind only; entities of kind -1 take no part. Nodes behind the entities of `kinds_t` are
    literal values.
    """
    targets = len(kinds_t)
    total = np.zeros(targets, np.float64)  # sums of float32 that hardly depend on their order
    reached = np.empty(targets + 1, np.int32)
    sums_of_reached, ranked = np.empty((2, 4 * ids.shape[1]), np.float64)
    last_edge = pointers[last] - 1
    for x in range(first, last):
        count = 0
        if kinds[x] < 0:
            continue
        for edge in range(pointers[x], pointers[x + 1]):
            prefetch(anchor, neighbour[min(edge + 3 * STEP, last_edge)])
            prefetch(pointers_t, max(anchor[neighbour[min(edge + 2 * STEP, last_edge)]], 0))
            soon = pointers_t[max(anchor[neighbour[min(edge + STEP, last_edge)]], 0)]
            prefetch(relation_t, soon)
            prefetch(neighbour_t, soon)
            prefetch(fan_t, soon)
            y, r = neighbour[edge], relation[edge]
            counterpart = anchor[y]
            if counterpart < 0:
                continue
            agreeing = agreed_with[agreed[r] : agreed[r + 1]]
            other = pointers_t[counterpart]
            while other < pointers_t[counterpart + 1]:
                inverse, end = relation_t[other] ^ 1, other + fan_t[other]
                place = np.searchsorted(agreeing, inverse)
                strength = np.float32(0)
                if place < len(agreeing) and agreeing[place] == inverse:
                    functional = min(inverse_functionality[r], inverse_functionality_t[inverse])
                    strength = trust[y] * agreement[agreed[r] + place] * functional
                gain = np.float32(-np.log(1 - min(strength, np.float32(max_strength))))
                if gain > 0 and fan_t[other] <= max_fan:
                    for found in range(other, end):
                        prefetch(total, neighbour_t[min(found + AHEAD, end - 1)])
                        candidate = neighbour_t[found]
                        if candidate < targets and kinds_t[candidate] == kinds[x]:
                            sum_before = total[candidate]
                            reached[count] = candidate
                            count += sum_before == 0
                            total[candidate] = sum_before + gain
                other = end
        if count > len(ranked):
            sums_of_reached, ranked = np.empty((2, 2 * count), np.float64)
        for place in range(count):
            sums_of_reached[place], total[reached[place]] = total[reached[place]], 0
        keep_best_in_any_order(
            reached[:count], sums_of_reached[:count], ranked, ids[x - first], sums[x - first]
        )
