"""Both graphs as evidence sees them: triples, and equal literal values as nodes that the graphs share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from largeea.evidence.literals import shared_values
from largeea.graph import Int32, KnowledgeGraph, Strings, UInt64, strings
from largeea.graph.edges import Edges
from largeea.graph.hash_table import fixed_hashes
from largeea.names.characters import text_buffers

NO_KEYS = np.empty(0, np.uint64)
"""Those of a run of an earlier version, which is explained but not continued."""


@dataclass(frozen=True, eq=False)
class GraphPair:
    """The edges of both graphs. Behind its entities, each graph has the nodes of the shared `values`."""

    source: Edges
    target: Edges
    shape: tuple[int, int]
    """Entities of both graphs."""
    values: int
    keys: UInt64
    """A hash of the IRI or the value of each source node, `[nodes]`."""

    @classmethod
    def of(cls, columns: dict[str, Any]) -> GraphPair:
        """What `evidence_edges` returned."""
        source, target, shape, values = (columns[name] for name in ("source", "target", "shape", "values"))
        return cls(source, target, tuple(shape), values, columns.get("keys", NO_KEYS))


def evidence_edges(source: KnowledgeGraph, target: KnowledgeGraph, literals: bool) -> dict[str, Any]:
    """The edges of both graphs, on request with shared literals: the parts of a `GraphPair`."""
    no_literals = np.empty((0, 3), np.int32), np.empty((0, 3), np.int32), strings([])
    of_source, of_target, texts = shared_values(source, target) if literals else no_literals
    values = len(texts)
    with ThreadPoolExecutor(2) as pool:
        ours, theirs = pool.map(_edges, (source, target), (of_source, of_target), (values, values))
    return {
        "source": ours,
        "target": theirs,
        "shape": (source.size, target.size),
        "values": values,
        "keys": np.concatenate([_hashes(source.entities), _hashes(texts)]),
    }


def _edges(graph: KnowledgeGraph, literals: Int32, values: int) -> Edges:
    """Triples, and literals as triples to value nodes behind the entities."""
    shift = np.array([0, len(graph.relations), graph.size], np.int32)
    triples = np.concatenate([graph.triples, literals + shift])
    return Edges.of(triples, graph.size + values, len(graph.relations) + len(graph.attributes.predicates))


def _hashes(texts: Strings) -> UInt64:
    """A hash of each text that is the same in every run, `[n]`."""
    offsets, text = text_buffers(texts)
    hashes = np.empty(len(texts), np.uint64)
    fixed_hashes(text, offsets, hashes)
    return hashes
