"""Statements that two entities are the same, as N-Triples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyoxigraph

from largeea.errors import InputError
from largeea.formats.links.about import NOTHING, About
from largeea.formats.links.model import (
    EQUIVALENCES,
    MAX_LINE_BYTES,
    LinkCollector,
    LinkFormat,
    LinkTable,
    Written,
)
from largeea.formats.links.predicates import predicates_of
from largeea.formats.links.text import C1_CONTROLS, Batches, escaped, first_line, joined, text_of
from largeea.formats.oxigraph import parsed
from largeea.formats.streams import limited_lines
from largeea.formats.turtle_guard import TurtleCheck
from largeea.matching.alignment import Alignment

_IRI_ESCAPES = {code: f"\\u{code:04X}" for code in [*range(0x21), *C1_CONTROLS, *map(ord, '<>"{}|^`\\')]}
"""Characters that an N-Triples IRI must escape."""

_READ_BYTES = 1 << 22


def write(alignment: Alignment, file: IO[bytes], about: About = NOTHING) -> Written:
    """Write the accepted pairs, one statement on a line. Ids that are not IRIs are written like IRIs."""
    batches, written = Batches(alignment, accepted_only=True), 0
    predicates = predicates_of(alignment, about.predicate)
    for batch in batches:
        source, target = (escaped(batch[side], _IRI_ESCAPES) for side in ("source", "target"))
        between = predicates[written : written + len(batch)]
        statements = joined("<", source, "> <", between, "> <", target, "> .\n")
        file.write(text_of(statements))
        written += len(statements)
    return batches.written(written)


def recognises(head: bytes) -> bool:
    """Recognised by its first statement, which begins with an IRI in angle brackets or a blank node."""
    return first_line(head).startswith((b"<", b"_:"))


def read(path: Path) -> LinkTable:
    """The statements that two IRIs are the same. Invalid characters in IRIs are accepted: dumps have them."""
    links = LinkCollector(path)
    before, check = 0, TurtleCheck()
    for block in _blocks(path):
        lines = block.splitlines()
        if reason := check(block):
            raise InputError(f"{reason}, which is refused for safety", path, before + 1)
        _collect(block, _statement_lines(lines, before + 1), before, links)
        before += len(lines)
    return links.table()


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks of whole lines."""
    block = bytearray()
    for line in limited_lines(path, MAX_LINE_BYTES):
        block += line
        if len(block) >= _READ_BYTES:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)


def _statement_lines(lines: list[bytes], first: int) -> Iterator[int]:
    """The numbers of the lines with a statement: the parser yields one for each, without its line."""
    return (line for line, text in enumerate(map(bytes.strip, lines), first) if text and text[:1] != b"#")


def _collect(block: bytes, statement_lines: Iterator[int], before: int, links: LinkCollector) -> None:
    try:
        triples = parsed(block, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True)
        for triple, line in zip(triples, statement_lines, strict=True):
            source, target = triple.subject, triple.object
            iris = isinstance(source, pyoxigraph.NamedNode) and isinstance(target, pyoxigraph.NamedNode)
            if iris and triple.predicate.value in EQUIVALENCES:
                links.add(line, source.value, target.value)
            else:
                links.ignored += 1
    except SyntaxError as error:
        noticed = before + (error.lineno or 1)
        line = min(noticed, next(statement_lines, noticed))  # a truncated statement is noticed a line later
        reason = error.msg.partition(": ")[2] or error.msg
        raise InputError(f"is not valid N-Triples: {reason}", links.path, line) from None
    except ValueError:  # from zip: there are more lines than statements
        reason = "a term runs over the end of a line"
        raise InputError(f"is not valid N-Triples: {reason}, here or below", links.path, before + 1) from None


FORMAT = LinkFormat("same-as", "alignment.nt", write, recognises, read)
