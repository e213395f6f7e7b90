"""Rows of one sheet of an Excel workbook (XLSX), read in a child process; needs the package openpyxl."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from largeea.errors import InputError
from largeea.formats.decoding import Decoder
from largeea.formats.delimited import Rows
from largeea.formats.header import is_header
from largeea.formats.rejects import Rejects
from largeea.formats.streams import is_compressed
from largeea.graph import strings
from largeea.plugins import optional

EXCEL = Decoder(str(Path(__file__).with_name("xlsx_program.py")), "Excel", seconds=30, seconds_per_mb=10)
"""Its time: openpyxl reads a MB of a genuine workbook in about 2 s."""
_ROWS_AT_ONCE = 1 << 13
_SAMPLE_ROWS = 200

Cells = list[str | None]
NumberedRows = Iterator[tuple[int, Cells]]


def read_xlsx(
    path: Path, rejects: Rejects, sheet: str | None = None, named: bool = False
) -> tuple[list[str], bool | None, Iterator[Rows]]:
    """The headers of a sheet, whether they are from its first row, and its rows; the first sheet by default.

    `named` says that the first row is a header. Rows with more cells than the first one are rejected.
    """
    optional("openpyxl", "xlsx", f"{path.name}, an Excel workbook,")
    if is_compressed(path):
        raise InputError("is a compressed workbook; decompress it and give the .xlsx file", path)
    if not path.is_file():
        raise InputError("no such file; check the path", path)
    rows = _rows(EXCEL.batches(path, sheet or ""))
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


def _rows(batches: Iterator[pa.RecordBatch]) -> NumberedRows:
    for batch in batches:
        yield from zip(batch["number"].to_pylist(), batch["cells"].to_pylist(), strict=True)


def _batches(rows: NumberedRows, width: int, path: Path, rejects: Rejects) -> Iterator[Rows]:
    while some := list(islice(rows, _ROWS_AT_ONCE)):
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
