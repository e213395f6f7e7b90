"""The compiled loop of neighbour evidence. Those of label propagation are in `sketch_kernels.py`."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.prefetch import prefetch
from largeea.graph import Float32, Int8, Int32, Int64
from largeea.similarity.kernels import keep_best_in_any_order

AHEAD = 16
"""Candidates between the one whose sum is asked for and the one that is added to."""


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
    reached = np.empty(targets, np.int32)
    same = np.zeros(len(inverse_functionality_t), np.float32)
    sums_of_reached, ranked = np.empty((2, 4 * ids.shape[1]), np.float64)
    for x in range(first, last):
        count = 0
        if kinds[x] < 0:
            continue
        for edge in range(pointers[x], pointers[x + 1]):
            y, r = neighbour[edge], relation[edge]
            counterpart = anchor[y]
            if counterpart < 0:
                continue
            for i in range(agreed[r], agreed[r + 1]):
                same[agreed_with[i]] = agreement[i]
            other = pointers_t[counterpart]
            while other < pointers_t[counterpart + 1]:
                inverse = relation_t[other] ^ 1
                strength = (
                    trust[y] * same[inverse] * min(inverse_functionality[r], inverse_functionality_t[inverse])
                )
                end = other + fan_t[other]
                if strength > 0 and fan_t[other] <= max_fan:
                    gain = np.float32(-np.log(1 - min(strength, np.float32(max_strength))))
                    for found in range(other, end):
                        prefetch(total, neighbour_t[min(found + AHEAD, end - 1)])
                        candidate = neighbour_t[found]
                        if candidate < targets and kinds_t[candidate] == kinds[x]:
                            if total[candidate] == 0:
                                reached[count] = candidate
                                count += 1
                            total[candidate] += gain
                other = end
            for i in range(agreed[r], agreed[r + 1]):
                same[agreed_with[i]] = 0
        if count > len(ranked):
            sums_of_reached, ranked = np.empty((2, 2 * count), np.float64)
        for place in range(count):
            sums_of_reached[place], total[reached[place]] = total[reached[place]], 0
        keep_best_in_any_order(
            reached[:count], sums_of_reached[:count], ranked, ids[x - first], sums[x - first]
        )
