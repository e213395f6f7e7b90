"""The neighbours of a pair: those that the answer pairs with each other, and those of one side alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from largeea.finished import FinishedRun
from largeea.formats.prefixes import last_part
from largeea.graph import KnowledgeGraph, Links
from largeea.graph.edges import Edges
from largeea.matching.cardinality import Cardinality
from largeea.web.review.pairs import name_of

MOST_EDGES = 400
"""Edges of an entity that are looked at: hubs have millions."""
MOST_SHOWN = 6
"""Neighbours that are shown of each group."""


@dataclass(frozen=True)
class Neighbour:
    """A neighbour and the relation that leads to it; `inverse` if the neighbour is the relation's head."""

    entity: int
    name: str
    iri: str
    relation: str
    inverse: bool


@dataclass(frozen=True)
class Neighbourhood:
    """The neighbours of a pair, the most informative relations first, and how many there are in all."""

    matched: tuple[tuple[Neighbour, Neighbour], ...]
    source: tuple[Neighbour, ...]
    target: tuple[Neighbour, ...]
    matched_count: int
    source_count: int
    target_count: int


class Neighbourhoods:
    """Finds the neighbours of pairs. Reads the edges that a run has stored, or makes them once."""

    def __init__(self, run: FinishedRun) -> None:
        self._run = run

    @cached_property
    def _edges(self) -> tuple[Edges, Edges]:
        if "edges" in self._run.stages:
            stored = self._run.load("edges")
            return stored["source"], stored["target"]
        source, target = self._run.source, self._run.target
        return _edges(source), _edges(target)

    @cached_property
    def _links(self) -> Links:
        """Sorted pairs of the answer and of equal IRIs; within one graph, each entity with itself, too."""
        pairs = self._run.alignment.pairs
        found = [pairs, self._run.same.pairs]
        if self._run.alignment.cardinality is Cardinality.WITHIN:
            itself = np.arange(self._run.source.size, dtype=np.int32)
            found += [pairs[:, ::-1], np.column_stack([itself, itself])]
        return Links(np.concatenate(found)).canonical()

    def of(self, source: int, target: int) -> Neighbourhood:
        """Return the neighbours of a pair; those that only one side has come after the matched ones."""
        ours = _distinct(_neighbours(self._run.source, self._edges[0], source))
        theirs = _distinct(_neighbours(self._run.target, self._edges[1], target))
        matched = list(self._matched(ours, theirs))
        paired = {one.entity for one, _ in matched}, {other.entity for _, other in matched}
        left = [one for one in ours.values() if one.entity not in paired[0]]
        right = [one for one in theirs.values() if one.entity not in paired[1]]
        return Neighbourhood(
            tuple(matched[:MOST_SHOWN]),
            tuple(left[:MOST_SHOWN]),
            tuple(right[:MOST_SHOWN]),
            len(matched),
            len(left),
            len(right),
        )

    def _matched(
        self, ours: dict[int, Neighbour], theirs: dict[int, Neighbour]
    ) -> Iterator[tuple[Neighbour, Neighbour]]:
        """Yield the neighbours that are paired with each other, each once."""
        free = dict(theirs)
        for entity, one in ours.items():
            first, last = np.searchsorted(self._links.source, [entity, entity + 1])
            counterparts = self._links.target[first:last].tolist()
            if (found := next((other for other in counterparts if other in free), None)) is not None:
                yield one, free.pop(found)


def _edges(graph: KnowledgeGraph) -> Edges:
    return Edges.of(graph.triples, graph.size, len(graph.relations))


def _distinct(neighbours: Iterator[Neighbour]) -> dict[int, Neighbour]:
    """Return the neighbours by entity, each by the first of the relations that lead to it."""
    found: dict[int, Neighbour] = {}
    for one in neighbours:
        found.setdefault(one.entity, one)
    return found


def _neighbours(graph: KnowledgeGraph, edges: Edges, entity: int) -> Iterator[Neighbour]:
    """Yield the neighbours of an entity, those by the most informative relations first."""
    start, end = edges.pointers[entity : entity + 2].tolist()
    span = slice(start, min(end, start + MOST_EDGES))
    relation, node = edges.relation[span], edges.neighbour[span]
    entities = node < graph.size  # the nodes behind are literal values
    relation, node = relation[entities], node[entities]
    order = np.lexsort((node, relation, -edges.inverse_functionality[relation]))
    for directed, neighbour in zip(relation[order].tolist(), node[order].tolist(), strict=True):
        iri = graph.entities[neighbour].as_py()
        word = last_part(graph.relations[directed // 2].as_py())
        yield Neighbour(neighbour, name_of(graph, neighbour), iri, word, bool(directed % 2))
