"""`GraphBuilder`: collects statements from any reader and makes one canonical `KnowledgeGraph` of them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.distinct import sorted_distinct
from largeea.formats.folding import Statements
from largeea.formats.name_guess import with_guessed_names
from largeea.formats.naming import LABEL_PREDICATES, Naming, name_entities
from largeea.formats.ontology import plain
from largeea.formats.prefixes import CUSTOMARY, Curies
from largeea.formats.roles import roles_of
from largeea.formats.vocabularies import STRING
from largeea.graph import Attributes, Int32, KnowledgeGraph, ReadCounts, Strings
from largeea.graph.interning import StringTable
from largeea.graph.lookup import distinct, places_in


class GraphBuilder:
    """Takes statements in any order; `build` sorts them, removes duplicates and names the entities.

    Readers count in `files`, `scanned`, `skipped` and `rejected` what they find in the files (see
    `ReadCounts`); `statements` is what they handed over.
    """

    keeps_directions = False
    """Whether languages keep the base direction of the text (RDF 1.2), which says nothing about an entity."""

    def __init__(self) -> None:
        self.nodes = StringTable()
        self.predicates = StringTable()
        self.values = StringTable()
        self.tags = StringTable()
        self._triples: list[Int32] = []
        self._literals: list[Int32] = []
        self.prefixes: dict[str, str] = {}
        self.files = self.scanned = self.skipped = self.rejected = self.statements = 0

    def add_triples(self, head: Int32, relation: Int32, tail: Int32) -> None:
        """Add triples, given by numbers of `nodes` and `predicates`."""
        self.statements += len(head)
        self._triples.append(np.column_stack([head, relation, tail]))

    def add_literals(self, entity: Int32, predicate: Int32, value: Int32, tag: Int32) -> None:
        """Add literals, given by numbers of `nodes`, `predicates`, `values` and `tags`."""
        self.statements += len(entity)
        self._literals.append(np.column_stack([entity, predicate, value, tag]))

    def add_named(self, entity: Int32, predicate: str, values: Strings, tag: str = "") -> None:
        """Add one literal per entity under one predicate; nulls are left out."""
        valid = np.asarray(pc.is_valid(values))
        count = int(valid.sum())
        predicates = np.full(count, self.predicates.number_column(pa.array([predicate]))[0])
        tags = np.full(count, self.tags.number_column(pa.array([tag]))[0])
        self.add_literals(entity[valid], predicates, self.values.number_column(values.filter(valid)), tags)

    def build(self, naming: Naming, rdf: bool = False, same_iri: bool = True) -> KnowledgeGraph:
        """The graph. The builder cannot be used again: it gives up its columns one by one to save memory.

        `rdf` says that the statements are RDF: helper nodes are folded and entities get roles (see
        `largeea.formats.ontology`), and unless `same_iri` is False, equal IRIs identify the same entity.
        """
        statements = self._distinct_statements()
        if rdf:
            statements = plain(statements)
        roles = roles_of(statements) if rdf else np.zeros(len(statements.entities), np.int8)
        entities, triples, literals = statements.entities, statements.triples, statements.literals
        relations, triples[:, 1] = _used(statements.predicates, triples[:, 1])
        attribute_predicates, literals[:, 1] = _used(statements.predicates, literals[:, 1])
        attributes = Attributes(literals, attribute_predicates, statements.values, statements.tags)
        counts = statements.counts + ReadCounts(
            files=self.files,
            scanned=self.scanned,
            skipped=self.skipped,
            rejected=self.rejected,
            statements=self.statements,
            triples=len(triples),
            literals=len(literals),
        )
        curies = Curies(CUSTOMARY | self.prefixes)
        labels = tuple(curies.term(predicate, attribute_predicates) for predicate in naming.predicates)
        naming = replace(naming, predicates=labels)
        names = name_entities(entities, attributes, naming, roles)
        chosen = () if naming.predicates == LABEL_PREDICATES else naming.predicates
        graph = KnowledgeGraph(
            entities,
            names,
            relations,
            triples,
            attributes,
            counts,
            chosen,
            roles,
            global_ids=rdf and same_iri,
            prefixes=self.prefixes,
        )
        return graph if chosen or not rdf else with_guessed_names(graph, naming)

    def _distinct_statements(self) -> Statements:
        """All statements, sorted and each once. Triples and literals are sorted in two threads."""
        predicates, predicate_at = _sorted(self.predicates)
        tags, tag_at = _tags(self.tags)
        with ThreadPoolExecutor(1) as beside:
            by_content = beside.submit(_by_content, self.values)
            entities, entity_at = _sorted(self.nodes)
            self.nodes, self.predicates, self.tags = StringTable(), StringTable(), StringTable()
            sorted_triples = beside.submit(
                _renumbered, _gathered(self._triples, 3), (entity_at, predicate_at, entity_at)
            )
            values, value_at = by_content.result()
            self.values = StringTable()
            places = entity_at, predicate_at, value_at, tag_at
            literals, repeated_literals = _renumbered(_gathered(self._literals, 4), places)
            triples, repeated_triples = sorted_triples.result()
        duplicates = ReadCounts(duplicates=repeated_triples + repeated_literals)
        return Statements(entities, predicates, triples, literals, values, tags, duplicates)


def _renumbered(rows: Int32, places: tuple[Int32, ...]) -> tuple[Int32, int]:
    """Rows with each column's numbers replaced by places, sorted and distinct, and the repetitions."""
    for column, place in enumerate(places):
        rows[:, column] = place[rows[:, column]]
    return sorted_distinct(rows)


def _gathered(chunks: list[Int32], width: int) -> Int32:
    """All chunks as one array; the list is emptied on the way."""
    rows = np.empty((sum(map(len, chunks)), width), np.int32)
    end = len(rows)
    while chunks:
        chunk = chunks.pop()
        if chunk.min(initial=0) < 0:
            raise ValueError("a statement lacks a term: a missing string has no number")
        rows[end - len(chunk) : end] = chunk
        end -= len(chunk)
    return rows


def _sorted(table: StringTable) -> tuple[Strings, Int32]:
    """The strings in order, and each number's new place."""
    found = table.strings()
    order = np.asarray(pc.sort_indices(found))
    return found.take(pa.array(order)), _places(order)


def _by_content(table: StringTable) -> tuple[Strings, Int32]:
    """The strings ordered by hash: independent of the order of reading, and cheaper than sorting text."""
    found = table.strings()
    order = table.order_by_hash()
    return found.take(pa.array(order)), _places(order)


def _tags(table: StringTable) -> tuple[Strings, Int32]:
    """Tags in order, languages in lower case, `xsd:string` as no tag, and each number's new place."""
    found = table.strings()
    folded = pc.if_else(pc.starts_with(found, "@"), pc.utf8_lower(found), found)
    folded = pc.if_else(pc.equal(folded, STRING), "", folded)
    tags = distinct(folded).sort()
    return tags, places_in(folded, tags)


def _places(order: npt.NDArray[np.integer]) -> Int32:
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _used(vocabulary: Strings, column: Int32) -> tuple[Strings, Int32]:
    """The words in use, and the column as positions among them."""
    used = np.bincount(column, minlength=len(vocabulary)) > 0
    places = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return vocabulary.filter(pa.array(used)), places[column]
