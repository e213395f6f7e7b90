"""Runs a SPARQL query on files, as a program of its own, with limits on memory and time, and no network.

A query is not even parsed elsewhere: a deeply nested one crashes the parser, and some are evaluated at once.
`selection.py` runs this file, so it imports nothing of LargeEA but `child`. Standard input has a line of
JSON with the query and its limits; then for each file a line of JSON with its format and base IRI, and its
bytes in chunks, each after its length, until a chunk is empty. Standard output has the selected IRIs, one on
each line.
"""

from __future__ import annotations

import io
import json
import resource
import sys
from collections.abc import Iterator
from typing import IO, Any

import pyoxigraph as ox

from largeea.child import OUT_OF_MEMORY, is_out_of_memory, limit, refuse

FORMATS = {
    "n-triples": ox.RdfFormat.N_TRIPLES,
    "n-quads": ox.RdfFormat.N_QUADS,
    "turtle": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf-xml": ox.RdfFormat.RDF_XML,
    "json-ld": ox.RdfFormat.JSON_LD,
}


class Refused(Exception):  # noqa: N818
    """A query that is not run, or not to its end; the message says why."""


class Chunks(io.RawIOBase):
    """The bytes of one file; `seen` counts those of all files. Each MB allows the process a second more."""

    def __init__(self, stream: IO[bytes], seconds: int, seen: int) -> None:
        self._stream, self._seconds, self.seen = stream, seconds, seen
        self._chunk, self._ended = b"", False

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        """Pass on the rest of a chunk, or the beginning of the next."""
        if not self._chunk and not self._ended:
            self._chunk = self._stream.read(int.from_bytes(self._stream.read(8), "little"))
            self._ended, self.seen = not self._chunk, self.seen + len(self._chunk)
            limit(resource.RLIMIT_CPU, self._seconds + (self.seen >> 20))
        part, self._chunk = self._chunk[: len(buffer)], self._chunk[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def statements(stream: Chunks, format: str, base_iri: str) -> Iterator[Any]:
    """The quads of a file; malformed statements are skipped, as LargeEA has listed them already."""
    source: Any = stream
    quads = ox.parse(source, FORMATS[format], base_iri=base_iri, lenient=True, rename_blank_nodes=True)
    last = ""
    while True:
        try:
            yield from quads
            return
        except SyntaxError as error:
            if error.msg == last:
                return
            last = error.msg


def solutions(store: ox.Store, query: str, prefixes: dict[str, str]) -> ox.QuerySolutions:
    """The solutions of a query, which has to be a valid SELECT of one variable."""
    try:
        found = store.query(query, prefixes=prefixes, use_default_graph_as_union=True)
    except SyntaxError as error:
        reason = " ".join(str(error).split())
        known = f"; known prefixes: {', '.join(sorted(prefixes))}" if "Prefix not found" in reason else ""
        raise Refused(f"is not valid SPARQL: {_shortened(reason)}{known}") from None
    if not isinstance(found, ox.QuerySolutions) or len(found.variables) != 1:
        has = (
            f"has {len(found.variables)} variables"
            if isinstance(found, ox.QuerySolutions)
            else "is not a SELECT query"
        )
        raise Refused(f"{has}; give a SELECT with one variable: SELECT ?x WHERE {{ ... }}")
    return found


def selected(found: ox.QuerySolutions) -> Iterator[str]:
    """The IRIs that the variable of a query is bound to, each once."""
    seen = set()
    for solution in found:
        term = solution[0]
        if isinstance(term, ox.Literal):
            raise Refused(f"selects the literal {term}, but entities are IRIs")
        if isinstance(term, ox.NamedNode) and term.value not in seen:
            seen.add(term.value)
            yield term.value


def main() -> int:
    """Check the query, load the files, run it, print what it selects; return the exit code."""
    limit(resource.RLIMIT_CORE, 0)
    request = json.loads(sys.stdin.buffer.readline())
    query, prefixes = request["query"], request["prefixes"]
    limit(resource.RLIMIT_AS, request["memory"])
    limit(resource.RLIMIT_CPU, request["seconds"])
    _open_no_more_files()
    store, seen = ox.Store(), 0
    try:
        solutions(store, query, prefixes)
        while line := sys.stdin.buffer.readline():
            file = Chunks(sys.stdin.buffer, request["seconds"], seen)
            store.bulk_extend(statements(file, *json.loads(line)))
            seen = file.seen
        for iri in selected(solutions(store, query, prefixes)):
            sys.stdout.buffer.write(iri.replace("\n", " ").encode() + b"\n")
        sys.stdout.buffer.flush()
    except (Refused, ValueError, OSError, MemoryError) as error:
        if is_out_of_memory(error):
            return OUT_OF_MEMORY
        return refuse(str(error) if isinstance(error, Refused) else f"fails: {_shortened(str(error))}")
    return 0


def _open_no_more_files() -> None:
    """Let this process open nothing any more, and so no connection: a query could ask for one (SERVICE)."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _shortened(reason: str) -> str:
    """The place of an error and the beginning of what pyoxigraph expected there."""
    return reason if len(reason) <= 200 else f"{reason[:200]} ..."


if __name__ == "__main__":
    sys.exit(main())
