"""Selects the links and entities of the benchmark (P17 of the paper's DBP1M).

Links are one-to-one, and both their ends occur in triples. *Unknown entities* have no link at all in the
dumps and at least five distinct neighbours that are linked. The graphs hold all triples among these entities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.datasets.dbp1m.sides import SideGraph
from largeea.formats.distinct import unique_rows
from largeea.graph import Bool, Int32, Int64, KnowledgeGraph

MIN_LINKED_NEIGHBOURS = 5


@dataclass(frozen=True)
class Sizes:
    """Upper limits on the size of the benchmark; None means no limit.

    If not all links fit (`links`, or the entities of either side), those whose less connected end has the
    most triples are kept; ties are broken by source IRI. The remaining places on a side go to unknown
    entities with the most linked neighbours; ties are broken by IRI. The selection is deterministic.
    """

    links: int | None = None
    source: int | None = None
    target: int | None = None


@dataclass(frozen=True, eq=False)
class Selection:
    """Links `[n, 2]`, a mask of the selected entities for each side, and counts of the links.

    `stated` is the number of distinct pairs of entities that occur in triples; `conflicting` of them were
    dropped because of conflicts.
    """

    links: Int32
    kept_source: Bool
    kept_target: Bool
    stated: int
    conflicting: int


def choose(source: SideGraph, target: SideGraph, stated_by_source: Bool, sizes: Sizes) -> Selection:
    """Select links and entities; `stated_by_source[n]` marks the links from the source's dumps."""
    stated = np.column_stack([source.link_ends, target.link_ends, stated_by_source.astype(np.int32)])
    stated = unique_rows(stated[(stated[:, :2] >= 0).all(axis=1)])
    pairs, strength = _weighed(stated)
    links = one_to_one(pairs, strength)
    chosen = _best_connected(links, source.graph, target.graph, sizes)
    kept_source = _kept(source, chosen[:, 0], sizes.source)
    kept_target = _kept(target, chosen[:, 1], sizes.target)
    return Selection(chosen, kept_source, kept_target, len(pairs), len(pairs) - len(links))


def one_to_one(pairs: Int32, strength: Int64) -> Int32:
    """The pairs that are the unique strongest pair of both their ends, sorted.

    `pairs[n, 2]` are distinct; `strength[n]` is the number of sides whose dumps state a pair. A pair without
    conflicts is kept; of conflicting pairs, one is kept only if both sides state it and no other one.
    """
    keep = np.ones(len(pairs), bool)
    for end in pairs.T:
        best = np.zeros(end.max(initial=-1) + 1, np.int64)
        np.maximum.at(best, end, strength)
        is_best = strength == best[end]
        keep &= is_best & (np.bincount(end[is_best], minlength=len(best))[end] == 1)
    return pairs[keep]


def linked_neighbours(graph: KnowledgeGraph, linked: Bool) -> Int64:
    """Number of distinct linked neighbours of each entity, itself excluded, `[size]`."""
    ends = graph.triples[:, [0, 2]]
    seen = np.concatenate([ends, ends[:, ::-1]])
    seen = seen[linked[seen[:, 1]] & (seen[:, 0] != seen[:, 1])]
    return np.bincount(unique_rows(seen)[:, 0], minlength=graph.size).astype(np.int64)


def unknown_entities(graph: KnowledgeGraph, linked: Bool, has_link: Bool) -> Int64:
    """Entities without a link in the dumps and with at least five linked neighbours, best connected first."""
    neighbours = linked_neighbours(graph, linked)
    found = np.flatnonzero(~has_link & (neighbours >= MIN_LINKED_NEIGHBOURS))
    return found[np.lexsort((found, -neighbours[found]))]


def induced(graph: KnowledgeGraph, kept: Bool) -> KnowledgeGraph:
    """The subgraph induced by the kept entities; relations without a triple are dropped."""
    triples = graph.triples[kept[graph.triples[:, 0]] & kept[graph.triples[:, 2]]].copy()
    place = np.cumsum(kept) - 1
    relations, triples[:, 1] = np.unique(triples[:, 1], return_inverse=True)
    triples[:, 0], triples[:, 2] = place[triples[:, 0]], place[triples[:, 2]]
    return KnowledgeGraph(
        graph.entities.filter(kept), graph.names.filter(kept), graph.relations.take(relations), triples
    )


def _weighed(stated: Int32) -> tuple[Int32, Int64]:
    """Distinct pairs `[n, 2]`, and the number of sides that state each."""
    first = np.append(True, (stated[1:, :2] != stated[:-1, :2]).any(axis=1))[: len(stated)]
    starts = np.flatnonzero(first)
    return stated[first, :2], np.diff(np.append(starts, len(stated)))


def _best_connected(links: Int32, source: KnowledgeGraph, target: KnowledgeGraph, sizes: Sizes) -> Int32:
    limit = min(
        (size for size in (sizes.links, sizes.source, sizes.target) if size is not None), default=None
    )
    if limit is None or limit >= len(links):
        return links
    degree = np.minimum(source.degrees()[links[:, 0]], target.degrees()[links[:, 1]])
    best = np.argsort(-degree, kind="stable")[:limit]
    return links[np.sort(best)]


def _kept(side: SideGraph, linked_ends: Int32, size: int | None) -> Bool:
    """Mask of the linked entities and of as many unknown entities as `size` allows."""
    kept = np.zeros(side.graph.size, bool)
    kept[linked_ends] = True
    has_link = np.zeros(side.graph.size, bool)
    has_link[side.link_ends[side.link_ends >= 0]] = True
    unknown = unknown_entities(side.graph, kept, has_link)
    kept[unknown if size is None else unknown[: size - len(linked_ends)]] = True
    return kept
