"""`GraphBuilder`: collects statements from any reader and makes one canonical `KnowledgeGraph` of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.interning import Bytes, StringTable
from largeea.formats.naming import Naming, name_entities
from largeea.graph import Attributes, Int32, Int64, KnowledgeGraph, ReadCounts, Strings

Spans = tuple[Bytes, Int64, Int64]
"""Strings as places in a buffer: `(buffer, starts[n], ends[n])`."""


class GraphBuilder:
    """Takes statements in any order and number; `build` sorts, removes duplicates and names the entities."""

    def __init__(self) -> None:
        self.nodes = StringTable()
        self.predicates = StringTable()
        self.values = StringTable()
        self.tags = StringTable()
        self._triples: list[Int32] = []
        self._literals: list[Int32] = []
        self.files = 0
        self.rejected = 0

    def add_triples(self, head: Int32, relation: Int32, tail: Int32) -> None:
        """Triples by the numbers that `nodes` and `predicates` gave."""
        self._triples.append(np.column_stack([head, relation, tail]))

    def add_literals(self, entity: Int32, predicate: Int32, value: Int32, tag: Int32) -> None:
        """Literals by the numbers that `nodes`, `predicates`, `values` and `tags` gave."""
        self._literals.append(np.column_stack([entity, predicate, value, tag]))

    def add_named(self, entity: Int32, predicate: str, values: Strings, tag: str = "") -> None:
        """One literal per entity under one predicate; nulls are left out."""
        valid = np.asarray(pc.is_valid(values))
        count = int(valid.sum())
        predicates = np.full(count, self.predicates.number_column(pa.array([predicate]))[0])
        tags = np.full(count, self.tags.number_column(pa.array([tag]))[0])
        self.add_literals(entity[valid], predicates, self.values.number_column(values.filter(valid)), tags)

    def build(self, naming: Naming) -> KnowledgeGraph:
        """The graph. The builder is spent afterwards: its columns are given up one by one to save memory."""
        entities, entity_at = _sorted(self.nodes)
        predicates, predicate_at = _sorted(self.predicates)
        tags, tag_at = _tags(self.tags)
        self.nodes, self.predicates, self.tags = StringTable(), StringTable(), StringTable()

        triples = _gathered(self._triples, 3)
        read_triples = len(triples)
        for column, places in enumerate((entity_at, predicate_at, entity_at)):
            triples[:, column] = places[triples[:, column]]
        triples = unique_rows(triples)
        relations, triples[:, 1] = _used(predicates, triples[:, 1])

        literals = _gathered(self._literals, 4)
        read_literals = len(literals)
        values, value_at = _by_content(self.values)
        self.values = StringTable()
        for column, places in enumerate((entity_at, predicate_at, value_at, tag_at)):
            literals[:, column] = places[literals[:, column]]
        literals = unique_rows(literals)
        attribute_predicates, literals[:, 1] = _used(predicates, literals[:, 1])
        attributes = Attributes(literals, attribute_predicates, values, tags)

        statements, kept = read_triples + read_literals, len(triples) + len(literals)
        counts = ReadCounts(
            self.files, statements, len(triples), len(literals), statements - kept, self.rejected
        )
        names = name_entities(entities, attributes, naming)
        return KnowledgeGraph(entities, names, relations, triples, attributes, counts)


def unique_rows(rows: Int32) -> Int32:
    """Rows sorted by their columns from left to right, each once."""
    if len(rows) < 2:
        return rows
    unique: Int32
    widths = [max(int(column.max()), 1).bit_length() for column in rows.T]
    if sum(widths) > 63:
        rows = rows[np.lexsort(rows.T[::-1])]
        unique = rows[np.append(True, (rows[1:] != rows[:-1]).any(axis=1))]
        return unique
    packed = np.zeros(len(rows), np.int64)
    for column, width in zip(rows.T, widths, strict=True):
        packed <<= width
        packed |= column
    packed.sort()
    packed = packed[np.append(True, packed[1:] != packed[:-1])]
    unique = np.empty((len(packed), rows.shape[1]), np.int32)
    for column in range(rows.shape[1] - 1, -1, -1):
        unique[:, column] = packed & ((1 << widths[column]) - 1)
        packed >>= widths[column]
    return unique


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
    """Tags in order, languages in lower case, `xsd:string` as none, and each number's new place."""
    found = table.strings()
    folded = pc.if_else(pc.starts_with(found, "@"), pc.utf8_lower(found), found)
    folded = pc.if_else(pc.equal(folded, "http://www.w3.org/2001/XMLSchema#string"), "", folded)
    tags = pc.unique(folded).sort()
    return tags, np.asarray(pc.index_in(folded, value_set=tags), np.int32)


def _places(order: npt.NDArray[np.integer]) -> Int32:
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def _used(vocabulary: Strings, column: Int32) -> tuple[Strings, Int32]:
    """Only the words in use, and the column in their terms."""
    used, renumbered = np.unique(column, return_inverse=True)
    return vocabulary.take(pa.array(used)), renumbered.astype(np.int32)
