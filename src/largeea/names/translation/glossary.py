"""A user's own glossary: pairs of terms that translate each other."""

from __future__ import annotations

from pathlib import Path

from largeea.errors import InputError
from largeea.formats.links.tsv import text_lines
from largeea.hashing import file_hash
from largeea.names.translation.terms import folded
from largeea.progress import warn

Pairs = list[tuple[str, str]]
NEEDED = "a line needs a term, a tab and its translation, such as 文化\tculture"


def glossary_fingerprint(path: Path) -> str:
    """A hash of the contents of a glossary."""
    if not path.is_file():
        raise InputError("there is no such file; names.lexicon has to be the path of a glossary", path)
    return file_hash(path)


def both_directions(path: Path) -> Pairs:
    """The folded pairs of a glossary and their reverse, the more important last: first lines, left to right.

    A term without letters and digits is not in any name as it is compared; a warning says so.
    """
    pairs = read_glossary(path)
    columns = [folded(column) for column in zip(*pairs, strict=True)]
    forth = [pair for pair in zip(*columns, strict=True) if all(pair)][::-1]
    if len(forth) < len(pairs):
        warn(
            f"{path}: {len(pairs) - len(forth)} of {len(pairs)} pairs have a term without letters and digits"
        )
    return [(back, term) for term, back in forth] + forth


def read_glossary(path: Path) -> Pairs:
    """The pairs of a tab-separated file; blank lines and lines that start with # are no pairs.

    Any other line without exactly two terms is an error that names it.
    """
    pairs: Pairs = []
    for number, line in enumerate(text_lines(path), start=1):
        if line.startswith("#") or not line.strip():
            continue
        terms = [cell.strip() for cell in line.split("\t")]
        if len(terms) != 2 or not all(terms):
            given = f"{len(terms)} columns" if len(terms) != 2 else "an empty column"
            raise InputError(f"has {given}: {NEEDED}", path, number)
        pairs.append((terms[0], terms[1]))
    if not pairs:
        raise InputError(f"has no terms: {NEEDED}", path)
    return pairs
