"""pyoxigraph as a parser that reports every problem as a `SyntaxError`, in this process or in one of its own.

It does not check IRIs and language tags, because one bad term would then end the file: every statement of the
N-Triples that it writes is checked later.

`sandbox.py` runs this file as a program, so it imports nothing of LargeEA but `child`: the rest would take
longer than parsing most files.
"""

from __future__ import annotations

import io
import json
import resource
import struct
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

import pyoxigraph as ox

from largeea.child import OUT_OF_MEMORY, is_out_of_memory, limit, refuse

HEADER = struct.Struct("<3q")
"""Before each block that the program writes: its bytes, its statements, and the bytes read so far."""
PREFIXES = -1
"""In place of the number of statements before the last block: the prefixes of the file, as JSON."""


def parsed(
    source: IO[bytes] | bytes,
    format: ox.RdfFormat,
    base_iri: str | None = None,
    lenient: bool = False,
    on_error: Callable[[SyntaxError], None] | None = None,
    prefixes: dict[str, str] | None = None,
) -> Iterator[Any]:
    """The quads of a text. A value beyond pyoxigraph's limit on its length is a syntax error too.

    At the end, the prefixes that the text declares are added to `prefixes`. With `on_error`, the parser goes
    on with the next statement after an error, if it can find one; an unexpected end of the text, and an error
    that comes up again at the same place, are raised.
    """
    quads = ox.parse(source, format=format, base_iri=base_iri, lenient=lenient)
    last = ""
    while True:
        try:
            yield from quads
            if prefixes is not None:
                prefixes.update(quads.prefixes)
            return
        except MemoryError as error:
            if "maximal size" not in str(error):
                raise
            raise SyntaxError("a single value takes more than 16 MB; is its end missing?") from None
        except SyntaxError as error:
            if on_error is None or "Unexpected end" in error.msg or error.msg == last:
                raise
            last = error.msg
            on_error(error)


def as_n_triples(quads: Iterator[Any], block_bytes: int) -> Iterator[tuple[bytes, int]]:
    """Quads as blocks of N-Triples of about `block_bytes`, a line for each, with the number of quads."""
    while True:
        block, taken = io.BytesIO(), 0

        def until_full(block: io.BytesIO = block) -> Iterator[Any]:
            nonlocal taken
            while block.tell() < block_bytes and (quad := next(quads, None)) is not None:
                taken += 1
                yield quad.triple

        ox.serialize(until_full(), block, format=ox.RdfFormat.N_TRIPLES)
        if not taken:
            return
        yield _one_line_each(block.getvalue(), taken), taken


def _one_line_each(block: bytes, statements: int) -> bytes:
    """The block without line breaks in IRIs and language tags, and without empty tags (`xml:lang=""`)."""
    if block.count(b"\n") != statements:
        lines = block.split(b" .\n")
        if len(lines) != statements + 1:
            raise SyntaxError("an IRI or a language tag holds a line break")
        block = b" .\n".join(line.replace(b"\n", b"\\n") for line in lines)
    return block.replace(b'"@ .\n', b'" .\n')


class _Limited(io.RawIOBase):
    """A stream that lets this process use memory and time in proportion to the bytes read from it."""

    def __init__(self, stream: IO[bytes], harmless: int, expansion: int, most: int, seconds: int) -> None:
        self._stream, self._harmless, self._expansion, self._most = stream, harmless, expansion, most
        self._seconds, self.seen = seconds, 0
        self._set_limits()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        block = self._stream.read(len(buffer))
        self.seen += len(block)
        self._set_limits()
        buffer[: len(block)] = block
        return len(block)

    def _set_limits(self) -> None:
        memory = min(max(self._harmless, self._expansion * self.seen), self._most)
        limit(resource.RLIMIT_AS, memory)
        limit(resource.RLIMIT_CPU, self._seconds + (self.seen >> 20))


def main(base_iri: str, block_bytes: int, harmless: int, expansion: int, most: int, seconds: int) -> int:
    """Parse JSON-LD from standard input, write blocks of N-Triples to standard output, return the exit code.

    Memory may grow to `expansion` times the bytes read, to `harmless` bytes in any case, but not above
    `most`. The process may compute for `seconds`, and one second more for each MB read.
    """
    limit(resource.RLIMIT_CORE, 0)
    source, prefixes = _Limited(sys.stdin.buffer, harmless, expansion, most, seconds), dict[str, str]()
    try:
        quads = parsed(source, ox.RdfFormat.JSON_LD, base_iri, True, prefixes=prefixes)  # type: ignore[arg-type]
        defined = (quad for quad in quads if ":" in quad.predicate.value)  # other keys state nothing
        for block, statements in as_n_triples(defined, block_bytes):
            sys.stdout.buffer.write(HEADER.pack(len(block), statements, source.seen) + block)
        declared = json.dumps(prefixes).encode()
        sys.stdout.buffer.write(HEADER.pack(len(declared), PREFIXES, source.seen) + declared)
        sys.stdout.buffer.flush()
    except (SyntaxError, ValueError, OSError, MemoryError) as error:
        if is_out_of_memory(error):
            return OUT_OF_MEMORY
        message = error.msg if isinstance(error, SyntaxError) else str(error)
        return refuse(message, getattr(error, "lineno", None))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
