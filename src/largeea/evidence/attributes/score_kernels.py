"""Compiled loops that compare the properties of two entities, each by its best pair of values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from largeea.evidence.attributes.compare_kernels import (
    DIFFERENT,
    EQUAL,
    INCOMPARABLE,
    Steps,
    level_of,
    working_space,
)
from largeea.evidence.attributes.facts import Facts
from largeea.evidence.attributes.values import ValueTable
from largeea.graph import Bool, Float32, Float64, Int32, Int64, UInt64

MAX_WEIGHT = float(np.log(10_000))
"""No single property speaks for a pair with higher odds than these."""


class Partners(NamedTuple):
    """Pairs of properties that correspond, as CSR: the source property p has `pointers[p]:pointers[p + 1]`.

    partner: the target property of each pair, ascending for each source property.
    information: how telling the pair is, on average over anchors, in nats.
    weight: the log likelihood ratio of each level, `[pairs, LEVELS]`.
    kept, shared: how often a matching and a non-matching pair of entities have the same value for another
        reason than chance, `[pairs]`.
    having: how many entities of both graphs have the properties, `[pairs]`.
    """

    pointers: Int64
    partner: Int32
    information: Float64
    weight: Float64
    kept: Float64
    shared: Float64
    having: Float64


@njit(cache=True, nogil=True)
def group_levels(
    first: int, last: int, groups: Int64, others: Int64, source: Facts, target: Facts, values: ValueTable,
    levels: Steps,
) -> None:  # fmt: skip
    """Write the levels of the pairs `first:last` of groups of values."""
    places, steps = working_space(values)
    for pair in range(first, last):
        levels[pair], _, _ = _best_level(groups[pair], others[pair], source, target, values, places, steps)


@njit(cache=True, nogil=True)
def row_products(
    first: int, last: int, rows: Int32, others: Int32, pointers: Int64, columns: Int32, data: Float64,
    other_pointers: Int64, other_columns: Int32, other_data: Float64, products: Float64,
) -> None:  # fmt: skip
    """Write the inner products of the pairs `first:last` of rows of two CSR matrices with sorted columns."""
    for pair in range(first, last):
        i, end_i = pointers[rows[pair]], pointers[rows[pair] + 1]
        j, end_j = other_pointers[others[pair]], other_pointers[others[pair] + 1]
        total = 0.0
        while i < end_i and j < end_j:
            if columns[i] == other_columns[j]:
                total += data[i] * other_data[j]
                i, j = i + 1, j + 1
            elif columns[i] < other_columns[j]:
                i = _not_below(other_columns[j], columns, i, end_i)
            else:
                j = _not_below(columns[i], other_columns, j, end_j)
        products[pair] = total


@njit(cache=True, nogil=True)
def score_candidates(
    first: int, last: int, indptr: Int64, indices: Int32, source: Facts, target: Facts, values: ValueTable,
    partners: Partners, width: tuple[int, int], ratios: Float32, compared: Bool,
) -> None:  # fmt: skip
    """Write the log likelihood ratio of each candidate of the sources `first:last` to `ratios[entries]`.

    Each property of either entity is compared with the most telling partner that the other entity has. A
    pair of values that several properties have counts once. `width` is the highest number of properties of
    an entity on both sides. Candidates with nothing to compare stay unmarked in `compared`.
    """
    places, steps = working_space(values)
    best, best_other = np.empty(width[0], np.int64), np.full(width[1], -1, np.int64)
    at_other, at_group, met = (
        np.empty(width[0], np.int64), np.empty(width[1], np.int64), np.empty(width[1], np.int64)
    )  # fmt: skip
    used = np.empty((width[0] + width[1], 2), np.int64)
    weights = np.empty(width[0] + width[1], np.float64)
    for x in range(first, last):
        groups, end = source.pointers[x], source.pointers[x + 1]
        for entry in range(indptr[x], indptr[x + 1]):
            y = indices[entry]
            others, last_other = target.pointers[y], target.pointers[y + 1]
            best[: end - groups] = -1
            met_count = 0
            for group in range(groups, end):
                pair = partners.pointers[source.property[group]]
                last_pair = partners.pointers[source.property[group] + 1]
                other = others
                while pair < last_pair and other < last_other:
                    if partners.partner[pair] == target.property[other]:
                        here, there = group - groups, other - others
                        told = partners.information[pair]
                        if best[here] < 0 or told > partners.information[best[here]]:
                            best[here], at_other[here] = pair, other
                        if best_other[there] < 0:
                            met[met_count], met_count = there, met_count + 1
                        if best_other[there] < 0 or told > partners.information[best_other[there]]:
                            best_other[there], at_group[there] = pair, group
                        pair += 1
                        other += 1
                    elif partners.partner[pair] < target.property[other]:
                        pair = _not_below(target.property[other], partners.partner, pair, last_pair)
                    else:
                        other = _not_below(partners.partner[pair], target.property, other, last_other)
            met[:met_count].sort()
            count = 0
            for here in range(end - groups + met_count):
                if here < end - groups:
                    pair, group, other = best[here], groups + here, at_other[here]
                else:
                    there = met[here - (end - groups)]
                    pair, group, other = best_other[there], at_group[there], others + there
                    best_other[there] = -1
                    if best[group - groups] == pair:
                        continue
                if pair < 0:
                    continue
                level, fact, fact_other = _best_level(group, other, source, target, values, places, steps)
                if level == INCOMPARABLE:
                    continue
                having = source.frequency[fact] + target.frequency[fact_other]
                weight = _weight(pair, level, having / partners.having[pair], partners)
                count = _count_once(
                    source.value[fact], target.value[fact_other], weight, used, weights, count
                )
            compared[entry] = count > 0
            ratios[entry] = weights[:count].sum()


@njit(cache=True, nogil=True)
def _not_below(wanted: int, ascending: Int32, low: int, end: int) -> int:
    """The first place behind `low`, where an entry is below `wanted`, whose entry is not; `end` if none is.

    The steps double, so that a hub with many properties costs only the logarithm of their number.
    """
    step = 1
    while low + step < end and ascending[low + step] < wanted:
        low, step = low + step, 2 * step
    high = min(low + step, end)
    while high - low > 1:
        middle = (low + high) // 2
        if ascending[middle] < wanted:
            low = middle
        else:
            high = middle
    return high


@njit(cache=True, nogil=True)
def _weight(pair: int, level: int, frequency: float, partners: Partners) -> float:
    """The log likelihood ratio of a level; that of equal values is higher the rarer they are.

    Two matching entities have the same value v with probability `t f(v) + (1 - t) f(v)^2`: t is the share
    that kept the value, f its frequency. For non-matching ones t is the share of related entities.
    """
    kept, shared = partners.kept[pair], partners.shared[pair]
    if level != EQUAL or kept <= shared:
        return float(partners.weight[pair, level])
    ratio = (1 - kept + kept / frequency) / (1 - shared + shared / frequency)
    return float(min(max(np.log(ratio), partners.weight[pair, EQUAL + 1]), MAX_WEIGHT))


@njit(cache=True, nogil=True)
def _count_once(a: int, b: int, weight: float, used: Int64, weights: Float64, count: int) -> int:
    """Add the weight of a pair of values; if the pair is there already, the higher weight counts."""
    for at in range(count):
        if used[at, 0] == a and used[at, 1] == b:
            weights[at] = max(weights[at], weight)
            return count
    used[count, 0], used[count, 1], weights[count] = a, b, weight
    return count + 1


@njit(cache=True, nogil=True, inline="always")
def _best_level(
    group: int, other: int, source: Facts, target: Facts, values: ValueTable, places: UInt64, steps: Steps
) -> tuple[int, int, int]:
    """The level of the two values of two groups that agree best, and their facts; the rarest among equals."""
    best, fact, fact_other = DIFFERENT + 1, -1, -1
    for at in range(source.starts[group], source.starts[group + 1]):
        for there in range(target.starts[other], target.starts[other + 1]):
            level = level_of(source.value[at], target.value[there], values, places, steps)
            if level == INCOMPARABLE or level > best:
                continue
            rarer = level == best and (
                source.frequency[at] + target.frequency[there]
                < source.frequency[fact] + target.frequency[fact_other]
            )
            if level < best or rarer:
                best, fact, fact_other = level, at, there
    return (INCOMPARABLE if fact < 0 else best), fact, fact_other
