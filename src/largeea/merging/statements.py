"""Statements as lines of N-Triples or N-Quads, written block by block."""

from __future__ import annotations

from typing import IO

import numpy as np
import pyarrow as pa

from largeea.formats.builder import GraphBuilder
from largeea.formats.links.text import joined, text_of
from largeea.graph import Int32, KnowledgeGraph, Strings
from largeea.graph.interning import StringTable
from largeea.merging.terms import Terms, quoted

ROWS_AT_ONCE = 1 << 16


class StatementLines:
    """Writes the statements of one graph to a stream; `written` counts them.

    `graph` is the name of their named graph as a term; None for N-Triples. `without_language` counts literals
    written without a malformed language.
    """

    def __init__(self, stream: IO[bytes], terms: Terms, graph: str | None) -> None:
        self._stream, self._terms = stream, terms
        self._end = " .\n" if graph is None else f" {graph} .\n"
        self.written = self.without_language = 0

    def add_terms(self, subject: Strings, predicate: Strings, object: Strings) -> None:
        """Write statements whose terms are N-Triples terms already, `[n]` each."""
        lines = joined(subject, " ", predicate, " ", object, self._end)
        self._stream.write(text_of(lines))
        self.written += len(lines)

    def add_triples(
        self, nodes: Strings, predicates: Strings, head: Int32, relation: Int32, tail: Int32
    ) -> None:
        """Write triples, given by positions in `nodes` and `predicates`."""
        node_terms, predicate_terms = self._terms.nodes(nodes), self._terms.iris(predicates)
        self.add_terms(_at(node_terms, head), _at(predicate_terms, relation), _at(node_terms, tail))

    def add_literals(
        self,
        nodes: Strings,
        predicates: Strings,
        values: Strings,
        tags: Strings,
        rows: tuple[Int32, Int32, Int32, Int32],
    ) -> None:
        """Write literals; `rows` are positions in nodes, predicates, values and tags, `[n]` each."""
        entity, predicate, value, tag = rows
        tag_terms, malformed = self._terms.tags(tags)
        if len(malformed):
            self.without_language += int(np.isin(tag, malformed).sum())
        self.add_terms(
            _at(self._terms.nodes(nodes), entity),
            _at(self._terms.iris(predicates), predicate),
            joined(_at(quoted(values), value), _at(tag_terms, tag)),
        )


class StatementStream(GraphBuilder):
    """Takes the place of a builder behind a reader of RDF and writes each block of statements at once.

    Readers number the terms of a block right before they add its statements, so the tables of terms are
    emptied after each block: memory does not grow with the file.
    """

    keeps_directions = True

    def __init__(self, lines: StatementLines) -> None:
        super().__init__()
        self._lines = lines

    def add_triples(self, head: Int32, relation: Int32, tail: Int32) -> None:
        """Write triples, given by numbers of `nodes` and `predicates`."""
        self.statements += len(head)
        self._lines.add_triples(self.nodes.strings(), self.predicates.strings(), head, relation, tail)
        self.nodes, self.predicates = StringTable(), StringTable()

    def add_literals(self, entity: Int32, predicate: Int32, value: Int32, tag: Int32) -> None:
        """Write literals, given by numbers of `nodes`, `predicates`, `values` and `tags`."""
        self.statements += len(entity)
        self._lines.add_literals(
            self.nodes.strings(),
            self.predicates.strings(),
            self.values.strings(),
            self.tags.strings(),
            rows=(entity, predicate, value, tag),
        )
        self.nodes, self.predicates = StringTable(), StringTable()
        self.values, self.tags = StringTable(), StringTable()


def write_graph(graph: KnowledgeGraph, lines: StatementLines) -> None:
    """Write the triples and literals of a graph in memory, a block of rows at a time."""
    for first in range(0, len(graph.triples), ROWS_AT_ONCE):
        head, relation, tail = graph.triples[first : first + ROWS_AT_ONCE].T
        used, place = np.unique(np.concatenate([head, tail]), return_inverse=True)
        ends = place.astype(np.int32).reshape(2, -1)
        lines.add_triples(_at(graph.entities, used), graph.relations, ends[0], relation, ends[1])
    literals = graph.attributes
    for first in range(0, len(literals), ROWS_AT_ONCE):
        entity, predicate, value, tag = literals.rows[first : first + ROWS_AT_ONCE].T
        entities, entity_place = np.unique(entity, return_inverse=True)
        values, value_place = np.unique(value, return_inverse=True)
        lines.add_literals(
            _at(graph.entities, entities),
            literals.predicates,
            _at(literals.values, values),
            literals.tags,
            rows=(entity_place.astype(np.int32), predicate, value_place.astype(np.int32), tag),
        )


def _at(column: Strings, places: Int32) -> Strings:
    return column.take(pa.array(places))
