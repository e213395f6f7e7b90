"""Links between two graphs as files: alignments are written, seeds and known links are read.

The formats are known by name in `FORMATS`; a file to be read is recognised by its content.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO

from largeea.alignment import Alignment
from largeea.errors import InputError, UsageError
from largeea.formats.links import alignment_api, same_as, sssom, table, unmatched
from largeea.formats.links.model import LinkFormat, LinkTable
from largeea.formats.links.resolution import resolve
from largeea.formats.streams import open_bytes

__all__ = [
    "FORMATS",
    "UNMATCHED_FILE_NAME",
    "LinkFormat",
    "LinkTable",
    "find_format",
    "read_links",
    "recognise",
    "resolve",
    "write_alignment",
    "write_unmatched",
]

FORMATS: dict[str, LinkFormat] = {
    format.name: format
    for format in (sssom.FORMAT, alignment_api.FORMAT, same_as.FORMAT, table.PARQUET, table.TSV)
}
"""Formats by name, in the order in which they are asked whether a file is theirs."""

UNMATCHED_FILE_NAME = unmatched.FILE_NAME
_HEAD_BYTES = 1 << 16


def find_format(name: str) -> LinkFormat:
    """The format of that name."""
    if name not in FORMATS:
        raise UsageError(f"unknown format of links {name!r}; known are {', '.join(sorted(FORMATS))}")
    return FORMATS[name]


def write_alignment(alignment: Alignment, file: Path | IO[bytes], format: str = "sssom") -> None:
    """Write an alignment, a batch of pairs at a time; the same alignment always gives the same bytes.

    Accepted pairs alone, except for the plain tables (`tsv`, `parquet`): these hold the pairs for review too.
    """
    write = find_format(format).write
    with _opened(file) as stream:
        write(alignment, stream)


def write_unmatched(alignment: Alignment, file: Path | IO[bytes]) -> None:
    """Write the entities without a counterpart: columns `side`, `entity`, `name`."""
    with _opened(file) as stream:
        unmatched.write(alignment, stream)


def read_links(path: Path, format: str | None = None) -> LinkTable:
    """Read links by IRI, in the format given or else the one the content shows; compressed files too."""
    known = recognise(path) if format is None else find_format(format)
    links = known.read(path)
    if not len(links):
        raise InputError(
            f"holds no link, read as {known.name} ({links.ignored} rows were left out); a link is an "
            "accepted pair, or a statement by owl:sameAs, skos:exactMatch, owl:equivalentClass or "
            "owl:equivalentProperty",
            path,
        )
    return links


def recognise(path: Path) -> LinkFormat:
    """The format a file is in, by its first bytes; what none of them knows is taken for plain text."""
    with open_bytes(path) as file:
        head = file.read(_HEAD_BYTES)
    return next((format for format in FORMATS.values() if format.recognises(head)), table.TSV)


def _opened(file: Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return file.open("wb") if isinstance(file, Path) else nullcontext(file)
