"""JSON-LD is parsed in a child process, whose memory and time are limited by the size of the file.

A small file with unusual contexts makes pyoxigraph take gigabytes or hours, or crash. A lexer that recognised
such files in advance was measured against the child in one run and removed: 370 lines instead of 200; 4.8 s
of CPU time instead of 2.2 s for 34 MB of objects with a context each, 2.2 s instead of 2.1 s for 21 MB with
one context; and it refused genuine large contexts. The child takes 30 ms more for a small file, and an attack
uses up its limits (at most 700 MB or 11 s for files of 1 to 2 MB) instead of 10 MB and 0.1 s.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from largeea.child import REFUSED
from largeea.errors import InputError, LargeEAError, ResourceError
from largeea.execution import current
from largeea.formats import oxigraph
from largeea.formats.guard import HARMLESS_BYTES, growth_allowed
from largeea.formats.programs import Ending, running
from largeea.formats.streams import MAX_EXPANSION

HARMLESS_SECONDS = 10
"""Computing time for a file of any size; one second more is allowed for each MB."""
_FED_BYTES = 1 << 18
_ADVICE = "If the file is genuine, give it as N-Triples"


def parse_json_ld(
    stream: IO[bytes],
    path: Path,
    base_iri: str,
    block_bytes: int,
    prefixes: dict[str, str] | None = None,
) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of N-Triples, each with the number of its statements and of the bytes parsed so far.

    At the end, the prefixes that the file declares are added to `prefixes`.
    Raises `SyntaxError` if the file is malformed, and `InputError` or `ResourceError` if the child takes too
    much memory or time, or crashes.
    """
    most = current().memory_bytes
    limits = (block_bytes, HARMLESS_BYTES, MAX_EXPANSION, most, HARMLESS_SECONDS)
    fed = 0

    def feed(pipe: IO[bytes]) -> None:
        nonlocal fed
        while block := stream.read(_FED_BYTES):
            pipe.write(block)
            fed += len(block)

    purpose = f"to parse {path}"
    with running(oxigraph.__file__, base_iri, *map(str, limits), purpose=purpose, source=feed) as child:
        yield from _blocks(child.output, {} if prefixes is None else prefixes)
        ending = child.wait()
    if ending.code:
        raise _failure(ending, path, fed, most)


def _blocks(pipe: IO[bytes], prefixes: dict[str, str]) -> Iterator[tuple[bytes, int, int]]:
    """Blocks as the child writes them, until it ends; one that is cut short is left out."""
    while len(header := pipe.read(oxigraph.HEADER.size)) == oxigraph.HEADER.size:
        size, statements, seen = oxigraph.HEADER.unpack(header)
        block = pipe.read(size)
        if len(block) < size:
            return
        if statements == oxigraph.PREFIXES:
            prefixes.update(json.loads(block))
        else:
            yield block, statements, seen


def _failure(ending: Ending, path: Path, fed: int, most: int) -> Exception:
    """The error for a child that failed."""
    if ending.code == REFUSED:
        message, line = ending.refusal
        error = SyntaxError(message if line else f"is not valid JSON-LD: {message}")
        error.lineno = line
        return error
    return _out_of_memory(path, fed, most) if ending.out_of_memory else _refused(ending, path)


def _out_of_memory(path: Path, fed: int, most: int) -> LargeEAError:
    allowed = growth_allowed(fed)
    if allowed > most:
        return ResourceError(
            f"{path}: parsing it takes more than {most / 1e9:.1f} GB, the memory that this run may use. "
            "Allow more memory, or give the file as N-Triples"
        )
    return InputError(
        f"parsing it takes more than {allowed >> 20} MB of memory, which is refused for safety; contexts in "
        f"each other, deep nesting, or a long name with many values can cause this. {_ADVICE}",
        path,
    )


def _refused(ending: Ending, path: Path) -> InputError:
    if ending.code == -signal.SIGXCPU:
        return InputError(
            "parsing it takes far longer than its size explains, which is refused for safety; a context that "
            f"is copied for many objects can cause this. {_ADVICE}",
            path,
        )
    return InputError(
        f"crashes the JSON-LD parser ({ending.in_words}); terms that are defined by each other over "
        f"thousands of steps can cause this. {_ADVICE}",
        path,
    )
