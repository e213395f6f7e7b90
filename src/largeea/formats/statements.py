"""From lines of N-Triples to statements in a builder."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyoxigraph as ox

from largeea.errors import InputError
from largeea.formats.builder import GraphBuilder
from largeea.formats.ntriples import Scanned, unescape
from largeea.formats.oxigraph import parsed
from largeea.formats.rejects import Rejects
from largeea.formats.scanner import OBJECT, PREDICATE, SUBJECT, TAG
from largeea.formats.turtle_guard import TurtleCheck
from largeea.formats.vocabularies import RDF, STRING
from largeea.graph import Int32, Int64, Strings, strings
from largeea.graph.interning import Bytes, StringTable

_DOUBTFUL_AT_ONCE = 10_000
_TAGGED_LITERAL = re.compile(
    rb"""(?P<literal>\s*\S+\s+\S+\s+"[^"\\]*(?:\\.[^"\\]*)*")"""
    rb"""(?P<tag>@[^\s<]*?|\^\^<[^<>]*>|\^\^[^\s<]*?)(?P<end>\s*(?:<[^<>]*>\s*|_:[^\s:]+\s+)?\.\s*(?:\#.*)?)""",
    re.DOTALL,
)
"""A line with a literal and its language tag or datatype, well-formed or not."""
_LANGUAGE_STRING = RDF + "langString"


class StatementReader:
    """Adds blocks of N-Triples lines to a builder; lines the scanner does not recognise go to pyoxigraph.

    `triples_only` is for lines that pyoxigraph wrote without checking IRIs and language tags: with a `>` in
    an IRI, such a line can look like another statement. So it must come out of the parser as it went in.
    """

    def __init__(
        self,
        builder: GraphBuilder,
        rejects: Rejects,
        path: Path,
        blank_nodes: BlankNodes,
        triples_only: bool = False,
    ) -> None:
        self._builder, self._rejects, self._path, self._blank_nodes = builder, rejects, path, blank_nodes
        self._triples_only = triples_only

    def add_block(self, block: bytes, scanned: Scanned, first_line: int | None = None) -> None:
        """Add a block; `first_line` is the number of its first line in the file, if the file has lines."""
        data = np.frombuffer(block, np.uint8)
        builder = self._builder
        builder.skipped += scanned.nothing
        found = scanned.triples
        if found.size:
            builder.add_triples(
                self._nodes(data, *_span(found, SUBJECT)),
                builder.predicates.number(data, *_span(found, PREDICATE)),
                self._nodes(data, *_span(found, OBJECT)),
            )
        found = scanned.literals
        if found.size:
            text, offsets = unescape(data, *_span(found, OBJECT))
            builder.add_literals(
                self._nodes(data, *_span(found, SUBJECT)),
                builder.predicates.number(data, *_span(found, PREDICATE)),
                builder.values.number(text, offsets[:-1], offsets[1:]),
                builder.tags.number(data, *_span(found, TAG)),
            )
        lines = scanned.lines
        for start in range(0, len(scanned.unsure), _DOUBTFUL_AT_ONCE):
            self._add_doubtful(
                [
                    (None if first_line is None else first_line + i, block[lines[i] : lines[i + 1]])
                    for i in scanned.unsure[start : start + _DOUBTFUL_AT_ONCE].tolist()
                ]
            )

    def _nodes(self, data: Bytes, starts: Int64, ends: Int64) -> Int32:
        """Numbers of subjects or objects; blank nodes get the labels of this file."""
        blank = data[starts] == ord("_")
        nodes = self._builder.nodes
        if not blank.any() or self._blank_nodes.as_written:
            return nodes.number(data, starts, ends)
        numbers = nodes.number(data, np.where(blank, -1, starts), ends)
        numbers[blank] = nodes.number_column(self._blank_nodes.labels(data, starts[blank], ends[blank]))
        return numbers

    def _add_doubtful(self, lines: list[tuple[int | None, bytes]]) -> None:
        """Lines that pyoxigraph accepts or rejects: all at once, or one by one if some are rejected."""
        try:
            self._add_parsed(b"".join(line for _, line in lines), len(lines))
        except (SyntaxError, InputError):
            for number, line in lines:
                try:
                    self._add_parsed(line, 1)
                except (SyntaxError, InputError) as error:
                    self._repair(number, line, explain(error))

    def _repair(self, number: int | None, line: bytes, reason: str) -> None:
        """Add a malformed line without its language tag or datatype, if that is what is wrong with it."""
        tagged = _TAGGED_LITERAL.fullmatch(line)
        try:
            if tagged is None:
                raise SyntaxError(reason)
            self._add_parsed(tagged["literal"] + tagged["end"], 1)
        except (SyntaxError, InputError):
            self._rejects.add(self._path, number, reason, line)
            return
        part = "language tag" if tagged["tag"].startswith(b"@") else "datatype"
        self._rejects.add_repaired(self._path, number, part, reason, line)

    def _add_parsed(self, text: bytes, lines: int) -> None:
        """Add what pyoxigraph makes of some lines: a carriage return can make none or several of one."""
        if reason := TurtleCheck()(text):
            raise InputError(f"{reason}, which is refused for safety")
        quads = list(parsed(text, ox.RdfFormat.N_QUADS))
        if self._triples_only and not _is_written_as(quads, text):
            raise SyntaxError("an IRI or language tag holds a character that is not allowed there")
        self._add_quads(quads)
        more = len(quads) - lines
        self._builder.scanned += max(more, 0)
        self._builder.skipped += max(-more, 0)

    def _add_quads(self, quads: list[Any]) -> None:
        triples: list[tuple[str, str, str]] = []
        literals: list[tuple[str, str, str, str]] = []
        for quad in quads:
            subject, value = _node_text(quad.subject), quad.object
            if isinstance(value, ox.Literal):
                literals.append((subject, quad.predicate.value, value.value, self._tag(value)))
            else:
                triples.append((subject, quad.predicate.value, _node_text(value)))
        builder = self._builder
        if triples:
            heads, relations, tails = (_spans(column) for column in zip(*triples, strict=True))
            builder.add_triples(
                self._nodes(*heads), builder.predicates.number(*relations), self._nodes(*tails)
            )
        if literals:
            subjects, predicates, values, tags = (_spans(column) for column in zip(*literals, strict=True))
            builder.add_literals(
                self._nodes(*subjects),
                builder.predicates.number(*predicates),
                builder.values.number(*values),
                builder.tags.number(*tags),
            )

    def _tag(self, literal: ox.Literal) -> str:
        """The language of a literal, with its base direction if that is kept, or its datatype."""
        if literal.language:
            keep = self._builder.keeps_directions and literal.direction
            return f"@{literal.language}--{literal.direction}" if keep else f"@{literal.language}"
        datatype = literal.datatype.value
        return "" if datatype in (STRING, _LANGUAGE_STRING) else datatype


class BlankNodes:
    """Labels of blank nodes, which are local to their file; pyoxigraph labels anonymous ones at random.

    Labels written in a line format are kept, behind the file's scope; others are numbered in the order of
    their first appearance.
    """

    def __init__(self, scope: str, keep_labels: bool) -> None:
        self._scope, self._keep_labels = scope, keep_labels
        self._table = StringTable()
        self.as_written = keep_labels and not scope

    def labels(self, data: Bytes, starts: Int64, ends: Int64) -> Strings:
        """The labels of the blank nodes `data[starts[i]:ends[i]]`, `[n]`."""
        table = StringTable() if self._keep_labels else self._table
        numbers = pa.array(table.number(data, starts + 2, ends))
        names = table.strings().take(numbers) if self._keep_labels else numbers.cast(pa.large_string())
        prefix, nothing = strings([f"_:{self._scope}", ""])
        return pc.binary_join_element_wise(prefix, names, nothing)


def _span(statements: Int64, term: int) -> tuple[Int64, Int64]:
    return statements[term], statements[term + 1]


def _spans(column: tuple[str, ...]) -> tuple[Bytes, Int64, Int64]:
    parts = [text.encode() for text in column]
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return np.frombuffer(b"".join(parts) or b"\0", np.uint8), offsets[:-1], offsets[1:]


def _is_written_as(quads: list[Any], text: bytes) -> bool:
    """Whether the quads, written as N-Triples, are the text; languages may be in other case."""
    written = io.BytesIO()
    ox.serialize((quad.triple for quad in quads), written, format=ox.RdfFormat.N_TRIPLES)
    return written.getvalue().lower() == text.lower()


def _node_text(node: Any) -> str:
    if isinstance(node, ox.NamedNode):
        return node.value
    if isinstance(node, ox.BlankNode):
        return f"_:{node.value}"
    raise InputError("a statement about a statement (triple term) is not supported")


def explain(error: Exception) -> str:
    """What a parser's error says, without its place."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    if "LoadDocumentCallback" in text:
        return "uses a remote JSON-LD context, which is never fetched; put the context into the file itself"
    return text.split(": ", 1)[1] if text.startswith("Parser error ") and ": " in text else text
