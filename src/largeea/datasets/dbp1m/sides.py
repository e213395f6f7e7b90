"""Assembles one graph a side from stored dumps: resolves spellings and redirects, sorts entities by IRI."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.datasets.dbp1m.resources import respelled
from largeea.datasets.dbp1m.stored import Kind, StoredDump, rows_of
from largeea.formats.distinct import unique_rows
from largeea.graph import Bool, Int32, Int64, KnowledgeGraph, Strings
from largeea.graph.interning import StringTable

_LONGEST_CHAIN = 1 << 20


@dataclass(frozen=True, eq=False)
class SideGraph:
    """The graph of one side without names, and counts of the corrections made to its dumps.

    `link_ends[n]` are the entities at the ends of the given links, -1 for an entity that is in no triple.
    """

    graph: KnowledgeGraph
    link_ends: Int32
    spellings_merged: int
    ends_redirected: int
    redirect_loops: int


def load_side(dumps: list[StoredDump], ends: Strings, check_memory: Callable[[str], None]) -> SideGraph:
    """The graph of one side, and the entity for each link end in `ends[n]`."""
    nodes, predicates = StringTable(), StringTable()
    triples, redirects = [np.empty((0, 3), np.int32)], [np.empty((0, 2), np.int32)]
    for subject, predicate, object in rows_of(dumps, Kind.TRIPLE):
        heads, tails = nodes.number_column(subject), nodes.number_column(object)
        triples.append(np.column_stack([heads, predicates.number_column(predicate), tails]))
        check_memory("reading triples")
    in_triples = len(nodes)
    for subject, _, object in rows_of(dumps, Kind.REDIRECT):
        redirects.append(np.column_stack([nodes.number_column(subject), nodes.number_column(object)]))
        check_memory("reading redirects")
    link_ends = nodes.number_column(ends)

    spelling = _Spelling(nodes, in_triples)
    moved, loops = follow_redirects(spelling.resource[np.concatenate(redirects)], spelling.texts)
    entity_of = moved[spelling.resource]
    rows = np.concatenate(triples)
    triples.clear()
    redirected = int((entity_of != spelling.resource)[rows[:, [0, 2]]].sum())
    check_memory("resolving redirects")

    rows[:, 0], rows[:, 2] = entity_of[rows[:, 0]], entity_of[rows[:, 2]]
    occurs = np.zeros(len(spelling.texts), bool)
    occurs[rows[:, [0, 2]]] = True
    used = np.flatnonzero(occurs)
    entities, order = _sorted(spelling.texts.take(pa.array(spelling.shown[used])))
    place = np.full(len(spelling.texts), -1, np.int32)
    place[used[order]] = np.arange(len(used), dtype=np.int32)
    relations, relation_order = _sorted(predicates.strings())
    rows[:, 0], rows[:, 2] = place[rows[:, 0]], place[rows[:, 2]]
    rows[:, 1] = np.argsort(relation_order)[rows[:, 1]]
    no_names = pa.nulls(len(entities), pa.large_string())
    graph = KnowledgeGraph(entities, no_names, relations, unique_rows(rows))
    return SideGraph(graph, place[entity_of[link_ends]], spelling.merged, redirected, loops)


class _Spelling:
    """Groups nodes that are spellings of the same resource.

    `resource[n]` is the node that represents the resource of each node. `shown[n]` is the node whose text
    becomes the IRI of a resource: the first of its spellings in the dumps by sort order, those in triples
    before others. `merged` is the number of surplus spellings.
    """

    def __init__(self, nodes: StringTable, in_triples: int) -> None:
        seen = len(nodes)
        other, canonical = respelled(nodes.strings())
        keys = nodes.number_column(canonical)
        self.texts = nodes.strings()
        self.resource: Int32 = np.arange(len(nodes), dtype=np.int32)
        self.resource[other] = keys

        candidates = np.unique(np.concatenate([other, keys[keys < seen]]))
        rank = _rank(self.texts.take(pa.array(candidates)))
        candidates = candidates[np.lexsort((rank, candidates >= in_triples, self.resource[candidates]))]
        best = candidates[_first_of_each(self.resource[candidates])]
        self.shown: Int32 = np.arange(len(nodes), dtype=np.int32)
        self.shown[self.resource[best]] = best
        self.merged = len(candidates) - len(best)


def follow_redirects(redirects: Int32, texts: Strings) -> tuple[Int32, int]:
    """The final target of each node, `[len(texts)]`, and the number of nodes that lead into a loop.

    `redirects[n, 2]` holds from and to. If a node has several redirects, the first target by IRI is taken.
    Nodes that lead into a loop are their own target.
    """
    redirects = redirects[redirects[:, 0] != redirects[:, 1]]
    several = np.bincount(redirects[:, 0], minlength=len(texts))[redirects[:, 0]] > 1
    rank = np.zeros(len(redirects), np.int64)
    rank[several] = _rank(texts.take(pa.array(redirects[several, 1])))
    redirects = redirects[np.lexsort((rank, redirects[:, 0]))]
    redirects = redirects[_first_of_each(redirects[:, 0])]
    moved = np.arange(len(texts), dtype=np.int32)
    moved[redirects[:, 0]] = redirects[:, 1]
    is_end = moved == np.arange(len(texts))
    steps = 1
    while steps < _LONGEST_CHAIN and not is_end[moved].all():
        moved, steps = moved[moved], 2 * steps
    round_trips = np.flatnonzero(~is_end[moved])
    moved[round_trips] = round_trips
    return moved, len(round_trips)


def _sorted(texts: Strings) -> tuple[Strings, Int64]:
    order = np.asarray(pc.sort_indices(texts)).astype(np.int64)
    return texts.take(pa.array(order)), order


def _rank(texts: Strings) -> Int64:
    """The rank of each text in sort order, `[n]`; equal texts are in arbitrary order."""
    return np.argsort(np.asarray(pc.sort_indices(texts))).astype(np.int64)


def _first_of_each(sorted_groups: Int32) -> Bool:
    """Mask of the rows that begin a new group."""
    return np.append(True, sorted_groups[1:] != sorted_groups[:-1])[: len(sorted_groups)]
