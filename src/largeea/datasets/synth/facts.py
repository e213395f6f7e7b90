"""The triples of both graphs: shared facts, facts of one side, facts of entities without counterpart."""

from __future__ import annotations

import numpy as np

from largeea.datasets.synth.communities import Communities, draw_communities
from largeea.datasets.synth.spec import TwinSpec
from largeea.errors import UsageError
from largeea.graph import Int32, Int64

_ACTIVITY = 1.1
"""Shape of the gamma distribution of facts per head; a smaller shape is more skewed."""
_OBJECTS_ACTIVITY = 0.25
"""Weight of objects (possible tails) as heads of facts, relative to other entities."""
_ANOTHER_RELATION = 0.22
"""Share of facts with the same head and tail as another fact, under a second relation."""
_REVERSED = 0.15
"""Share of facts in which the entity without counterpart is the tail."""
_ROUNDS_AT_HOME, _ROUNDS = 6, 60
Side = tuple[Int32, Int32]
"""Triples of one graph, and the community of each of its entities."""
_NOTHING_FIXED = np.empty(0, np.int64)


def draw_facts(random: np.random.Generator, spec: TwinSpec) -> tuple[Side, Side]:
    """Draw the triples `[n, 3]` and the community of each entity, for source and target.

    Linked entity i has the id i on both sides; entities without counterpart follow. The side with fewer
    relations merges several relations of the other side into one.
    """
    finest, coarsest = max(spec.relations), min(spec.relations)
    coarse = np.concatenate([np.arange(coarsest), random.integers(0, coarsest, finest - coarsest)])
    communities = draw_communities(random, spec.linked, finest)
    heads = _heads(random, spec, communities)
    facts = _draw_distinct(random, communities, heads, communities.of[heads], coarse, np.arange(finest))
    shared, own = spec.shared_facts, spec.own_facts
    stated = facts[: shared + own[0]], np.concatenate([facts[:shared], facts[shared + own[0] :]])
    sides = []
    for side in (0, 1):
        home = random.choice(communities.of, spec.unknown[side])
        unknown = _unknown_facts(random, spec.unknown_facts[side], communities, home)
        triples = np.concatenate([stated[side], unknown])
        if spec.relations[side] < finest:
            triples[:, 1] = coarse[triples[:, 1]]
        sides.append((triples, np.concatenate([communities.of, home])))
    return sides[0], sides[1]


def _heads(random: np.random.Generator, spec: TwinSpec, communities: Communities) -> Int64:
    """Heads of all facts between linked entities: shared ones, then the source's own, then the target's.

    Each entity that is never a tail first gets a fact on each side; the share 1 - heterogeneity of these
    facts is shared. The heads of all other facts are drawn in proportion to the entities' activity.
    """
    pointed_at = communities.pointed_at
    activity = random.gamma(_ACTIVITY, size=spec.linked) * np.where(pointed_at, _OBJECTS_ACTIVITY, 1)
    weight = np.cumsum(activity)
    subjects = random.permutation(np.flatnonzero(~pointed_at))
    common = round((1 - spec.heterogeneity) * len(subjects))
    first, apart = subjects[:common], subjects[common:]
    blocks = []
    for count, given in zip((spec.shared_facts, *spec.own_facts), (first, apart, apart), strict=True):
        kept = given[:count]
        drawn = np.searchsorted(weight, np.sort(random.random(count - len(kept))) * weight[-1], "right")
        blocks += [kept, np.minimum(drawn, spec.linked - 1)]
    return np.concatenate(blocks)


def _unknown_facts(random: np.random.Generator, count: int, communities: Communities, home: Int32) -> Int32:
    """Distinct facts `[count, 3]` between each entity without counterpart and linked neighbours."""
    entity = np.arange(count) % max(len(home), 1)
    any_relation = np.zeros(communities.relations.max() + 1, np.int64)
    heads = len(communities.of) + entity
    triples = _draw_distinct(random, communities, heads, home[entity], any_relation, _NOTHING_FIXED)
    turned = np.flatnonzero(random.random(count) < _REVERSED)
    triples[turned] = triples[turned, ::-1]
    return triples


def _draw_distinct(
    random: np.random.Generator,
    communities: Communities,
    heads: Int64,
    home: Int32,
    coarse: Int64,
    fixed: Int64,
) -> Int32:
    """Facts `[n, 3]` with the given heads of communities `home`, distinct also by their `coarse` relations.

    The first facts get the `fixed` relations, so that each is used. Tails of repeated facts are redrawn, in
    the last rounds from all communities.
    """
    tails, relations = np.empty(len(heads), np.int64), np.empty(len(heads), np.int32)
    open_rows = np.arange(len(heads))
    for turn in range(_ROUNDS):
        near = home[open_rows] if turn < _ROUNDS_AT_HOME else random.choice(communities.of, len(open_rows))
        tails[open_rows] = communities.draw_tails(random, near)
        relations[open_rows] = communities.draw_relations(random, near, tails[open_rows])
        if turn == 0:
            second = np.flatnonzero(heads[1:] == heads[:-1]) + 1
            second = second[random.random(len(second)) < _ANOTHER_RELATION]
            tails[second] = tails[second - 1]
            relations[second] = communities.draw_any_relations(random, near[second])
        relations[: len(fixed)] = fixed[: len(heads)]
        open_rows = _repeats(heads, coarse[relations], tails)
        if not len(open_rows):
            return np.column_stack([heads, relations, tails]).astype(np.int32)
    raise UsageError(
        f"{len(communities.of)} linked entities are too few for {len(heads)} distinct facts; "
        "give a larger overlap or scale"
    )


def _repeats(heads: Int64, relations: Int64, tails: Int64) -> Int64:
    """Positions of rows that repeat an earlier row or join an entity to itself."""
    keys = (heads * (tails.max(initial=0) + 1) + tails) * (relations.max(initial=0) + 1) + relations
    order = np.argsort(keys, kind="stable")
    repeated = heads == tails
    repeated[order[1:]] |= keys[order[1:]] == keys[order[:-1]]
    return np.flatnonzero(repeated)
