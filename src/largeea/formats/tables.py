"""Reading tables: CSV, TSV and Parquet files with columns for subject, relation, object, name, attributes."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from largeea.errors import InputError, UsageError
from largeea.formats.builder import GraphBuilder
from largeea.formats.delimited import Rows, read_delimited
from largeea.formats.identifiers import flaws
from largeea.formats.naming import LABEL_PREDICATES
from largeea.formats.parquet import read_parquet, text_column
from largeea.formats.rejects import Rejects
from largeea.formats.streams import limited_lines
from largeea.graph import Strings, strings

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".parquet": "parquet"}
MAX_COLUMNS = 4096
_SEPARATORS = {"csv": ",", "tsv": "\t"}
_KNOWN_HEADERS = {
    "subject": {"subject", "head", "s", "source", "subject_id"},
    "relation": {"relation", "predicate", "p", "property", "rel"},
    "object": {"object", "tail", "o", "target", "object_id"},
}


@dataclass(frozen=True)
class Columns:
    """The role of each column, given by its header or its number from 1.

    Without a relation column, the header of the object column is the relation.
    """

    subject: str = "1"
    relation: str | None = "2"
    object: str | None = "3"
    name: str | None = None
    attributes: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Columns:
        """Columns from text such as `subject=id,object=parent,name=label,attributes=rank+year`."""
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
        if "relation" in given and "object" not in given:
            raise UsageError("--columns has a relation but no object; name the column of the object too")
        attributes = tuple(column for column in given.get("attributes", "").split("+") if column)
        return cls(
            given["subject"], given.get("relation"), given.get("object"), given.get("name"), attributes
        )

    @property
    def used(self) -> list[str]:
        """All columns that have a role."""
        optional = (self.relation, self.object, self.name)
        return [self.subject, *(column for column in optional if column is not None), *self.attributes]

    @property
    def needed(self) -> list[str]:
        """The columns in which a row must not be empty."""
        if self.relation is None or self.object is None:
            return [self.subject]
        return [self.subject, self.relation, self.object]


def read_table(
    path: Path, format: str, columns: Columns | None, builder: GraphBuilder, rejects: Rejects
) -> None:
    """Add all rows of one table.

    With a relation column, a row is a statement, and none of its three cells may be empty. Without one it is
    a record: its object may be missing (a root has no parent), but not its subject.
    """
    builder.files += 1
    header, batches = (
        _parquet(path, rejects) if format == "parquet" else _delimited(path, format, columns, rejects)
    )
    columns = columns or _recognise(header) or Columns()
    place = {column: _place(column, header, path) for column in columns.used}
    ids = dict.fromkeys(column for column in (columns.subject, columns.relation, columns.object) if column)
    stating = [column for column in (columns.object, columns.name) if column] + list(columns.attributes)
    for batch, lines, found in batches:
        cells = {column: text_column(batch[at], header[at], path) for column, at in place.items()}
        unusable = flaws({column: cells[column] for column in ids}, ids.keys() - set(columns.needed))
        for row, reason in unusable.items():
            text = "\t".join(cell[row].as_py() or "" for cell in cells.values())
            rejects.add(path, int(lines[row]), reason, text)
        if unusable:
            usable = np.ones(len(lines), bool)
            usable[list(unusable)] = False
            cells = {column: cell.filter(pa.array(usable)) for column, cell in cells.items()}
        # A rejected row counts as one unit; a usable one as one for each cell that may state something.
        builder.scanned += found + (len(stating) - 1) * (len(lines) - len(unusable))
        builder.skipped += sum(cells[column].null_count for column in stating)
        _add_rows(builder, columns, cells, {column: header[at] for column, at in place.items()})


def _add_rows(
    builder: GraphBuilder, columns: Columns, cells: dict[str, Strings], titles: dict[str, str]
) -> None:
    subject = builder.nodes.number_column(cells[columns.subject])
    if columns.object is not None:
        tail = builder.nodes.number_column(cells[columns.object])
        if columns.relation is not None:
            relation = builder.predicates.number_column(cells[columns.relation])
        else:
            title = builder.predicates.number_column(strings([titles[columns.object]]))
            relation = np.full(len(subject), title[0], np.int32)
        there = tail >= 0
        builder.add_triples(subject[there], relation[there], tail[there])
    if columns.name is not None:
        builder.add_named(subject, LABEL_PREDICATES[0], cells[columns.name])
    for column in columns.attributes:
        builder.add_named(subject, titles[column], cells[column])


def _delimited(
    path: Path, format: str, columns: Columns | None, rejects: Rejects
) -> tuple[list[str], Iterator[Rows]]:
    separator = _SEPARATORS[format]
    number, cells = _first_row(path, separator)
    has_header = _recognise(cells) is not None or (
        columns is not None and any(not column.isdigit() for column in columns.used)
    )
    if columns is None and len(cells) < 3:
        raise InputError(
            f"{len(cells)} column(s) in the first row, but triples need subject, relation and object; "
            "is the separator right? Name the columns with --columns",
            path,
            number,
        )
    header = cells if has_header else [f"column{i + 1}" for i in range(len(cells))]
    return header, read_delimited(path, len(cells), rejects, separator, skip=number if has_header else 0)


def _first_row(path: Path, separator: str) -> tuple[int, list[str]]:
    """The line number and the cells of the first row that is not empty."""
    for number, line in enumerate(limited_lines(path), start=1):
        if row := line.strip(b"\r\n"):
            return number, _cells(row, separator, path, number)
    raise InputError("holds no rows", path)


def _cells(row: bytes, separator: str, path: Path, number: int) -> list[str]:
    if (columns := row.count(separator.encode()) + 1) > MAX_COLUMNS:
        raise InputError(f"{columns} columns in the first row; {MAX_COLUMNS} are allowed", path, number)
    try:
        text = row.decode("utf-8")
        return next(csv.reader([text])) if separator == "," and '"' in text else text.split(separator)
    except UnicodeDecodeError:
        raise InputError("the first row is not UTF-8 text", path, number) from None
    except csv.Error as error:
        reason = "lines end in carriage returns instead of line feeds" if b"\r" in row else str(error)
        raise InputError(f"the first row is not valid CSV: {reason}", path, number) from None


def _parquet(path: Path, rejects: Rejects) -> tuple[list[str], Iterator[Rows]]:
    header, batches = read_parquet(path)

    def rows() -> Iterator[Rows]:
        row = 1
        for batch in batches:
            rejects.saw(len(batch))
            yield Rows(batch.columns, np.arange(row, row + len(batch)), len(batch))
            row += len(batch)

    return header, rows()


def _recognise(header: Sequence[str]) -> Columns | None:
    """The columns by usual header words; None if the cells are not a header."""
    found = {
        role: next((cell for cell in header if cell.strip().lower() in words), None)
        for role, words in _KNOWN_HEADERS.items()
    }
    if found["subject"] is None or found["relation"] is None or found["object"] is None:
        return None
    return Columns(found["subject"], found["relation"], found["object"])


def _place(column: str, header: Sequence[str], path: Path) -> int:
    if header.count(column) > 1:
        raise InputError(f"has {header.count(column)} columns {column!r}; give them different names", path)
    if column in header:
        return header.index(column)
    if column.isdigit() and 1 <= int(column) <= len(header):
        return int(column) - 1
    raise InputError(f"has no column {column!r}; it has {', '.join(header)} (or numbers from 1)", path)
