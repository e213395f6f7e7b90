"""Reads a sheet of an Excel workbook as a program of its own, with limits on memory and time.

`xlsx.py` runs this file, so it imports nothing of LargeEA but `child`. Standard output has an Arrow IPC
stream of the rows that are not empty: their numbers and cells. A workbook is a ZIP archive of XML files. The
sizes that it declares are checked first, which `zipfile` enforces, and XML with a document type (the only
place of entities) is refused. Still, 90 KB can be gigabytes of styles in openpyxl: only a limit on the
process holds in all cases.
"""

from __future__ import annotations

import datetime
import os
import resource
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import IO, Any
from xml.parsers import expat

import openpyxl  # type: ignore[import-untyped]
import pyarrow as pa

from largeea.child import MISUSED, OUT_OF_MEMORY, REFUSED, TOO_MUCH_TEXT, is_out_of_memory, limit, refuse

SCHEMA = pa.schema({"number": pa.int64(), "cells": pa.list_(pa.large_string())})
MAX_ROWS = 1 << 20
"""Rows of a sheet, by the file format."""
MAX_COLUMNS = 4096
_MAX_FILES = 10_000
_ROWS_AT_ONCE = 1 << 13
_BLOCK = 1 << 16
_ERRORS = {"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA"}
"""Values of formulas that failed."""

Row = tuple[int, list[str | None]]


class Refused(Exception):  # noqa: N818
    """A workbook that is not read: the exit code, the message, and the row that it is about."""

    def __init__(self, code: int, message: str = "", line: int | None = None) -> None:
        super().__init__(code, message, line)
        self.code, self.message, self.line = code, message, line


def check_archive(file: IO[bytes], most_bytes: int) -> None:
    """Raise unless the archive declares a plausible size and no file in it has a document type."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if sum(member.file_size for member in members) > most_bytes or len(members) > _MAX_FILES:
            raise Refused(TOO_MUCH_TEXT)
        for member in members:
            check_prolog(archive, member)


class _Root(Exception):  # noqa: N818
    """Raised at the first element, where the prolog ends."""


def check_prolog(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Raise if a file, whatever its name, is XML with a document type, which only its prolog can have."""

    def refuse(*_: Any) -> None:
        raise Refused(REFUSED, f"{member.filename} in it has a document type; no genuine workbook has")

    def at_root(*_: Any) -> None:
        raise _Root

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, at_root
    with suppress(_Root, expat.ExpatError), archive.open(member) as stream:  # what is no XML is not parsed
        while block := stream.read(_BLOCK):
            parser.Parse(block, False)


def find_sheet(workbook: Any, wanted: str) -> Any:
    """The sheet of that name, or the first one."""
    sheets = {sheet.title: sheet for sheet in workbook.worksheets}
    if not sheets:
        raise Refused(REFUSED, "holds no sheet with cells")
    if wanted and wanted not in sheets:
        raise Refused(MISUSED, f"has no sheet {wanted!r}; it has {', '.join(sheets)}")
    return sheets[wanted] if wanted else next(iter(sheets.values()))


def rows_of(sheet: Any) -> Iterator[Row]:
    """The rows that are not empty, with their numbers, without empty cells at the end."""
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if number > MAX_ROWS:
            raise Refused(REFUSED, f"has more than {MAX_ROWS:,} rows, which no workbook can have")
        cells = [text_of(value) for value in row]
        while cells and cells[-1] is None:
            cells.pop()
        if len(cells) > MAX_COLUMNS:
            raise Refused(REFUSED, f"{len(cells)} columns; {MAX_COLUMNS} are allowed", number)
        if cells:
            yield number, cells


def text_of(value: Any) -> str | None:
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


def write_rows(rows: Iterator[Row], most_text: int) -> None:
    """Write rows to standard output; more than `most_text` bytes are refused."""
    text = 0
    with pa.ipc.new_stream(sys.stdout.buffer, SCHEMA) as sink:
        while some := list(islice(rows, _ROWS_AT_ONCE)):
            numbers, cells = zip(*some, strict=True)
            batch = pa.record_batch([pa.array(numbers, pa.int64()), pa.array(cells, SCHEMA[1].type)], SCHEMA)
            text += batch.nbytes
            if text > most_text:
                raise Refused(TOO_MUCH_TEXT)
            sink.write_batch(batch)
    sys.stdout.buffer.flush()


def main(memory: int, most_text: int, seconds: int, sheet: str) -> int:
    """Write the rows of a sheet of the workbook at standard input, and return the exit code."""
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_DATA, memory)
    limit(resource.RLIMIT_CPU, seconds)
    warnings.simplefilter("ignore")
    file = sys.stdin.buffer
    try:
        check_archive(file, most_text)
        workbook = openpyxl.load_workbook(file, read_only=True, data_only=True)
        found = find_sheet(workbook, sheet)
        found.reset_dimensions()
        write_rows(rows_of(found), most_text)
    except Refused as error:
        return refuse(error.message, error.line, error.code)
    except Exception as error:  # openpyxl raises anything for a damaged workbook
        if is_out_of_memory(error):
            return OUT_OF_MEMORY
        reason = str(error).strip("'\"") or type(error).__name__
        advice = "open it in a spreadsheet program and save it as .xlsx or as CSV"
        return refuse(f"is not a readable Excel workbook: {reason}; {advice}")
    return 0


if __name__ == "__main__":
    most_memory, most_bytes, most_seconds = map(int, sys.argv[1:4])
    ended_with = main(most_memory, most_bytes, most_seconds, sys.argv[4])
    sys.stderr.flush()
    os._exit(ended_with)  # threads of Arrow that are still starting would abort an ordinary exit
