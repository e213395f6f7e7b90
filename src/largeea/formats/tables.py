"""Tables in: CSV, TSV and Parquet files whose columns say subject, relation, object, name, attributes."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from largeea.errors import InputError, UsageError
from largeea.formats.builder import GraphBuilder
from largeea.formats.naming import LABEL_PREDICATES
from largeea.formats.rejects import Rejects
from largeea.formats.streams import blocks_of_lines
from largeea.graph import Int64, Strings

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".parquet": "parquet"}
_SEPARATORS = {"csv": ",", "tsv": "\t"}
_KNOWN_HEADERS = {
    "subject": {"subject", "head", "s", "source", "subject_id"},
    "relation": {"relation", "predicate", "p", "property", "rel"},
    "object": {"object", "tail", "o", "target", "object_id"},
}


@dataclass(frozen=True)
class Columns:
    """Which column plays which part: by header name or by number from 1.

    Without a relation column the relation is called what the object column is called.
    """

    subject: str = "1"
    relation: str | None = "2"
    object: str | None = "3"
    name: str | None = None
    attributes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Columns:
        """From `subject=id,object=parent,name=label,attributes=rank+year`."""
        given: dict[str, str] = {}
        for part in text.split(","):
            role, equals, column = part.partition("=")
            role = role.strip()
            if not equals or role not in ("subject", "relation", "object", "name", "attributes"):
                raise UsageError(
                    f"--columns has {part!r}; write for example subject=id,object=parent,name=label "
                    "(parts: subject, relation, object, name, attributes=a+b; columns by header or by number)"
                )
            given[role] = column.strip()
        if "subject" not in given:
            raise UsageError("--columns must say which column is the subject, for example subject=1")
        attributes = tuple(column for column in given.get("attributes", "").split("+") if column)
        return cls(
            given["subject"], given.get("relation"), given.get("object"), given.get("name"), attributes
        )

    @property
    def used(self) -> list[str]:
        """All columns that are mapped."""
        optional = (self.relation, self.object, self.name)
        return [self.subject, *(column for column in optional if column is not None), *self.attributes]


def read_table(
    path: Path, format: str, columns: Columns | None, builder: GraphBuilder, rejects: Rejects
) -> None:
    """Add all rows of one table."""
    builder.files += 1
    before = len(rejects)
    if format == "parquet":
        header, batches = _parquet(path)
    else:
        header, batches = _delimited(path, _SEPARATORS[format], columns, rejects)
    columns = columns or _recognised(header)
    place = {column: _place(column, header, path) for column in columns.used}
    for batch, _ in batches:
        subject = builder.nodes.number_column(batch[place[columns.subject]])
        if columns.object is not None:
            tail = builder.nodes.number_column(batch[place[columns.object]])
            if columns.relation is not None:
                relation = builder.predicates.number_column(batch[place[columns.relation]])
            else:
                title = pa.array([header[place[columns.object]]])
                relation = np.full(len(subject), builder.predicates.number_column(title)[0], np.int32)
            builder.add_triples(subject, relation, tail)
        if columns.name is not None:
            builder.add_named(subject, LABEL_PREDICATES[0], batch[place[columns.name]])
        for column in columns.attributes:
            builder.add_named(subject, header[place[column]], batch[place[column]])
    builder.rejected += len(rejects) - before


def read_delimited(
    path: Path, width: int, rejects: Rejects, separator: str = "\t", skip: int = 0, rest_in_last: bool = False
) -> Iterator[tuple[list[Strings], Int64]]:
    """Rows of exactly `width` cells in batches: the columns and the line number of every row.

    A row with other than `width` cells is rejected; with `rest_in_last` the last cell may hold separators.
    """
    quote: str | bool = '"' if separator == "," else False
    names = [str(i) for i in range(width)]
    for first_line, block in blocks_of_lines(path, rejects):
        bad: list[int] = []
        mended: list[tuple[int, list[str]]] = []
        lines = _filled_lines(block, first_line, skip)

        def refuse(row: pacsv.InvalidRow) -> str:
            line = int(lines[row.number - 1])  # noqa: B023
            cells = row.text.split(separator, width - 1)
            if rest_in_last and len(cells) == width:
                mended.append((row.number - 1, cells))  # noqa: B023
            else:
                reason = f"{row.actual_columns} column(s) where {width} are needed"
                rejects.add(path, line, reason, row.text)
            bad.append(row.number - 1)  # noqa: B023
            return "skip"

        if not len(lines):
            continue
        try:
            table = pacsv.read_csv(
                io.BytesIO(block),
                pacsv.ReadOptions(
                    use_threads=False,
                    block_size=len(block) + 1,
                    column_names=names,
                    skip_rows=max(0, skip + 1 - first_line),
                ),
                pacsv.ParseOptions(delimiter=separator, quote_char=quote, invalid_row_handler=refuse),
                pacsv.ConvertOptions(
                    column_types={name: pa.large_string() for name in names}, strings_can_be_null=False
                ),
            )
        except pa.ArrowInvalid as error:
            raise InputError(f"cannot be read as a table: {error}", path, first_line) from None
        yield [column.combine_chunks() for column in table.columns], np.delete(lines, bad)
        if mended:
            rows = zip(*(cells for _, cells in mended), strict=True)
            yield (
                [pa.array(column, pa.large_string()) for column in rows],
                lines[[number for number, _ in mended]],
            )


def _filled_lines(block: bytes, first_line: int, skip: int) -> Int64:
    """Numbers of the lines that hold anything (the CSV reader passes over empty ones)."""
    data = np.frombuffer(block, np.uint8)
    breaks = np.flatnonzero(data == 10)
    starts = np.concatenate([[0], breaks[:-1] + 1])
    length = breaks - starts
    empty = (length == 0) | ((length == 1) & (data[starts] == 13))
    numbers = first_line + np.arange(len(breaks), dtype=np.int64)
    wanted: Int64 = numbers[~empty & (numbers > skip)]
    return wanted


def _delimited(
    path: Path, separator: str, columns: Columns | None, rejects: Rejects
) -> tuple[list[str], Iterator[tuple[list[Strings], Int64]]]:
    first = next(iter(blocks_of_lines(path, Rejects(max_errors=1 << 30))), (1, b""))[1]
    line = first.lstrip(b"\r\n").split(b"\n", 1)[0].rstrip(b"\r").decode()
    cells = [cell.strip('"') for cell in line.split(separator)]
    has_header = _recognise(cells) is not None or (
        columns is not None and any(not column.isdigit() for column in columns.used)
    )
    if columns is None and len(cells) < 3:
        raise InputError(
            f"{len(cells)} column(s) in the first line, but triples need subject, relation and object; "
            "is the separator right? Say what the columns are with --columns",
            path,
            1,
        )
    header = cells if has_header else [f"column{i + 1}" for i in range(len(cells))]
    return header, read_delimited(path, len(cells), rejects, separator, skip=int(has_header))


def _parquet(path: Path) -> tuple[list[str], Iterator[tuple[list[Strings], Int64]]]:
    if not path.is_file():
        raise InputError("no such file; check the path", path)
    try:
        file = pq.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"is not a readable Parquet file: {error}", path) from None

    def batches() -> Iterator[tuple[list[Strings], Int64]]:
        row = 1
        for batch in file.iter_batches():
            columns = [column.cast(pa.large_string()) for column in batch.columns]
            yield columns, np.arange(row, row + len(batch))
            row += len(batch)

    return list(file.schema_arrow.names), batches()


def _recognised(header: Sequence[str]) -> Columns:
    return _recognise(header) or Columns()


def _recognise(header: Sequence[str]) -> Columns | None:
    """The columns by customary header words, None where the cells are no header."""
    found = {
        role: next((cell for cell in header if cell.strip().lower() in words), None)
        for role, words in _KNOWN_HEADERS.items()
    }
    if found["subject"] is None or found["relation"] is None or found["object"] is None:
        return None
    return Columns(found["subject"], found["relation"], found["object"])


def _place(column: str, header: Sequence[str], path: Path) -> int:
    if column in header:
        return list(header).index(column)
    if column.isdigit() and 1 <= int(column) <= len(header):
        return int(column) - 1
    raise InputError(f"has no column {column!r}; it has {', '.join(header)} (or numbers from 1)", path)
