"""Tab-separated text: columns written as lines in bulk, and lines read as rows with their line numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.formats.identifiers import may_have_control_characters
from largeea.formats.links.model import MAX_LINE_BYTES
from largeea.formats.links.text import C1_CONTROLS, escaped, joined, text_of
from largeea.formats.streams import in_parallel, limited_lines
from largeea.graph import Strings

_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(0x20), *C1_CONTROLS) if code not in b"\t\n\r"}
"""Control characters are written visibly, so that a name cannot control a terminal."""


_QUOTE = ord('"')


def write_header(file: IO[bytes], header: Iterable[str]) -> None:
    """Write the header line."""
    file.write(("\t".join(header) + "\n").encode())


def write_rows(file: IO[bytes], batches: Iterable[Iterable[pa.Array]]) -> int:
    """Write batches of columns as lines, made on all threads; the number of rows written."""
    written = 0
    for lines in in_parallel(_lines, batches):
        file.write(text_of(lines))
        written += len(lines)
    return written


def _lines(columns: Iterable[pa.Array]) -> Strings:
    """Rows as lines; cells are quoted as in RFC 4180 where needed, which SSSOM requires."""
    *cells, last = map(_cell, columns)
    return joined(*cells, joined(last, "\n"), separator="\t")


def _cell(column: pa.Array) -> Strings:
    text = column.cast(pa.large_string())
    content = np.frombuffer(text_of(text), np.uint8)
    has_control_characters = may_have_control_characters(content)
    if not has_control_characters and not (content == _QUOTE).any():
        return text
    if has_control_characters:
        text = escaped(text, _VISIBLE)
    quoted = joined('"', pc.replace_substring(text, '"', '""'), '"')
    return pc.if_else(pc.match_substring_regex(text, '["\t\n\r]'), quoted, text)


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file with their line ends; a line that is not UTF-8 is an error."""
    for number, line in enumerate(limited_lines(path, MAX_LINE_BYTES), start=1):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            raise InputError("is not UTF-8 text; convert the file to UTF-8", path, number) from None


def tsv_rows(
    lines: Iterable[str], path: Path, *, quoted: bool, skipped: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """Rows of tab-separated text with the line each starts on; blank lines are skipped.

    Every row must be as wide as the first. `skipped` is the number of lines before `lines` in the file.
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
        raise InputError(f"is not valid tab-separated text: {error}", path, line) from None
