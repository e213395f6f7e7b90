"""Rows of CSV and TSV files as Arrow columns, each row with the line it starts on."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from largeea.errors import InputError
from largeea.formats.interning import Bytes
from largeea.formats.rejects import Rejects
from largeea.formats.streams import MAX_LINE_BYTES, blocks_of_lines
from largeea.graph import Bool, Int64, Strings, strings

_QUOTE, _LINE_FEED, _CARRIAGE_RETURN = b'"\n\r'


class Rows(NamedTuple):
    """A batch of rows: its columns, and the line each row starts on `[n]`.

    `found` is the number of rows counted in the file for this batch, whether they are in it or rejected.
    """

    columns: list[Strings]
    lines: Int64
    found: int


def read_delimited(
    path: Path, width: int, rejects: Rejects, separator: str = "\t", skip: int = 0, rest_in_last: bool = False
) -> Iterator[Rows]:
    """Rows of exactly `width` cells in batches, from line `skip + 1` on.

    A row with another number of cells is rejected; with `rest_in_last` the last cell may hold separators.
    Only in CSV can cells be quoted; quoted cells may hold line breaks.
    """
    quoted = separator == ","
    undecodable = 0

    def texts() -> Iterator[tuple[int, bytes]]:
        nonlocal undecodable
        for block in blocks_of_lines(path):
            block.reject_undecodable(path, rejects)
            undecodable += block.rejected
            yield block.first, block.text

    blocks = _skipping(texts(), skip)
    for first_line, block in _whole_rows(blocks) if quoted else blocks:
        columns, refused = _parse(block, width, separator, quoted, path, first_line)
        lines = _lines_of_rows(block, first_line, quoted, len(columns[0]) + len(refused))
        if lines is None:
            raise InputError("a quoted cell of this row or of one below it does not end", path, first_line)
        mended: list[list[str]] = []
        mended_lines: list[int] = []
        for row in refused:
            line = int(lines[row.number - 1])
            cells = row.text.split(separator, width - 1)
            if rest_in_last and len(cells) == width:
                mended.append(cells)
                mended_lines.append(line)
            else:
                reason = f"{row.actual_columns} column(s) where {width} are needed"
                rejects.add(path, line, reason, row.text)
        yield Rows(columns, np.delete(lines, [row.number - 1 for row in refused]), len(lines))
        if mended:
            yield Rows([strings(column) for column in zip(*mended, strict=True)], np.array(mended_lines), 0)
    if undecodable:
        yield Rows([strings()] * width, np.empty(0, np.int64), undecodable)


def _parse(
    block: bytes, width: int, separator: str, quoted: bool, path: Path, first_line: int
) -> tuple[list[Strings], list[pacsv.InvalidRow]]:
    """The rows of the right width as columns, and the other rows."""
    refused: list[pacsv.InvalidRow] = []

    def set_aside(row: pacsv.InvalidRow) -> str:
        refused.append(row)
        return "skip"

    names = [str(column) for column in range(width)]
    try:
        table = pacsv.read_csv(
            io.BytesIO(block),
            pacsv.ReadOptions(use_threads=False, block_size=len(block) + 1, column_names=names),
            pacsv.ParseOptions(
                delimiter=separator, quote_char='"' if quoted else False, invalid_row_handler=set_aside
            ),
            pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_string())),
        )
    except pa.ArrowInvalid as error:
        raise InputError(f"cannot be read as a table: {error}", path, first_line) from None
    return [column.combine_chunks() for column in table.columns], refused


def _skipping(blocks: Iterable[tuple[int, bytes]], skip: int) -> Iterator[tuple[int, bytes]]:
    """The blocks without the first `skip` lines of the file."""
    for line, block in blocks:
        passed = max(skip + 1 - line, 0)
        rest = block.split(b"\n", passed)[-1]
        if rest:
            yield line + passed, rest


def _whole_rows(blocks: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """The blocks cut anew, so that no quoted cell with line breaks is divided."""
    line, rest = 1, b""
    for first_line, block in blocks:
        line, rest = (line, rest + block) if rest else (first_line, block)
        data = np.frombuffer(rest, np.uint8)
        ends = np.flatnonzero((data == _LINE_FEED) & ~_inside_quotes(data))
        if not len(ends) and len(rest) < MAX_LINE_BYTES:
            continue
        end = int(ends[-1]) + 1 if len(ends) else len(rest)
        yield line, rest[:end]
        line, rest = line + rest.count(b"\n", 0, end), rest[end:]
    if rest:
        yield line, rest


def _lines_of_rows(block: bytes, first_line: int, quoted: bool, rows: int) -> Int64 | None:
    """The line each row starts on, found in the bytes themselves; None if there are other than `rows`.

    As for the CSV parser, a line feed or a carriage return ends a row, and empty rows do not count. A quote
    in a cell that does not begin with one is text; so if quotes do not pair up, all of them count as text.
    """
    data = np.frombuffer(block, np.uint8)
    breaks = (data == _LINE_FEED) | (data == _CARRIAGE_RETURN)
    line_feeds = np.flatnonzero(data == _LINE_FEED)
    for ends in (np.flatnonzero(breaks & ~_inside_quotes(data)) if quoted else None, np.flatnonzero(breaks)):
        if ends is not None:
            starts = np.concatenate([[0], ends[:-1] + 1])[: len(ends)]
            lines: Int64 = first_line + np.searchsorted(line_feeds, starts[ends > starts])
            if len(lines) == rows:
                return lines
    return None


def _inside_quotes(data: Bytes) -> Bool:
    inside: Bool = np.logical_xor.accumulate(data == _QUOTE)
    return inside
