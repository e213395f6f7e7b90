"""Tab-separated text: columns to lines in bulk, and lines back to rows that know their place."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.formats.links.model import MAX_LINE_BYTES
from largeea.formats.links.text import C1_CONTROLS, escaped, joined, text_of
from largeea.formats.streams import limited_lines
from largeea.graph import Strings

_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(0x20), *C1_CONTROLS) if code not in b"\t\n\r"}
"""Control characters as they are shown, so that a name cannot steer the terminal that shows the file."""


def write_tsv(file: IO[bytes], header: Iterable[str], rows: Iterable[Iterable[pa.Array]]) -> None:
    """A header line, then batches of columns as lines."""
    file.write(("\t".join(header) + "\n").encode())
    for columns in rows:
        file.write(text_of(_lines(columns)))


def _lines(columns: Iterable[pa.Array]) -> Strings:
    """Rows as lines of tab-separated text, quoted after RFC 4180 where a cell needs it, as SSSOM asks."""
    return joined(joined(*map(_cell, columns), separator="\t"), "\n")


def _cell(column: pa.Array) -> Strings:
    text = escaped(column.cast(pa.large_string()), _VISIBLE)
    quoted = joined('"', pc.replace_substring(text, '"', '""'), '"')
    return pc.if_else(pc.match_substring_regex(text, '["\t\n\r]'), quoted, text)


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file with their line ends; bytes that are not UTF-8 are reported by their line."""
    for number, line in enumerate(limited_lines(path, MAX_LINE_BYTES), start=1):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise InputError("is not UTF-8 text; convert the file to UTF-8", path, number) from None


def tsv_rows(
    lines: Iterable[str], path: Path, *, quoted: bool, skipped: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Rows of tab-separated text with the line each starts on; blank lines do not count as rows.

    Every row must be as wide as the first. `skipped` lines of the file came before `lines`.
    """
    rules: dict[str, Any] = {"quoting": csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE, "strict": True}
    reader = csv.reader(lines, delimiter="\t", **rules)
    line, width = skipped + 1, 0
    try:
        for row in reader:
            width = width or len(row)
            if row and len(row) != width:
                message = f"has {len(row)} tab-separated columns, but the rows before it have {width}"
                raise InputError(message, path, line)
            if row:
                yield line, row
            line = skipped + 1 + reader.line_num
    except csv.Error as error:
        raise InputError(f"is not sound tab-separated text: {error}", path, line) from None
