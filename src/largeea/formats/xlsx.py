"""Rows of one sheet of an Excel workbook (XLSX), read as a stream; needs the package openpyxl.

A workbook is a ZIP archive of XML files. Before it is read, the sizes that it declares are checked, which
`zipfile` enforces, and XML with a document type (the only place of entities) is refused.
"""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np

from largeea.errors import InputError, LargeEAError, UsageError
from largeea.formats.delimited import Rows
from largeea.formats.dialect import MAX_COLUMNS
from largeea.formats.header import is_header
from largeea.formats.parquet import bomb, growth_limit
from largeea.formats.rejects import Rejects
from largeea.formats.streams import is_compressed
from largeea.graph import strings
from largeea.plugins import optional

MAX_ROWS = 1 << 20
"""Rows of a sheet, by the file format."""
_MAX_FILES = 10_000
_ROWS_AT_ONCE = 1 << 13
_SAMPLE_ROWS = 200
_BLOCK = 1 << 16
_ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA"}
"""Values of formulas that failed."""

Cells = list[str | None]
NumberedRows = Iterator[tuple[int, Cells]]


def read_xlsx(
    path: Path, rejects: Rejects, sheet: str | None = None, named: bool = False
) -> tuple[list[str], bool | None, Iterator[Rows]]:
    """The headers of a sheet, whether they are from its first row, and its rows; the first sheet by default.

    `named` says that the first row is a header. Rows with more cells than the first one are rejected.
    """
    library = optional("openpyxl", "xlsx", f"{path.name}, an Excel workbook,")
    _check_archive(path)
    with _explaining(path):
        with warnings.catch_warnings(action="ignore"):
            archive = io.BytesIO(path.read_bytes())  # nothing stays open if the rows are not read
            workbook = library.load_workbook(archive, read_only=True, data_only=True)
            found = _sheet(workbook, sheet, path)
            found.reset_dimensions()
        rows = _rows(found, path)
        first = list(islice(rows, _SAMPLE_ROWS))
    if not first:
        raise InputError("holds no rows" if sheet is None else f"the sheet {sheet!r} holds no rows", path)
    titles = [cell or "" for cell in first[0][1]]
    header = named or is_header(titles, [[cell or "" for cell in cells] for _, cells in first[1:]])
    data = chain(first[1:] if header else first, rows)
    titles = (
        [title.strip() for title in titles] if header else [f"column{at + 1}" for at in range(len(titles))]
    )
    return titles, header, _batches(data, len(titles), path, rejects)


def _sheet(workbook: Any, wanted: str | None, path: Path) -> Any:
    """The sheet of that name, or the first one."""
    sheets = {sheet.title: sheet for sheet in workbook.worksheets}
    if not sheets:
        raise InputError("holds no sheet with cells", path)
    if wanted is not None and wanted not in sheets:
        raise UsageError(f"{path} has no sheet {wanted!r}; it has {', '.join(sheets)}")
    return next(iter(sheets.values())) if wanted is None else sheets[wanted]


def _rows(sheet: Any, path: Path) -> NumberedRows:
    """The rows that are not empty, with their numbers, without empty cells at the end."""
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MAX_ROWS:
            raise InputError(f"has more than {MAX_ROWS:,} rows, which no workbook can have", path)
        cells = [_text(value) for value in row]
        while cells and cells[-1] is None:
            cells.pop()
        if len(cells) > MAX_COLUMNS:
            raise InputError(f"{len(cells)} columns; {MAX_COLUMNS} are allowed", path, number)
        if cells:
            yield number, cells


def _batches(rows: NumberedRows, width: int, path: Path, rejects: Rejects) -> Iterator[Rows]:
    while True:
        with _explaining(path):
            some = list(islice(rows, _ROWS_AT_ONCE))
        if not some:
            return
        rejects.saw(len(some))
        kept: list[Cells] = []
        numbers: list[int] = []
        for number, cells in some:
            if len(cells) > width:
                text = "\t".join(cell or "" for cell in cells)
                rejects.add(path, number, f"{len(cells)} column(s) where {width} are needed", text)
            else:
                kept.append(cells + [None] * (width - len(cells)))
                numbers.append(number)
        columns: Sequence[Sequence[str | None]] = list(zip(*kept, strict=True)) or [()] * width
        yield Rows([strings(column) for column in columns], np.array(numbers, np.int64), len(some))


def _text(value: Any) -> str | None:
    """A cell as text: dates in ISO form, whole numbers without a fraction; nothing for errors of formulas."""
    if value is None or (isinstance(value, str) and (not value.strip() or value in _ERRORS)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        return str(value.date()) if value.time() == datetime.time() else value.isoformat(" ")
    return str(value)


def _check_archive(path: Path) -> None:
    """Raise unless the archive is sound, declares a plausible size, and its XML has no document type."""
    if is_compressed(path):
        raise InputError("is a compressed workbook; decompress it and give the .xlsx file", path)
    if not path.is_file():
        raise InputError("no such file; check the path", path)
    with _explaining(path), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if (
            sum(member.file_size for member in members) > growth_limit(path.stat().st_size)
            or len(members) > _MAX_FILES
        ):
            raise bomb(path)
        for member in members:
            if member.filename.endswith((".xml", ".rels")):
                _check_prolog(archive, member, path)


class _Root(Exception):  # noqa: N818
    """Raised at the first element, where the prolog ends."""


def _check_prolog(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Raise if an XML file has a document type, which only its prolog can have."""

    def refuse(*_: Any) -> None:
        raise InputError(f"{member.filename} in it has a document type; no genuine workbook has", path)

    def at_root(*_: Any) -> None:
        raise _Root

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, at_root
    try:
        with archive.open(member) as stream:
            while block := stream.read(_BLOCK):
                parser.Parse(block, False)
    except _Root:
        return


@contextmanager
def _explaining(path: Path) -> Iterator[None]:
    """Turn whatever the libraries raise for a damaged workbook into an `InputError`."""
    try:
        yield
    except LargeEAError:
        raise
    except Exception as error:
        reason = str(error).strip("'\"") or type(error).__name__
        raise InputError(
            f"is not a readable Excel workbook: {reason}; open it in a spreadsheet program and save it as "
            ".xlsx or as CSV",
            path,
        ) from None
