"""Both graphs as evidence sees them: triples, and equal literal values as nodes that the graphs share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from largeea.evidence.literals import shared_values
from largeea.graph import Int32, KnowledgeGraph
from largeea.graph.edges import Edges


@dataclass(frozen=True, eq=False)
class GraphPair:
    """The edges of both graphs. Behind its entities, each graph has the nodes of the shared `values`."""

    source: Edges
    target: Edges
    shape: tuple[int, int]
    """Entities of both graphs."""
    values: int

    @classmethod
    def of(cls, columns: dict[str, Any]) -> GraphPair:
        """What `evidence_edges` returned."""
        return cls(columns["source"], columns["target"], tuple(columns["shape"]), columns["values"])


def evidence_edges(source: KnowledgeGraph, target: KnowledgeGraph, literals: bool) -> dict[str, Any]:
    """The edges of both graphs, on request with shared literals: the parts of a `GraphPair`."""
    no_literals = np.empty((0, 3), np.int32), np.empty((0, 3), np.int32), 0
    of_source, of_target, values = shared_values(source, target) if literals else no_literals
    with ThreadPoolExecutor(2) as pool:
        ours, theirs = pool.map(_edges, (source, target), (of_source, of_target), (values, values))
    return {
        "source": ours,
        "target": theirs,
        "shape": (source.size, target.size),
        "values": values,
    }


def _edges(graph: KnowledgeGraph, literals: Int32, values: int) -> Edges:
    """Triples, and literals as triples to value nodes behind the entities."""
    shift = np.array([0, len(graph.relations), graph.size], np.int32)
    triples = np.concatenate([graph.triples, literals + shift])
    return Edges.of(triples, graph.size + values, len(graph.relations) + len(graph.attributes.predicates))
