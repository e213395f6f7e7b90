"""Reading RDF: every syntax is turned into N-Triples, which one fast scanner reads.

N-Triples and N-Quads are scanned directly. Turtle, TriG, RDF/XML and JSON-LD go through pyoxigraph first,
which does not check IRIs and language tags then: the scanner does, statement by statement.
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
from largeea.formats.ntriples import scan_lines
from largeea.formats.oxigraph import as_n_triples, parsed
from largeea.formats.prefixes import add_declared
from largeea.formats.rejects import Rejects
from largeea.formats.statements import BlankNodes, StatementReader, explain
from largeea.formats.streams import (
    BLOCK_BYTES,
    MAX_EXPANSION,
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

_ERRORS_OF_A_STATEMENT = 10
"""The parser may stumble this often over one statement; more errors on the same line count one by one."""
_MOST_ERRORS_OF_A_LINE = 1000
"""Beyond it, the line is not text of this format, and each error would take longer to find than the last."""


def read_rdf(path: Path, format: str, builder: GraphBuilder, rejects: Rejects, scope: str = "") -> None:
    """Add all statements of one file. `scope` keeps the blank nodes of several files apart.

    A malformed statement is added to `rejects` instead. If all of them are malformed, and the user has not
    said how many may be, that is an `InputError`.
    """
    builder.files += 1
    statements, rejected = builder.statements, len(rejects)
    if format in LINE_FORMATS:
        _read_lines(path, builder, rejects, scope)
    else:
        _read_parsed(path, format, builder, rejects, scope)
    if rejects.max_errors is None and builder.statements == statements and len(rejects.lines) > rejected:
        first = rejects.lines[rejected]
        raise InputError(
            f"{first.reason}\n  {first.text[:120]!r}\nNo statement of the file is valid {format}. Is it "
            "another format? Correct the file, or say which format it is with --format",
            path,
            first.line,
        )


def _read_lines(path: Path, builder: GraphBuilder, rejects: Rejects, scope: str) -> None:
    reader = StatementReader(builder, rejects, path, BlankNodes(scope, keep_labels=True))
    scanned_blocks = ((lines, scan_lines(lines.text)) for lines in blocks_of_lines(path))
    for lines, scanned in ahead(scanned_blocks):
        builder.scanned += lines.count
        builder.skipped -= lines.rejected
        lines.reject_undecodable(path, rejects)
        reader.add_block(lines.text, scanned, lines.first)


def _read_parsed(path: Path, format: str, builder: GraphBuilder, rejects: Rejects, scope: str) -> None:
    reader = StatementReader(builder, rejects, path, BlankNodes(scope, keep_labels=False), triples_only=True)
    written, prefixes = 0, dict[str, str]()

    def reject(error: SyntaxError, text: bytes) -> None:
        builder.scanned += 1
        rejects.saw(1)
        rejects.add(path, error.lineno, explain(error), text)

    with open_bytes(path) as stream:
        try:
            for block, statements, seen in _parsed_blocks(stream, path, format, reject, prefixes):
                written += len(block)
                if written > growth_allowed(seen):
                    raise InputError(
                        f"its statements are more than {MAX_EXPANSION} times longer than the file; is a "
                        "namespace or a subject very long? If the file is genuine, give it as N-Triples",
                        path,
                    )
                builder.scanned += statements
                rejects.saw(statements)
                reader.add_block(block, scan_lines(block, triples_only=True))
            add_declared(builder.prefixes, prefixes)
        except SyntaxError as error:
            raise InputError(explain(error), path, error.lineno) from None
        except (OSError, ValueError) as error:
            raise InputError(f"cannot be read as {format}: {error}", path) from None


def _parsed_blocks(
    stream: IO[bytes],
    path: Path,
    format: str,
    reject: Callable[[SyntaxError, bytes], None],
    prefixes: dict[str, str],
) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of N-Triples, each with the number of its statements and of the bytes parsed so far.

    A statement of Turtle or TriG that cannot be parsed is passed to `reject` with the line of the error. In
    RDF/XML and JSON-LD pyoxigraph would go on with wrong statements, so an error ends the file. At the end,
    the prefixes that the file declares are in `prefixes`.
    """
    base_iri = base_iri_of(path)
    if format == "json-ld":
        yield from sandbox.parse_json_ld(stream, path, base_iri, BLOCK_BYTES, prefixes)
        return
    syntax, guarded = _GUARDED[format]
    guard = guarded(stream, path)
    line, errors = 0, 0

    def on_error(error: SyntaxError) -> None:
        nonlocal line, errors
        line, errors = error.lineno or 0, errors + 1 if error.lineno == line else 1
        if errors == 1 or errors > _ERRORS_OF_A_STATEMENT:
            reject(error, guard.line(line))
        if errors > _MOST_ERRORS_OF_A_LINE:
            raise error

    on_errors = None if format == "rdf-xml" else on_error
    quads = parsed(cast(IO[bytes], guard), syntax, base_iri, True, on_errors, prefixes)
    for block, statements in as_n_triples(quads, BLOCK_BYTES):
        yield block, statements, guard.seen
    if isinstance(guard, XmlGuard):  # pyoxigraph does not tell the prefixes of RDF/XML
        prefixes.update(guard.prefixes)


def base_iri_of(path: Path) -> str:
    """The IRI that relative IRIs in a file are relative to, unless it states another."""
    return "file:///" + "".join(c if c.isalnum() or c in "._-" else "_" for c in path.name)
