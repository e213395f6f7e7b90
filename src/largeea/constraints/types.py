"""Types of entities, with the subclasses that a graph states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from largeea.constraints.nearest import nearest
from largeea.errors import UsageError
from largeea.formats.prefixes import Curies, find_entities
from largeea.formats.vocabularies import SUBCLASS, TYPE
from largeea.graph import Bool, Int32, KnowledgeGraph, Role, strings


@dataclass(frozen=True)
class Types:
    """What a graph says about types: `typing[n, 2]` (entity, type) and `subclasses[m, 2]` (sub, super)."""

    graph: KnowledgeGraph
    side: str
    typing: Int32
    subclasses: Int32

    @classmethod
    def of(cls, graph: KnowledgeGraph, side: str) -> Types:
        """The types of a graph; `side` names it in messages."""
        return cls(graph, side, _related(graph, TYPE), _related(graph, SUBCLASS))

    def with_subclasses(self, type: str) -> Bool:
        """Mask of a type, given by IRI or CURIE, and of all its subclasses, `[size]`.

        Raises `UsageError` if no entity has any of them.
        """
        from scipy.sparse.csgraph import breadth_first_order  # imported lazily: slow

        found = np.zeros(self.graph.size, bool)
        for place in find_entities(self.graph, strings([type])):
            if place >= 0:
                found[breadth_first_order(self._children, place, return_predecessors=False)] = True
        if not found[self.typing[:, 1]].any():
            raise self._unknown(type)
        return found

    @cached_property
    def _children(self) -> sp.csr_array:
        """The direct subclasses of each class, `[size, size]`."""
        (sub, above), size = self.subclasses.T, self.graph.size
        return sp.csr_array((np.ones(len(sub), np.int8), (above, sub)), shape=(size, size))

    def instances(self, types: Sequence[str]) -> Bool:
        """Mask of the entities that have one of the types or of their subclasses, `[size]`."""
        found = np.zeros(self.graph.size, bool)
        for type in types:
            found[self.typing[self.with_subclasses(type)[self.typing[:, 1]], 0]] = True
        return found

    def fully_typed(self, known: Bool) -> Bool:
        """Mask of the entities that have types, all of them `known[size]`, `[size]`.

        Types of well-known vocabularies, such as owl:NamedIndividual, do not count.
        """
        entity, type = self.typing[self.graph.roles[self.typing[:, 1]] != Role.VOCABULARY].T
        found = np.zeros(self.graph.size, bool)
        found[entity] = True
        found[entity[~known[type]]] = False
        return found

    def _unknown(self, type: str) -> UsageError:
        curies = Curies.of(self.graph)
        if not len(self.typing):
            return UsageError(
                f"no entity of the {self.side} graph has a type (rdf:type), so none has {type!r}; "
                "select entities by a query, or give no types"
            )
        types, counts = np.unique(self.typing[:, 1], return_counts=True)
        by_frequency = types[np.argsort(-counts, kind="stable")]
        known = self.graph.entities.take(pa.array(by_frequency))
        return UsageError(
            f"no entity of the {self.side} graph has the type {type!r}; the nearest types are "
            f"{nearest(type, known, curies)}{curies.advice(type)}"
        )


def _related(graph: KnowledgeGraph, relation: str) -> Int32:
    """The heads and tails of the triples of one relation, `int32[n, 2]`."""
    place = pc.index(graph.relations, relation).as_py()
    found: Int32 = graph.triples[graph.triples[:, 1] == place][:, [0, 2]]
    return found
