"""Which properties of two graphs correspond and how telling each is, learnt from anchors.

Fellegi and Sunter's record linkage: `m` is how often a level of agreement occurs among matching pairs, `u`
how often among others, and `log(m / u)` what it weighs.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from largeea.evidence.attributes.compare_kernels import EQUAL, INCOMPARABLE, LEVELS
from largeea.evidence.attributes.facts import Facts
from largeea.evidence.attributes.score_kernels import Partners, group_levels, row_products
from largeea.evidence.attributes.values import Values
from largeea.execution.jobs import over_rows
from largeea.graph import Float64, Int32, Int64, Links
from largeea.graph.ranges import expand_ranges
from largeea.similarity import Similarity

MAX_ANCHORS = 20_000
"""Anchors that are compared in every property; of more, a sample is."""
MAX_COMPARED = 1 << 23
"""Pairs of properties that are compared in all anchors, or in all rivals; of more, those of a sample are."""
COMPARED_AT_ONCE = 1 << 20
RIVALS = 2
"""Other candidates of either end of an anchor that are compared, best first."""
RANDOM_PAIRS = 256
"""Random pairs of entities by which chance agreement is measured, for each pair of properties."""
PAIRS_AT_ONCE = 4096
MAX_PAIRS = 100_000
"""Pairs of properties that are learnt: those that most anchors have."""
MAX_PROPERTY_PAIRS = 1 << 14
"""Pairs of properties of two entities that are compared: a hub with more would cost the square of them."""
MIN_ANCHORS = 2.0
SMOOTHING = 5.0
"""Anchors that every pair of properties is taken to have had before, at which it told nothing."""
MIN_EVIDENCE = 10.0
"""Nats by which all anchors together must speak for a correspondence (half of a G-test's statistic)."""
MIN_INFORMATION = 0.02
"""Nats that a correspondence tells about an anchor on average."""


def learn_partners(
    values: Values, anchors: Links, candidates: Similarity, seed: int, within: bool = False
) -> Partners:
    """The pairs of properties whose agreement distinguishes anchors from other pairs."""
    random = np.random.default_rng(seed)
    if len(anchors) > MAX_ANCHORS:
        anchors = anchors.take(np.sort(random.choice(len(anchors), MAX_ANCHORS, replace=False)))
    left, right, matching = _levels_of_anchors(values, _affordable(values, anchors, random))
    by_chance, sampled = _levels_by_chance(values, left, right, random)
    rivals_compared = _affordable(values, _rivals(anchors, candidates, within), random)
    among_rivals = _levels_of_rivals(values, left, right, rivals_compared)
    rivals = among_rivals.sum(axis=1, keepdims=True)
    u = (by_chance + (SMOOTHING * by_chance + among_rivals) / (SMOOTHING + rivals)) / 2
    seen = matching.sum(axis=1, keepdims=True)
    m = (matching + SMOOTHING * u) / (seen + SMOOTHING)
    weight = _falling_ratios(m, u)
    information = (m * weight).sum(axis=1)
    others = sampled + rivals[:, 0]
    evidence = information * seen[:, 0] * others / np.maximum(seen[:, 0] + others, 1)
    kept = (evidence >= MIN_EVIDENCE) & (information >= MIN_INFORMATION)
    left, right, chance = left[kept], right[kept], by_chance[kept, EQUAL]
    return Partners(
        np.searchsorted(left, np.arange(_property_count(values.source) + 1)).astype(np.int64),
        right,
        information[kept],
        weight[kept],
        _beyond_chance(m[kept, EQUAL], chance),
        _beyond_chance(u[kept, EQUAL], chance),
        (_having(values.source)[left] + _having(values.target)[right]).astype(np.float64),
    )


def _levels_of_anchors(values: Values, anchors: Links) -> tuple[Int32, Int32, Float64]:
    """The pairs of properties that anchors have, and the weight of the anchors at each level.

    `(source property[pairs], target property[pairs], weights[pairs, LEVELS])`, ascending by properties.
    """
    weight = np.ones(len(anchors)) if anchors.weight is None else anchors.weight.astype(np.float64)
    keys, sums = np.empty(0, np.int64), np.empty(0, np.float64)
    for first, last in _blocks(values, anchors):
        block = anchors.take(np.arange(first, last))
        anchor, groups, others = _group_pairs(values, block)
        levels = _levels(values, groups, others)
        told = levels != INCOMPARABLE
        key = _property_pairs(values, groups[told], others[told]) * LEVELS + levels[told]
        keys, place = np.unique(np.concatenate([keys, key]), return_inverse=True)
        told_by = np.concatenate([sums, weight[first:][anchor[told]]])
        sums = np.bincount(place, told_by, minlength=len(keys)).astype(np.float64)
    pairs, place = np.unique(keys // LEVELS, return_inverse=True)
    total = np.bincount(place, sums)
    often = np.flatnonzero(total >= MIN_ANCHORS)
    kept = np.sort(often[np.lexsort((pairs[often], -total[often]))[:MAX_PAIRS]])
    row = np.full(len(pairs), -1)
    row[kept] = np.arange(len(kept))
    is_kept = row[place] >= 0
    counts = np.zeros((len(kept), LEVELS))
    counts[row[place[is_kept]], keys[is_kept] % LEVELS] = sums[is_kept]
    left, right = np.divmod(pairs[kept], max(_property_count(values.target), 1))
    return left.astype(np.int32), right.astype(np.int32), counts


def _levels_of_rivals(values: Values, left: Int32, right: Int32, rivals: Links) -> Float64:
    """How often rivals agree at each level, for given pairs of properties, `[pairs, LEVELS]`."""
    known = left.astype(np.int64) * max(_property_count(values.target), 1) + right
    counts = np.zeros(len(known) * LEVELS)
    for first, last in _blocks(values, rivals) if len(known) else ():
        block = rivals.take(np.arange(first, last))
        _, groups, others = _group_pairs(values, block)
        pairs = _property_pairs(values, groups, others)
        place = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
        wanted = known[place] == pairs
        levels = _levels(values, groups[wanted], others[wanted])
        told = levels != INCOMPARABLE
        counts += np.bincount(place[wanted][told] * LEVELS + levels[told], minlength=len(counts))
    return counts.reshape(-1, LEVELS)


def _levels_by_chance(
    values: Values, left: Int32, right: Int32, random: np.random.Generator
) -> tuple[Float64, Float64]:
    """How often random pairs of entities agree at each level, `[pairs, LEVELS]`, and how many were compared.

    Equality is computed from the frequencies of all values, the other levels are from a sample.
    """
    counts = np.zeros((len(left), LEVELS))
    by_property = [_groups_by_property(side) for side in (values.source, values.target)]
    for first in range(0, len(left), PAIRS_AT_ONCE):
        block = slice(first, first + PAIRS_AT_ONCE)
        groups = []
        for (order, starts), property in zip(by_property, (left[block], right[block]), strict=True):
            share = random.random((len(property), RANDOM_PAIRS))
            at = starts[property][:, None] + share * np.diff(starts)[property][:, None]
            groups.append(order[at.astype(np.int64).ravel()])
        levels = _levels(values, *groups).reshape(-1, RANDOM_PAIRS)
        counts[block] = np.column_stack([(levels == level).sum(axis=1) for level in range(LEVELS)])
    smooth = (counts + 0.5) / (counts.sum(axis=1, keepdims=True) + 0.5 * LEVELS)
    equal = _equal_by_chance(values, left, right)
    smooth[:, EQUAL] = np.where(equal > 0, np.minimum(equal, 0.999), smooth[:, EQUAL])
    rest = smooth[:, EQUAL + 1 :]
    rest *= (1 - smooth[:, [EQUAL]]) / rest.sum(axis=1, keepdims=True)
    return smooth, counts.sum(axis=1)


def _equal_by_chance(values: Values, left: Int32, right: Int32) -> Float64:
    """How many equal values two random entities that have the properties share on average, `[pairs]`."""
    found = np.zeros(len(left))
    frequencies = []
    for side in (values.source, values.target):
        having = _having(side)
        property = np.repeat(side.property, np.diff(side.starts))
        shape = len(having), len(values.table.kind)
        rows = sp.csr_array((1 / having[property], (property, side.value)), shape=shape)
        frequencies += [rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data]
    over_rows(row_products, len(left), left, right, *frequencies, found)
    return found


def _rivals(anchors: Links, candidates: Similarity, within: bool) -> Links:
    """Pairs of one end of an anchor with another candidate of that end: taken not to match.

    `within` one graph, an entity may have several duplicates: only those count that have another anchor.
    """
    few = candidates.top_k(RIVALS + 1)
    pairs = []
    for matrix, links in ((few, anchors), (few.transpose(), anchors.reversed())):
        found = matrix.top_k_arrays(RIVALS + 1)[0][links.source]
        other = (found >= 0) & (found != links.target[:, None])
        pairs.append(np.column_stack([np.repeat(links.source, other.sum(axis=1)), found[other]]))
    rivals = Links(np.concatenate([pairs[0], pairs[1][:, ::-1]]))
    if not within:
        return rivals
    return rivals.take(np.isin(rivals.source, anchors.source) & np.isin(rivals.target, anchors.source))


def _affordable(values: Values, links: Links, random: np.random.Generator) -> Links:
    """The links, or a sample that has `MAX_COMPARED` pairs of properties."""
    sizes = _pair_counts(values, links)
    if sizes.sum() <= MAX_COMPARED:
        return links
    order = random.permutation(len(links))
    return links.take(np.sort(order[np.cumsum(sizes[order]) <= MAX_COMPARED]))


def _blocks(values: Values, links: Links) -> list[tuple[int, int]]:
    """`(first, last)` of blocks of links that have about `COMPARED_AT_ONCE` pairs of properties each."""
    number = np.cumsum(_pair_counts(values, links)) // COMPARED_AT_ONCE
    bounds = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(links)]
    return list(pairwise(bounds))


def _pair_counts(values: Values, links: Links) -> Int64:
    """The pairs of properties of each link; 0 where these are more than `MAX_PROPERTY_PAIRS`."""
    ours, theirs = (np.diff(side.pointers) for side in (values.source, values.target))
    counts = ours[links.source] * theirs[links.target]
    return np.where(counts > MAX_PROPERTY_PAIRS, 0, counts)


def _group_pairs(values: Values, links: Links) -> tuple[Int64, Int64, Int64]:
    """Every property of one end of a link with every property of the other: the link and both groups.

    Links of entities that have more than `MAX_PROPERTY_PAIRS` of them are left out.
    """
    ours, theirs = values.source.pointers, values.target.pointers
    wide = np.diff(theirs)[links.target]
    sizes = _pair_counts(values, links)
    link, at = expand_ranges(np.zeros_like(sizes), sizes)
    return link, ours[links.source][link] + at // wide[link], theirs[links.target][link] + at % wide[link]


def _property_pairs(values: Values, groups: Int64, others: Int64) -> Int64:
    """The properties of pairs of groups, as one number each."""
    ours, theirs = values.source.property[groups].astype(np.int64), values.target.property[others]
    return np.asarray(ours * max(_property_count(values.target), 1) + theirs)


def _levels(values: Values, groups: Int64, others: Int64) -> npt.NDArray[np.int8]:
    """How far the values of pairs of groups agree, `[n]`."""
    levels = np.empty(len(groups), np.int8)
    if len(levels):  # else the kernel need not be compiled
        over_rows(
            group_levels, len(levels), groups, others, values.source, values.target, values.table, levels
        )
    return levels


def _falling_ratios(m: Float64, u: Float64) -> Float64:
    """`log(m / u)` of each level, `[pairs, LEVELS]`, where less agreement never weighs more.

    Neighbouring levels that would rise are pooled: antitonic regression by its min-max formula.
    """
    m, u = (np.cumsum(np.pad(share, ((0, 0), (1, 0))), axis=1) for share in (m, u))
    weights = np.empty((len(m), LEVELS))
    for level in range(LEVELS):
        pools = [
            [(m[:, end] - m[:, start]) / (u[:, end] - u[:, start]) for end in range(level + 1, LEVELS + 1)]
            for start in range(level + 1)
        ]
        weights[:, level] = np.log(np.min([np.max(pool, axis=0) for pool in pools], axis=0))
    return weights


def _beyond_chance(agreeing: Float64, chance: Float64) -> Float64:
    """The share t for which `t + (1 - t) chance` pairs have equal values."""
    return np.asarray(np.clip((agreeing - chance) / (1 - chance), 0, 1))


def _groups_by_property(facts: Facts) -> tuple[Int64, Int64]:
    """All groups sorted by property, and where each property starts, `[properties + 1]`."""
    order = np.argsort(facts.property, kind="stable")
    starts = np.searchsorted(facts.property[order], np.arange(_property_count(facts) + 1))
    return order.astype(np.int64), starts.astype(np.int64)


def _having(facts: Facts) -> Int64:
    """How many entities have each property, `[properties]`."""
    return np.bincount(facts.property, minlength=_property_count(facts)).astype(np.int64)


def _property_count(facts: Facts) -> int:
    return int(facts.property.max(initial=-1)) + 1
