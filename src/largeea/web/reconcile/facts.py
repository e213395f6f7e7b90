"""What a graph says about its entities, looked up by entity: identifier, name, description and values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.prefixes import last_part
from largeea.formats.vocabularies import DC, DC_TERMS, RDFS, SCHEMA, SKOS
from largeea.graph import Int32, KnowledgeGraph, strings
from largeea.graph.lookup import counted, places_in
from largeea.web.reconcile.lookup import RowsByKey, SortedTexts

DESCRIPTIONS = (
    *(schema + "description" for schema in SCHEMA),
    DC_TERMS + "description",
    DC + "description",
    SKOS + "definition",
    RDFS + "comment",
    "http://dbpedia.org/ontology/abstract",
)
"""Predicates of descriptions, the best first."""
LONGEST_DESCRIPTION = 200
_NAMESPACE = r"^(?P<space>.*[#/:])"


class Literal(NamedTuple):
    """A literal value and its tag, as in `Attributes`."""

    text: str
    tag: str


Value = Literal | int
"""A literal, or the entity that a triple leads to."""


class Property(NamedTuple):
    """A property of the graph: a relation, a predicate of literals, or both; -1 for neither."""

    iri: str
    name: str
    relation: int
    predicate: int
    uses: int
    """Statements that have it."""


class Facts:
    """The facts of a graph.

    Example: `facts = Facts(graph); facts.name(facts.find("http://example.org/a"))`.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        attributes = graph.attributes
        self.graph = graph
        self.linkable = graph.linkable
        """Mask of the entities that the service offers, `[size]`."""
        self.space = self._most_common_namespace()
        """The namespace of most identifiers; "" if they are no IRIs."""
        self._by_iri = SortedTexts.of(graph.entities)
        self._outgoing = RowsByKey.of(graph.triples[:, 0], graph.size)
        self._incoming = RowsByKey.of(graph.triples[:, 2], graph.size)
        self._literals = RowsByKey.of(attributes.entity, graph.size)
        self._by_value = RowsByKey.of(attributes.value, len(attributes.values))
        self._values = SortedTexts.of(attributes.values)
        ranks = places_in(attributes.predicates, strings(DESCRIPTIONS))
        self._description_ranks = np.where(ranks < 0, np.int32(len(DESCRIPTIONS)), ranks)

    def iri(self, entity: int) -> str:
        """The identifier of an entity."""
        iri: str = self.graph.entities[entity].as_py()
        return iri

    def name(self, entity: int) -> str:
        """The name of an entity; without one, the last part of its identifier."""
        name: str | None = self.graph.names[entity].as_py()
        return name or last_part(self.iri(entity))

    def find(self, identifier: str) -> int:
        """The entity with this IRI, or with this IRI after the identifier space; -1 if there is none."""
        for iri in (identifier, self.space + identifier):
            found = self._by_iri.rows_of(iri)
            if len(found):
                return int(found[0])
        return -1

    def description(self, entity: int) -> str | None:
        """The description of an entity, shortened; None if it has none."""
        rows = self.graph.attributes.rows[self._literals[entity]]
        ranks = self._description_ranks[rows[:, 1]]
        if ranks.min(initial=len(DESCRIPTIONS)) == len(DESCRIPTIONS):
            return None
        text: str = self.graph.attributes.values[rows[np.argmin(ranks), 2]].as_py()
        return text if len(text) <= LONGEST_DESCRIPTION else text[: LONGEST_DESCRIPTION - 1] + "…"

    def values(self, entity: int, wanted: Property, most: int) -> list[Value]:
        """Up to `most` values of a property of an entity: literals first, then linked entities."""
        found: list[Value] = []
        attributes = self.graph.attributes
        if wanted.predicate >= 0:
            rows = attributes.rows[self._literals[entity]]
            for _, _, value, tag in rows[rows[:, 1] == wanted.predicate][:most].tolist():
                found.append(Literal(attributes.values[value].as_py(), attributes.tags[tag].as_py()))
        if wanted.relation >= 0:
            triples = self.graph.triples[self._outgoing[entity]]
            found += triples[triples[:, 1] == wanted.relation, 2][: most - len(found)].tolist()
        return found

    def used(self, entity: int, properties: Sequence[Property]) -> Iterator[Property]:
        """Those of the properties that an entity has a value of, in their order."""
        predicates = set(self.graph.attributes.predicate[self._literals[entity]].tolist())
        relations = set(self.graph.triples[self._outgoing[entity], 1].tolist())
        for entry in properties:
            if entry.relation in relations or entry.predicate in predicates:
                yield entry

    def entities_with(self, wanted: Property, value: str | int, most: int) -> Int32:
        """Up to `most` entities whose property has a value: a literal of this text, or an entity."""
        if isinstance(value, int):
            rows = self._incoming[value]
            heads = self.graph.triples[rows[self.graph.triples[rows, 1] == wanted.relation], 0]
        else:
            attributes = self.graph.attributes
            equal = [self._by_value[place] for place in self._values.rows_of(value).tolist()]
            rows = np.concatenate([*equal, np.empty(0, np.int32)])
            heads = attributes.entity[rows[attributes.predicate[rows] == wanted.predicate]]
        return np.unique(heads[self.linkable[heads]])[:most]

    def _most_common_namespace(self) -> str:
        served = self.graph.entities.filter(pa.array(self.linkable))
        spaces = pc.struct_field(pc.extract_regex(served, _NAMESPACE), ["space"]).drop_null()
        values, counts = counted(spaces)
        return max(zip(counts.tolist(), values.to_pylist(), strict=True), default=(0, ""))[1]
