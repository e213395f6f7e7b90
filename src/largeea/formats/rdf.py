"""Reading RDF: every syntax is turned into N-Triples, which one fast scanner reads.

N-Triples and N-Quads are scanned directly. Turtle, TriG, RDF/XML and JSON-LD go through pyoxigraph first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, cast

import pyoxigraph as ox

from largeea.errors import InputError
from largeea.formats import sandbox
from largeea.formats.builder import GraphBuilder
from largeea.formats.guard import Guard, growth_allowed
from largeea.formats.ntriples import Scanned, scan_lines
from largeea.formats.oxigraph import as_n_triples, parsed
from largeea.formats.rejects import Rejects
from largeea.formats.statements import BlankNodes, StatementReader, explain
from largeea.formats.streams import (
    BLOCK_BYTES,
    MAX_EXPANSION,
    LineBlock,
    ahead,
    blocks_of_lines,
    open_bytes,
)
from largeea.formats.turtle_guard import TurtleCheck
from largeea.formats.xml_guard import XmlGuard

LINE_FORMATS = {"n-triples", "n-quads"}
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
_GUARDED: dict[str, tuple[ox.RdfFormat, Callable[[IO[bytes], Path], Guard]]] = {
    "turtle": (ox.RdfFormat.TURTLE, lambda stream, path: Guard(stream, path, TurtleCheck())),
    "trig": (ox.RdfFormat.TRIG, lambda stream, path: Guard(stream, path, TurtleCheck())),
    "rdf-xml": (ox.RdfFormat.RDF_XML, XmlGuard),
}
"""Formats parsed in this process, behind a guard against what a file could do to pyoxigraph."""


def read_rdf(path: Path, format: str, builder: GraphBuilder, rejects: Rejects, scope: str = "") -> None:
    """Add all statements of one file. `scope` keeps the blank nodes of several files apart."""
    builder.files += 1
    if format in LINE_FORMATS:
        reader = StatementReader(builder, rejects, path, BlankNodes(scope, keep_labels=True))
        for lines, scanned in ahead(_scanned_blocks(path, rejects)):
            builder.scanned += lines.count
            builder.skipped -= lines.rejected
            reader.add_block(lines.text, scanned, lines.first)
        return
    reader = StatementReader(builder, rejects, path, BlankNodes(scope, keep_labels=False))
    written = 0
    with open_bytes(path) as stream:
        try:
            for block, statements, seen in _parsed_blocks(stream, path, format):
                written += len(block)
                if written > growth_allowed(seen):
                    raise InputError(
                        f"its statements are more than {MAX_EXPANSION} times longer than the file; is a "
                        "namespace or a subject very long? If the file is genuine, give it as N-Triples",
                        path,
                    )
                builder.scanned += statements
                reader.add_block(block, scan_lines(block))
        except SyntaxError as error:
            raise InputError(explain(error), path, error.lineno) from None
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read as {format}: {error}", path) from None


def _scanned_blocks(path: Path, rejects: Rejects) -> Iterator[tuple[LineBlock, Scanned]]:
    for lines in blocks_of_lines(path, rejects):
        yield lines, scan_lines(lines.text)


def _parsed_blocks(stream: IO[bytes], path: Path, format: str) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of N-Triples, each with the number of its statements and of the bytes parsed so far."""
    base_iri = f"file:///{_as_iri(path.name)}"
    if format == "json-ld":
        yield from sandbox.parse_json_ld(stream, path, base_iri, BLOCK_BYTES)
        return
    syntax, guarded = _GUARDED[format]
    guard = guarded(stream, path)
    for block, statements in as_n_triples(parsed(cast(IO[bytes], guard), syntax, base_iri), BLOCK_BYTES):
        yield block, statements, guard.seen


def _as_iri(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
