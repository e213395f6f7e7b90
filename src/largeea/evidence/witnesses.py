"""The witnesses of one pair: the shared neighbours that its neighbour evidence is the sum of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from largeea.evidence.anchors import Anchors
from largeea.evidence.graphs import GraphPair
from largeea.evidence.neighbours import MAX_FAN, MAX_STRENGTH
from largeea.graph import Links
from largeea.graph.edges import Edges
from largeea.similarity import Similarity


class SharedNeighbour(NamedTuple):
    """A neighbour of the source entity whose anchor is a neighbour of the target entity.

    Relations are those of `Edges`; nodes behind the entities are shared literal values.
    """

    source_relation: int
    source_node: int
    target_relation: int
    target_node: int
    strength: float
    """`p A(r, r') min(f(r), f(r'))`, see `neighbour_evidence`."""


@dataclass(frozen=True)
class JoinedGraphs:
    """Two graphs joined by anchors, and how far their relations agree."""

    graphs: GraphPair
    anchors: Anchors
    agreement: Similarity

    @classmethod
    def of(cls, edges: dict[str, Any], anchors: Links, agreement: Similarity) -> JoinedGraphs:
        """From the results of stages."""
        graphs = GraphPair.of(edges)
        return cls(graphs, Anchors.of(anchors, *graphs.shape, graphs.values), agreement)


def shared_neighbours(joined: JoinedGraphs, source: int, target: int) -> list[SharedNeighbour]:
    """All witnesses of a pair, strongest first: `1 - product of (1 - strength)` is its neighbour evidence."""
    graphs, known = joined.graphs, joined.anchors
    theirs: dict[int, list[int]] = {}
    for relation, node in _edges_of(graphs.target, target):
        theirs.setdefault(node, []).append(relation)

    @cache
    def has_large_fan(node: int, relation: int) -> bool:
        return _fan(graphs.target, node, relation) > MAX_FAN

    found = []
    for relation, node in _edges_of(graphs.source, source):
        counterpart = int(known.target[node])
        agreed = dict(zip(*(column.tolist() for column in joined.agreement.row(relation)), strict=True))
        for other in theirs.get(counterpart, ()):
            if other not in agreed or has_large_fan(counterpart, other ^ 1):
                continue
            functional = min(
                graphs.source.inverse_functionality[relation], graphs.target.inverse_functionality[other]
            )
            strength = min(float(known.trust[node] * agreed[other] * functional), MAX_STRENGTH)
            if strength > 0:
                found.append(SharedNeighbour(relation, node, other, counterpart, strength))
    return sorted(found, key=lambda witness: (-witness.strength, *witness))


def _edges_of(edges: Edges, node: int) -> list[tuple[int, int]]:
    """Relation and neighbour of each edge of a node."""
    span = slice(int(edges.pointers[node]), int(edges.pointers[node + 1]))
    return list(zip(edges.relation[span].tolist(), edges.neighbour[span].tolist(), strict=True))


def _fan(edges: Edges, node: int, relation: int) -> int:
    """How many neighbours a node has by a relation."""
    return int(np.sum(edges.relation[edges.pointers[node] : edges.pointers[node + 1]] == relation))
