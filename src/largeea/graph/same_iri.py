"""Entities with equal IRIs are the same by definition; so are those that a graph itself calls the same."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph.arrays import Arrays, Int32, strings
from largeea.graph.links import Links
from largeea.graph.lookup import are_in, places_in
from largeea.graph.roles import Role
from largeea.graph.types import KnowledgeGraph

_ABSOLUTE = r"^[A-Za-z][A-Za-z0-9+.-]*:."
"""An IRI with a scheme; blank nodes (`_:b1`) have none."""


def equal_iris(source: KnowledgeGraph, target: KnowledgeGraph) -> Links:
    """Return the pairs of entities that have the same absolute IRI; none unless both have global ids.

    Where one graph only points to an entity that the other describes, there is no pair: its counterpart is
    the entity that points there, or is to be found.
    """
    if not (source.global_ids and target.global_ids and source.size and target.size):
        return Links.none()
    found = places_in(source.entities, target.entities)
    ours = np.flatnonzero(found >= 0)
    absolute = np.asarray(pc.match_substring_regex(source.entities.take(pa.array(ours)), _ABSOLUTE), bool)
    ours = ours[absolute]
    theirs = found[ours]
    alike = (source.roles[ours] == Role.REFERENCE) == (target.roles[theirs] == Role.REFERENCE)
    return Links(np.column_stack([ours.astype(np.int32), theirs])[alike])


def stated_links(source: KnowledgeGraph, target: KnowledgeGraph, predicates: Iterable[str]) -> Links:
    """Return the links to entities of the other graph that the graphs themselves state by `predicates`.

    Only entities that are matched with each other are linked, each once. None unless both have global ids.
    """
    if not (source.global_ids and target.global_ids):
        return Links.none()
    forth = _pointing(source, target, predicates)
    back = _pointing(target, source, predicates)[:, ::-1]
    pairs = np.unique(np.concatenate([forth, back]), axis=0)
    ours, theirs = source.kinds[pairs[:, 0]], target.kinds[pairs[:, 1]]
    pairs = pairs[(ours == theirs) & (ours >= 0)]
    for side in (0, 1):
        pairs = pairs[np.unique(pairs[:, side], return_index=True)[1]]
    return Links(pairs).canonical()


def _pointing(graph: KnowledgeGraph, other: KnowledgeGraph, predicates: Iterable[str]) -> Int32:
    """Pairs of an entity and the entity of the `other` graph that it points to by `predicates`, `[n, 2]`."""
    by = are_in(graph.relations, strings(predicates))
    triples = graph.triples[by[graph.triples[:, 1]]]
    there = places_in(graph.entities.take(triples[:, 2]), other.entities)
    pairs = np.column_stack([triples[:, 0], there])
    return pairs[pairs[:, 1] >= 0]


def matched_kinds(source: KnowledgeGraph, target: KnowledgeGraph, same: Links) -> Arrays:
    """Return the kinds of the entities to be matched, int8 `[size]` of each side by name.

    They are -1 for entities that are out of scope or in `same`, the pairs that are known to be the same.
    """
    kinds = {"source": source.kinds.copy(), "target": target.kinds.copy()}
    kinds["source"][same.source] = -1
    kinds["target"][same.target] = -1
    return dict(kinds)
