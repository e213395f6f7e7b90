"""Links between two graphs as files: alignments are written, seeds and known links are read.

`FORMATS` has the formats by name; the format of a file to read is recognised by its content.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

from largeea.errors import InputError, UsageError
from largeea.formats.links import alignment_api, clusters, same_as, same_iri, sssom, table, unmatched
from largeea.formats.links.about import NOTHING, About, day_of, license_iri
from largeea.formats.links.corrections import GivenPairs, Judged, merge_corrections, write_unused
from largeea.formats.links.model import LinkFormat, LinkTable, Written
from largeea.formats.links.predicates import checked_predicate, predicate_iri
from largeea.formats.links.resolution import resolve
from largeea.formats.streams import open_bytes
from largeea.matching.alignment import Alignment
from largeea.progress import note

__all__ = [
    "CLUSTERS_FILE_NAME",
    "DOUBTFUL_FILE_NAME",
    "FORMATS",
    "NOTHING",
    "SAME_IRI_FILE_NAME",
    "UNMATCHED_FILE_NAME",
    "UNUSED_FILE_NAME",
    "About",
    "GivenPairs",
    "Judged",
    "LinkFormat",
    "LinkTable",
    "Written",
    "checked_predicate",
    "day_of",
    "find_format",
    "license_iri",
    "merge_corrections",
    "predicate_iri",
    "read_forbidden",
    "read_judged",
    "read_links",
    "recognise",
    "resolve",
    "write_alignment",
    "write_clusters",
    "write_doubtful",
    "write_same_iri",
    "write_unmatched",
    "write_unused",
]

FORMATS: dict[str, LinkFormat] = {
    format.name: format
    for format in (sssom.FORMAT, alignment_api.FORMAT, same_as.FORMAT, table.PARQUET, table.TSV)
}
"""Formats by name, in the order in which they are tried on a file."""

DOUBTFUL_FILE_NAME, UNMATCHED_FILE_NAME = "doubtful.tsv", "unmatched.tsv"
SAME_IRI_FILE_NAME, UNUSED_FILE_NAME = "same_iri.tsv", "unused_links.tsv"
CLUSTERS_FILE_NAME = "clusters.tsv"
_HEAD_BYTES = 1 << 16


def find_format(name: str) -> LinkFormat:
    """The format of that name."""
    if name not in FORMATS:
        raise UsageError(f"unknown format of links {name!r}; known are {', '.join(sorted(FORMATS))}")
    return FORMATS[name]


def write_alignment(
    alignment: Alignment,
    file: Path | IO[bytes],
    format: str = "sssom",
    predicate: str | None = None,
    about: About = NOTHING,
) -> Written:
    """Write an alignment and return what was written; the same alignment always gives the same bytes.

    Only accepted pairs are written, but the plain tables (`tsv`, `parquet`) hold the doubtful pairs too.
    `predicate` is a CURIE or an IRI for all links; without one, it follows from the roles of their ends.
    `about` has what else is to be said about them.
    """
    write = find_format(format).write
    if predicate is not None:
        about = replace(about, predicate=predicate_iri(predicate, alignment.source, alignment.target))
    with _opened(file) as stream:
        return write(alignment, stream, about)


def write_doubtful(alignment: Alignment, file: Path | IO[bytes]) -> dict[str, int]:
    """Write the doubtful pairs with names, confidence and evidence; the entities of each side in them."""
    with _opened(file) as stream:
        return table.write_doubtful(alignment, stream).doubtful


def write_unmatched(alignment: Alignment, file: Path | IO[bytes]) -> dict[str, int]:
    """Write side, IRI, name and reason of the entities without a counterpart; the rows of each side."""
    with _opened(file) as stream:
        return unmatched.write(alignment, stream)


def write_same_iri(alignment: Alignment, file: Path | IO[bytes]) -> dict[str, int]:
    """Write IRI and name of the pairs with equal IRIs; the linkable entities of each side in them."""
    with _opened(file) as stream:
        return same_iri.write(alignment, stream)


def write_clusters(alignment: Alignment, file: Path | IO[bytes]) -> int:
    """Write cluster, side, IRI and name of the entities in accepted pairs; the number of clusters."""
    with _opened(file) as stream:
        return clusters.write(alignment, stream)


def read_links(path: Path, format: str | None = None) -> LinkTable:
    """Read links by IRI from a file, compressed or not; its content shows the format unless one is given."""
    known = recognise(path) if format is None else find_format(format)
    links = known.read(path)
    if not len(links):
        raise _no_links(links, known)
    return links


def read_judged(path: Path) -> Judged:
    """Read known links and, where the format can negate them, forbidden pairs."""
    known = recognise(path)
    links = known.read(path)
    if not len(links) and not links.negated:
        raise _no_links(links, known)
    if others := links.ignored - len(links.negated or ()):
        note(
            f"{path}: {others:,} rows are not read as links, because they are not accepted or have another "
            "predicate than one of equality"
        )
    return Judged(links, links.negated)


def read_forbidden(path: Path) -> Judged:
    """Read forbidden pairs: the negated links of a file or, if it negates none, all its links."""
    judged = read_judged(path)
    if not judged.rejected:
        return Judged(None, judged.confirmed)
    if judged.confirmed:
        raise InputError(
            f"holds {len(judged.confirmed)} links and {len(judged.rejected)} negated ones; give it as a file "
            "of known links, which reads both, or remove the links that are not negated",
            path,
        )
    return judged


def _no_links(links: LinkTable, known: LinkFormat) -> InputError:
    return InputError(
        f"holds no links, read as {known.name} ({links.ignored} rows were left out); a link is an "
        "accepted pair, or a statement with owl:sameAs, skos:exactMatch, owl:equivalentClass or "
        "owl:equivalentProperty",
        links.path,
    )


def recognise(path: Path) -> LinkFormat:
    """The format of a file, by its first bytes; what no format recognises is read as plain text."""
    with open_bytes(path) as file:
        head = file.read(_HEAD_BYTES)
    return next((format for format in FORMATS.values() if format.recognises(head)), table.TSV)


def _opened(file: Path | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return file.open("wb") if isinstance(file, Path) else nullcontext(file)
