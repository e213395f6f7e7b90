"""A user's own glossary: pairs of terms that translate each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from largeea.errors import InputError
from largeea.formats.links.tsv import text_lines, tsv_rows


def read_glossary(path: Path) -> Iterator[tuple[str, str]]:
    """The pairs of a tab-separated file; blank lines and lines that start with # are no pairs.

    Any other line without exactly two terms is an error that names it.
    """
    lines = ("\n" if line.startswith("#") else line for line in text_lines(path))
    for line, row in tsv_rows(lines, path, quoted=False):
        terms = [cell.strip() for cell in row]
        if len(terms) != 2 or not all(terms):
            given = f"{len(terms)} columns" if len(terms) != 2 else "an empty column"
            raise InputError(
                f"has {given}: a line needs a term, a tab and its translation, such as 文化\tculture",
                path,
                line,
            )
        yield terms[0], terms[1]
