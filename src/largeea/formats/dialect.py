"""The dialect of a delimited text file: its separator, its first row, and whether that is a header."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from largeea.errors import InputError
from largeea.formats.header import is_header
from largeea.formats.streams import limited_lines

MAX_COLUMNS = 4096
SEPARATORS = {"csv": ",", "tsv": "\t"}
"""The separator that each format is named after; files may have another one."""
SEPARATOR_NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_SAMPLE_LINES, _SAMPLE_BYTES = 200, 1 << 20
_CONSISTENT, _AT_LEAST = 0.9, 0.5
"""Shares of the first rows that have as many cells as the first one: usually, and at least."""


@dataclass(frozen=True)
class Dialect:
    """The separator, whether cells can be quoted, and the cells of the first row.

    `line` is the line that the first row starts on and `last_line` the one it ends on. `header` says whether
    the first row is a header; None if that cannot be told.
    """

    separator: str
    quoted: bool
    first: list[str]
    line: int
    last_line: int
    header: bool | None


def find_dialect(path: Path, format: str) -> Dialect:
    """The dialect of a file, by its first rows.

    The separator that the format is named after is used unless another one gives more columns (in TSV: unless
    it gives only one column). Quotes count as such except between tabs in TSV.
    """
    blank, lines = _first_lines(path)
    default = SEPARATORS[format]
    splits = [_Split(lines, default, path, blank, format)]
    if splits[0].width < 2 or format == "csv":
        others = [sign for sign in SEPARATOR_NAMES if sign != default and lines[0].count(sign) < MAX_COLUMNS]
        splits += [_Split(lines, sign, path, blank, format) for sign in others]
    best = _best(splits)
    header = is_header(best.first, best.rows[1:])
    return Dialect(best.separator, best.quoted, best.first, blank + 1, blank + best.first_lines, header)


def _best(splits: list[_Split]) -> _Split:
    """The split that gives most columns among those that divide nearly all rows alike; else the most alike.

    If two give as many, the one with fewer cells that begin with a space; then the first, which is usual.
    """
    several = [split for split in splits if split.width > 1]
    alike = [split for split in several if split.agreement >= _CONSISTENT]
    if alike:
        return max(alike, key=lambda split: (split.width, -split.spaces))
    likely = [split for split in several if split.agreement >= _AT_LEAST]
    return max(likely, key=lambda split: split.agreement, default=splits[0])


def _first_lines(path: Path) -> tuple[int, list[str]]:
    """The number of empty lines at the beginning, and the first lines after them as text."""
    blank, size, found = 0, 0, list[str]()
    for line in limited_lines(path):
        row = line.strip(b"\r\n")
        if not row and not found:
            blank += 1
            continue
        try:
            found.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            if not found:
                raise InputError("the first row is not UTF-8 text", path, blank + 1) from None
            break
        size += len(line)
        if len(found) >= _SAMPLE_LINES or size > _SAMPLE_BYTES:
            break
    if not found:
        raise InputError("holds no rows", path)
    return blank, found


class _Split:
    """The first lines split by one separator: rows of cells, and how well their widths agree."""

    def __init__(self, lines: Sequence[str], separator: str, path: Path, blank: int, format: str) -> None:
        self.separator = separator
        self.quoted = separator != "\t" or format == "csv"
        if (columns := lines[0].count(separator) + 1) > MAX_COLUMNS:
            raise InputError(
                f"{columns} columns in the first row; {MAX_COLUMNS} are allowed", path, blank + 1
            )
        self.rows: list[list[str]] = []
        self.first_lines = 1
        try:
            for last_line, row in self._rows(lines):
                if not self.rows:
                    self.first_lines = last_line
                if any(row):
                    self.rows.append(row)
        except csv.Error as error:
            if not self.rows:
                carriage_returns = "\r" in lines[0].rstrip("\r\n")
                reason = "lines end in carriage returns instead of line feeds" if carriage_returns else error
                raise InputError(f"the first row is not valid CSV: {reason}", path, blank + 1) from None
        self.first = [cell.strip("\r\n") for cell in self.rows[0]] if self.rows else [""]
        self.width = len(self.first)

    def _rows(self, lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
        """The rows, each with the number of lines up to its end."""
        if not self.quoted:
            plain = (line.rstrip("\r\n").split(self.separator) for line in lines)
            yield from enumerate(plain, start=1)
            return
        reader = csv.reader(lines, delimiter=self.separator)
        for row in reader:
            yield reader.line_num, row

    @property
    def agreement(self) -> float:
        """The share of rows that have as many cells as the first one."""
        return sum(len(row) == self.width for row in self.rows) / max(len(self.rows), 1)

    @property
    def spaces(self) -> int:
        """Number of cells that begin with a space."""
        return sum(cell.startswith(" ") for row in self.rows for cell in row)
