"""RDF in: every syntax ends up as N-Triples, and one fast scanner reads those.

N-Triples and N-Quads are scanned directly; Turtle, TriG, RDF/XML and JSON-LD go through pyoxigraph first.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyoxigraph as ox

from largeea.errors import InputError
from largeea.formats import ntriples
from largeea.formats.builder import GraphBuilder
from largeea.formats.guard import Guard, growth_allowed
from largeea.formats.interning import Bytes, StringTable
from largeea.formats.jsonld_guard import JsonLdLook
from largeea.formats.oxigraph import parsed
from largeea.formats.rejects import Rejects
from largeea.formats.streams import BLOCK_BYTES, MAX_EXPANSION, ahead, blocks_of_lines, open_bytes
from largeea.formats.turtle_guard import TurtleLook
from largeea.formats.xml_guard import XmlGuard
from largeea.graph import Int32, Int64, Strings, strings

LINE_FORMATS = {"n-triples", "n-quads"}
_PARSED = {
    "turtle": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf-xml": ox.RdfFormat.RDF_XML,
    "json-ld": ox.RdfFormat.JSON_LD,
}
SUFFIXES = {
    ".nt": "n-triples",
    ".nq": "n-quads",
    ".ttl": "turtle",
    ".trig": "trig",
    ".rdf": "rdf-xml",
    ".owl": "rdf-xml",
    ".xml": "rdf-xml",
    ".jsonld": "json-ld",
    ".json": "json-ld",
}
_GUARDS: dict[str, Callable[[IO[bytes], Path], Guard]] = {
    "rdf-xml": XmlGuard,
    "json-ld": lambda stream, path: Guard(stream, path, JsonLdLook()),
    "turtle": lambda stream, path: Guard(stream, path, TurtleLook()),
    "trig": lambda stream, path: Guard(stream, path, TurtleLook()),
}
"""What a file can do to pyoxigraph depends on its format; the guard reads ahead of it."""
_DOUBTFUL_AT_ONCE = 10_000
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_NO_TRIPLE_TERMS = "a statement about a statement (triple term) is not supported"
_LANGUAGE_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"


def read_rdf(path: Path, format: str, builder: GraphBuilder, rejects: Rejects, scope: str = "") -> None:
    """Add all statements of one file. `scope` keeps the blank nodes of several files apart."""
    builder.files += 1
    if format in LINE_FORMATS:
        reader = _StatementReader(builder, rejects, path, _BlankNodes(scope, keep_labels=True))
        for line, block, scanned in ahead(_scanned_blocks(path, rejects)):
            reader.add_block(block, scanned, line)
        return
    reader = _StatementReader(builder, rejects, path, _BlankNodes(scope, keep_labels=False))
    with open_bytes(path) as stream:
        guard = _GUARDS[format](stream, path)
        try:
            quads = parsed(cast(IO[bytes], guard), _PARSED[format], base_iri=f"file:///{_as_iri(path.name)}")
            for block in _as_n_triples(quads, guard, path):
                reader.add_block(block, ntriples.scan_lines(block))
        except SyntaxError as error:
            raise InputError(_explain(error), path, error.lineno) from None
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read as {format}: {error}", path) from None


def _as_n_triples(quads: Iterator[Any], guard: Guard, path: Path) -> Iterator[bytes]:
    """Statements as blocks of N-Triples. They may be far longer than what they came from, but not endless."""
    written = 0
    while True:
        block = io.BytesIO()

        def until_full(block: io.BytesIO = block) -> Iterator[Any]:
            while block.tell() < BLOCK_BYTES and (quad := next(quads, None)) is not None:
                yield quad.triple

        ox.serialize(until_full(), block, format=ox.RdfFormat.N_TRIPLES)
        if not block.tell():
            return
        written += block.tell()
        if written > growth_allowed(guard.seen):
            raise InputError(
                f"its statements are more than {MAX_EXPANSION} times longer than the file; is a namespace "
                "or a subject very long? If the file is genuine, give it as N-Triples",
                path,
            )
        yield block.getvalue()


def _scanned_blocks(path: Path, rejects: Rejects) -> Iterator[tuple[int, bytes, ntriples.Scanned]]:
    for line, block in blocks_of_lines(path, rejects):
        yield line, block, ntriples.scan_lines(block)


class _StatementReader:
    def __init__(self, builder: GraphBuilder, rejects: Rejects, path: Path, blank_nodes: _BlankNodes) -> None:
        self._builder, self._rejects, self._path, self._blank_nodes = builder, rejects, path, blank_nodes

    def add_block(self, block: bytes, scanned: ntriples.Scanned, first_line: int | None = None) -> None:
        """Add a block of N-Triples lines; `first_line` is the number of the first one in the file, if any."""
        data = np.frombuffer(block, np.uint8)
        builder = self._builder
        found = scanned.triples
        if found.size:
            builder.add_triples(
                self._nodes(data, *_span(found, ntriples.SUBJECT)),
                builder.predicates.number(data, *_span(found, ntriples.PREDICATE)),
                self._nodes(data, *_span(found, ntriples.OBJECT)),
            )
        found = scanned.literals
        if found.size:
            text, offsets = ntriples.unescape(data, *_span(found, ntriples.OBJECT))
            builder.add_literals(
                self._nodes(data, *_span(found, ntriples.SUBJECT)),
                builder.predicates.number(data, *_span(found, ntriples.PREDICATE)),
                builder.values.number(text, offsets[:-1], offsets[1:]),
                builder.tags.number(data, *_span(found, ntriples.TAG)),
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
        """Lines the scanner does not decide: pyoxigraph takes or refuses them."""
        try:
            self._add_parsed(b"".join(line for _, line in lines))
        except (SyntaxError, InputError):
            for number, line in lines:
                try:
                    self._add_parsed(line)
                except (SyntaxError, InputError) as error:
                    self._rejects.add(self._path, number, _explain(error), line)

    def _add_parsed(self, lines: bytes) -> None:
        if reason := TurtleLook()(lines):
            raise InputError(f"{reason}, which is refused for safety")
        self._add_quads(parsed(lines, ox.RdfFormat.N_QUADS))

    def _add_quads(self, quads: Iterable[Any]) -> None:
        triples: list[tuple[str, str, str]] = []
        literals: list[tuple[str, str, str, str]] = []
        for quad in quads:
            subject, value = _node_text(quad.subject), quad.object
            if isinstance(value, ox.Literal):
                literals.append((subject, quad.predicate.value, value.value, _tag(value)))
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


class _BlankNodes:
    """Blank nodes are local to their file, and pyoxigraph labels anonymous ones at random.

    Labels written in a line format stay, behind the file's scope; others become numbers in order of sight.
    """

    def __init__(self, scope: str, keep_labels: bool) -> None:
        self._scope, self._keep_labels = scope, keep_labels
        self._table = StringTable()
        self.as_written = keep_labels and not scope

    def labels(self, data: Bytes, starts: Int64, ends: Int64) -> Strings:
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


def _node_text(node: Any) -> str:
    if isinstance(node, ox.NamedNode):
        return node.value
    if isinstance(node, ox.BlankNode):
        return f"_:{node.value}"
    raise InputError(_NO_TRIPLE_TERMS)


def _tag(literal: ox.Literal) -> str:
    if literal.language:
        return f"@{literal.language}"
    datatype = literal.datatype.value
    return "" if datatype in (_STRING, _LANGUAGE_STRING) else datatype


def _as_iri(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)


def _explain(error: Exception) -> str:
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    if "LoadDocumentCallback" in text:
        return "uses a remote JSON-LD context, which is never fetched; put the context into the file itself"
    return text.split(": ", 1)[1] if text.startswith("Parser error ") and ": " in text else text
