"""The properties and types of a graph."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order

from largeea.formats.naming import local_names
from largeea.formats.prefixes import last_part
from largeea.formats.vocabularies import OWL, SUBCLASS, TYPE
from largeea.graph import Bool, Int32, Int64, KnowledgeGraph, Role, strings
from largeea.graph.lookup import distinct, places_in
from largeea.web.reconcile.facts import Facts, Property
from largeea.web.reconcile.lookup import RowsByKey

THING = OWL + "Thing"
"""The type of all entities in a graph without types."""
_TYPES_KEPT = 1024
"""Types whose subclasses are remembered."""


class Type(NamedTuple):
    """A type of entities that the service offers."""

    iri: str
    name: str
    uses: int
    """Entities that have it."""


class Schema:
    """The properties and types of a graph, the most frequent first."""

    def __init__(self, facts: Facts) -> None:
        graph = facts.graph
        self._facts = facts
        self._typing = graph.triples[graph.triples[:, 1] == _relation(graph, TYPE)]
        self._types = RowsByKey.of(self._typing[:, 0], graph.size)
        below = graph.triples[graph.triples[:, 1] == _relation(graph, SUBCLASS)]
        ones = np.ones(len(below), np.int8)
        self._children = sp.csr_array((ones, (below[:, 2], below[:, 0])), shape=(graph.size, graph.size))
        self._descendants = lru_cache(_TYPES_KEPT)(self._find_descendants)
        self.properties = _properties(graph)
        self._by_iri = {entry.iri: entry for entry in self.properties}
        self.types = self._all_types()

    def property(self, iri: str) -> Property | None:
        """The property with this IRI; None if there is none."""
        return self._by_iri.get(iri)

    def types_of(self, entity: int) -> list[dict[str, str]]:
        """The types of an entity as the protocol writes them."""
        if not len(self._typing):
            return [{"id": THING, "name": "Thing"}]
        return [
            {"id": self._facts.iri(kind), "name": self._facts.name(kind)} for kind in self._classes_of(entity)
        ]

    def has_type(self, entity: int, iri: str) -> bool:
        """Whether an entity has a type or one of its subclasses."""
        if not len(self._typing):
            return iri == THING
        return not self._descendants(iri).isdisjoint(self._classes_of(entity))

    def of_type(self, iri: str) -> Bool:
        """Mask of the entities that have a type or one of its subclasses, `[size]`."""
        size = self._facts.graph.size
        if not len(self._typing):
            return np.full(size, iri == THING)
        mask = np.zeros(size, bool)
        kinds = np.array(sorted(self._descendants(iri)), np.int32)
        mask[self._typing[np.isin(self._typing[:, 2], kinds), 0]] = True
        return mask

    def properties_of(self, type_iri: str) -> list[Property]:
        """The properties that entities of a type have, the most frequent first."""
        graph, mask = self._facts.graph, self.of_type(type_iri)
        by_relation = np.bincount(graph.triples[mask[graph.triples[:, 0]], 1], minlength=len(graph.relations))
        predicates = graph.attributes.predicate[mask[graph.attributes.entity]]
        by_predicate = np.bincount(predicates, minlength=len(graph.attributes.predicates))
        counted = [
            entry._replace(
                uses=int(
                    (by_relation[entry.relation] if entry.relation >= 0 else 0)
                    + (by_predicate[entry.predicate] if entry.predicate >= 0 else 0)
                )
            )
            for entry in self.properties
        ]
        return sorted((entry for entry in counted if entry.uses), key=lambda entry: -entry.uses)

    def _classes_of(self, entity: int) -> list[int]:
        classes: list[int] = self._typing[self._types[entity], 2].tolist()
        return classes

    def _find_descendants(self, iri: str) -> frozenset[int]:
        """A class and all classes below it, as entities; none for an unknown one."""
        kind = self._facts.find(iri)
        if kind < 0:
            return frozenset()
        return frozenset(breadth_first_order(self._children, kind, return_predecessors=False).tolist())

    def _all_types(self) -> list[Type]:
        linkable = self._facts.linkable
        if not len(self._typing):
            return [Type(THING, "Thing", int(linkable.sum()))]
        kinds, counts = np.unique(self._typing[linkable[self._typing[:, 0]], 2], return_counts=True)
        found = [
            Type(self._facts.iri(kind), self._facts.name(kind), count)
            for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        ]
        return sorted(found, key=lambda entry: (-entry.uses, entry.iri))


def _relation(graph: KnowledgeGraph, iri: str) -> int:
    """The position of a relation; -1 if the graph has none of it."""
    return int(pc.index(graph.relations, pa.scalar(iri, pa.large_string())).as_py())


def _properties(graph: KnowledgeGraph) -> list[Property]:
    predicates = graph.attributes.predicates
    iris = distinct(pa.concat_arrays([graph.relations, predicates]))
    relation, predicate = places_in(iris, graph.relations), places_in(iris, predicates)
    counts = _counts(graph.triples[:, 1], relation) + _counts(graph.attributes.predicate, predicate)
    entity = graph.find(iris)
    labels = graph.names.take(pa.array(np.maximum(entity, 0), mask=entity < 0)) if graph.size else strings()
    names = pc.coalesce(labels, local_names(iris, np.full(len(iris), Role.PROPERTY, np.int8)))
    columns = iris.to_pylist(), names.to_pylist(), relation.tolist(), predicate.tolist(), counts.tolist()
    found = [Property(iri, name or last_part(iri), *rest) for iri, name, *rest in zip(*columns, strict=True)]
    return sorted(found, key=lambda entry: (-entry.uses, entry.iri))


def _counts(used: Int32, positions: Int32) -> Int64:
    """How often each position is used; 0 for -1."""
    counts = np.append(np.bincount(used, minlength=int(positions.max(initial=-1)) + 1), 0)
    return np.asarray(counts[positions], np.int64)
