"""Rows of CSV and TSV files as Arrow columns, each row with the line it starts on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from largeea.errors import InputError
from largeea.formats.rejects import Rejects
from largeea.formats.streams import MAX_LINE_BYTES, LineBlock, ahead, blocks_of_lines, in_parallel
from largeea.graph import Bool, Int64, Strings, strings
from largeea.graph.interning import Bytes

_QUOTE, _LINE_FEED, _CARRIAGE_RETURN = b'"\n\r'


class Rows(NamedTuple):
    """A batch of rows: its columns, and the line each row starts on `[n]`.

    `found` is the number of rows counted in the file for this batch, whether they are in it or rejected.
    """

    columns: list[Strings]
    lines: Int64
    found: int


def read_delimited(
    path: Path,
    width: int,
    rejects: Rejects,
    separator: str = "\t",
    skip: int = 0,
    rest_in_last: bool = False,
    quoted: bool = False,
) -> Iterator[Rows]:
    """Rows of exactly `width` cells in batches, from line `skip + 1` on.

    A row with another number of cells is rejected; with `rest_in_last` the last cell may hold separators.
    If cells can be `quoted`, as in CSV, those that are may hold separators and line breaks.
    """
    undecodable = 0

    def report(block: LineBlock) -> None:
        nonlocal undecodable
        block.reject_undecodable(path, rejects)
        undecodable += block.rejected

    def parse(text: _Text) -> _Parsed:
        return _parse(text, width, separator, quoted, path)

    blocks = ahead(blocks_of_lines(path))
    texts = _skipping(_reporting(report, blocks) if quoted else blocks, skip)
    for parsed in map(parse, _whole_rows(texts)) if quoted else in_parallel(parse, texts):
        if not quoted:
            report(parsed.block)
        columns, refused, lines = parsed.columns, parsed.refused, parsed.lines
        if lines is None:
            continue
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
        kept = np.delete(lines, [row.number - 1 for row in refused]) if refused else lines
        yield Rows(columns, kept, len(lines))
        if mended:
            yield Rows([strings(column) for column in zip(*mended, strict=True)], np.array(mended_lines), 0)
    if undecodable:
        yield Rows([strings()] * width, np.empty(0, np.int64), undecodable)


class _Text(NamedTuple):
    """Text to parse, the line it starts on, and the block of the file that it ends in."""

    first_line: int
    text: bytes
    block: LineBlock


class _Parsed(NamedTuple):
    """The rows of the right width as columns, the other rows, and the line of each row; None if no text."""

    columns: list[Strings]
    refused: list[pacsv.InvalidRow]
    lines: Int64 | None
    block: LineBlock


def _reporting(report: Callable[[LineBlock], None], blocks: Iterable[LineBlock]) -> Iterator[LineBlock]:
    for block in blocks:
        report(block)
        yield block


def _parse(text: _Text, width: int, separator: str, quoted: bool, path: Path) -> _Parsed:
    refused: list[pacsv.InvalidRow] = []

    def set_aside(row: pacsv.InvalidRow) -> str:
        refused.append(row)
        return "skip"

    if not text.text:
        return _Parsed([], refused, None, text.block)
    names = [str(column) for column in range(width)]
    try:
        table = pacsv.read_csv(
            pa.BufferReader(text.text),
            pacsv.ReadOptions(use_threads=False, block_size=len(text.text) + 1, column_names=names),
            pacsv.ParseOptions(
                delimiter=separator, quote_char='"' if quoted else False, invalid_row_handler=set_aside
            ),
            pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.large_string())),
        )
    except pa.ArrowInvalid as error:
        raise InputError(f"cannot be read as a table: {error}", path, text.first_line) from None
    columns = [column.combine_chunks() for column in table.columns]
    lines = _lines_of_rows(text.text, text.first_line, quoted, len(columns[0]) + len(refused))
    if lines is None:
        raise InputError("a quoted cell of this row or of one below it does not end", path, text.first_line)
    return _Parsed(columns, refused, lines, text.block)


def _skipping(blocks: Iterable[LineBlock], skip: int) -> Iterator[_Text]:
    """The text of the blocks without the first `skip` lines of the file."""
    for block in blocks:
        passed = max(skip + 1 - block.first, 0)
        text = block.text.split(b"\n", passed)[-1] if passed else block.text
        yield _Text(block.first + passed, text, block)


def _whole_rows(texts: Iterable[_Text]) -> Iterator[_Text]:
    """The texts cut anew, so that no quoted cell with line breaks is divided."""
    line, rest = 1, b""
    for first_line, text, block in texts:
        line, rest = (line, rest + text) if rest else (first_line, text)
        data = np.frombuffer(rest, np.uint8)
        ends = np.flatnonzero((data == _LINE_FEED) & ~_inside_quotes(data))
        if not len(ends) and len(rest) < MAX_LINE_BYTES:
            continue
        end = int(ends[-1]) + 1 if len(ends) else len(rest)
        yield _Text(line, rest[:end], block)
        line, rest = line + rest.count(b"\n", 0, end), rest[end:]
    if rest:
        yield _Text(line, rest, block)


def _lines_of_rows(block: bytes, first_line: int, quoted: bool, rows: int) -> Int64 | None:
    """The line each row starts on, found in the bytes themselves; None if there are other than `rows`.

    As for the CSV parser, a line feed or a carriage return ends a row, and empty rows do not count. A quote
    in a cell that does not begin with one is text; so if quotes do not pair up, all of them count as text.
    """
    data = np.frombuffer(block, np.uint8)
    line_feeds = np.flatnonzero(data == _LINE_FEED)
    ends = line_feeds
    if b"\r" in block:
        ends = np.flatnonzero((data == _LINE_FEED) | (data == _CARRIAGE_RETURN))
    for row_ends in (ends[~_inside_quotes(data)[ends]] if quoted else None, ends):
        if row_ends is not None:
            starts = np.concatenate([[0], row_ends[:-1] + 1])[: len(row_ends)]
            starts = starts[row_ends > starts]
            if len(starts) == rows == len(line_feeds) == len(ends):  # one row on every line
                return np.arange(first_line, first_line + rows)
            if len(starts) == rows:
                lines: Int64 = first_line + np.searchsorted(line_feeds, starts)
                return lines
    return None


def _inside_quotes(data: Bytes) -> Bool:
    inside: Bool = np.logical_xor.accumulate(data == _QUOTE)
    return inside
