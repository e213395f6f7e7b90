"""Reading tables: CSV, TSV, Parquet and XLSX files with columns for ids, names, links and attributes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.formats.builder import GraphBuilder
from largeea.formats.column_guess import guess_columns
from largeea.formats.columns import Columns as Columns
from largeea.formats.columns import place_of
from largeea.formats.delimited import Rows, read_delimited
from largeea.formats.dialect import SEPARATOR_NAMES, SEPARATORS, find_dialect
from largeea.formats.guess import Guess
from largeea.formats.identifiers import flaws
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES
from largeea.formats.parquet import read_parquet, text_column
from largeea.formats.rejects import Rejects
from largeea.formats.xlsx import read_xlsx
from largeea.graph import Int32, Strings, strings
from largeea.progress import note

SUFFIXES = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".parquet": "parquet", ".xlsx": "xlsx"}
SAMPLE_ROWS = 20_000
"""Rows from which the roles of columns are guessed."""
_ALIAS = next(iter(ALIAS_PREDICATES))


@dataclass(frozen=True)
class Table:
    """An open table: the place it comes from, headers, and rows in batches.

    `header` says whether the headers are from the file; None if its first row, which is the first of `rows`,
    may be a header.
    """

    path: Path
    titles: list[str]
    header: bool | None
    rows: Iterator[Rows]
    remark: str = ""
    """What the user should know about how the file is read."""


def read_table(
    path: Path,
    format: str,
    columns: Columns | None,
    builder: GraphBuilder,
    rejects: Rejects,
    sheet: str | None = None,
) -> None:
    """Add all rows of one table file; without `columns`, their roles are guessed.

    An unclear guess is an `InputError` that says which option to give.
    """
    builder.files += 1
    add_table(open_table(path, format, columns, rejects, sheet), columns, builder, rejects)


def guess_table(path: Path, format: str, sheet: str | None = None) -> Guess:
    """The roles of the columns of a table file, as `read_table` guesses them."""
    return _guess(open_table(path, format, None, Rejects(1 << 62), sheet))[0]


def open_table(
    path: Path, format: str, columns: Columns | None, rejects: Rejects, sheet: str | None = None
) -> Table:
    """Open a table file. Columns that are given by header say that there is one."""
    if format == "parquet":
        return _parquet(path, rejects)
    named = columns is not None and any(not column.isdigit() for column in columns.used)
    if format == "xlsx":
        return Table(path, *read_xlsx(path, rejects, sheet, named))
    dialect = find_dialect(path, format)
    header = True if named else dialect.header
    usual = dialect.separator == SEPARATORS[format]
    remark = "" if usual else f"cells are separated by {SEPARATOR_NAMES[dialect.separator]}s"
    titles = dialect.first if header else [f"column{at + 1}" for at in range(len(dialect.first))]
    skip = dialect.last_line if header else 0
    rows = read_delimited(path, len(titles), rejects, dialect.separator, skip=skip, quoted=dialect.quoted)
    return Table(path, [title.strip() for title in titles], header, rows, remark)


def add_table(table: Table, columns: Columns | None, builder: GraphBuilder, rejects: Rejects) -> None:
    """Add all rows of a table.

    With a relation column, a row is a statement, and none of its three cells may be empty. Without one it is
    a record: any of its cells may be empty (a root has no parent), but not its subject, and white space
    around cells does not count.
    """
    path, titles = table.path, table.titles
    guess = None
    if columns is None:
        guess, table = _guess(table)
        guess.refuse_doubts(path)
        columns = guess.columns
    if table.remark:
        note(f"{path}: {table.remark}")
    if guess is not None and columns.relation is None:
        note(f"{path}: columns are read as --columns {shlex.quote(columns.to_text())}")
    place = {column: place_of(column, titles, path) for column in columns.used}
    ids, stating = columns.identifiers, columns.stating
    for batch, lines, found in table.rows:
        cells = {column: text_column(batch[at], titles[at], path) for column, at in place.items()}
        if columns.relation is None:
            cells = {column: _trimmed(cell) for column, cell in cells.items()}
        unusable = flaws({column: cells[column] for column in ids}, set(ids) - set(columns.needed))
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
        _add_rows(builder, columns, cells, {column: titles[at] for column, at in place.items()})


def _trimmed(cells: Strings) -> Strings:
    """The cells without white space at their ends, null where nothing is left."""
    text = pc.utf8_trim_whitespace(cells)
    return pc.if_else(pc.equal(text, ""), None, text)


def _add_rows(
    builder: GraphBuilder, columns: Columns, cells: dict[str, Strings], titles: dict[str, str]
) -> None:
    subject = builder.nodes.number_column(cells[columns.subject])
    if columns.object is not None and columns.relation is not None:
        tail = builder.nodes.number_column(cells[columns.object])
        builder.add_triples(subject, builder.predicates.number_column(cells[columns.relation]), tail)
    linking = columns.links if columns.relation or not columns.object else (columns.object, *columns.links)
    for column in linking:
        _add_links(builder, subject, titles[column], cells[column])
    if columns.name is not None:
        builder.add_named(subject, LABEL_PREDICATES[0], cells[columns.name])
    for column in columns.aliases:
        builder.add_named(subject, _ALIAS, cells[column])
    for column in columns.attributes:
        builder.add_named(subject, titles[column], cells[column])


def _add_links(builder: GraphBuilder, subject: Int32, title: str, cells: Strings) -> None:
    """Add a triple for each cell that is not empty, with the header as relation."""
    tail = builder.nodes.number_column(cells)
    relation = builder.predicates.number_column(strings([title]))[0]
    there = tail >= 0
    builder.add_triples(subject[there], np.full(int(there.sum()), relation, np.int32), tail[there])


def _guess(table: Table) -> tuple[Guess, Table]:
    """The guess from the first rows, and the table with these rows still to be read."""
    first: list[Rows] = []
    rows = 0
    for batch in table.rows:
        first.append(batch)
        rows += len(batch.lines)
        if rows >= SAMPLE_ROWS:
            break
    if not rows and table.header:
        raise InputError("holds a header but no rows below it", table.path)
    sample = []
    for at, title in enumerate(table.titles):
        parts = [_text(batch.columns[at], title, table.path) for batch in first if len(batch.lines)]
        sample.append(pa.concat_arrays(parts).slice(0, SAMPLE_ROWS) if parts else strings())
    guess = guess_columns(table.titles, table.header, sample)
    return guess, replace(table, rows=chain(first, table.rows))


def _text(column: pa.Array, title: str, path: Path) -> Strings:
    """A column as text, all null if it holds lists or records."""
    nested = pa.types.is_nested(column.type)
    return pa.nulls(len(column), pa.large_string()) if nested else text_column(column, title, path)


def _parquet(path: Path, rejects: Rejects) -> Table:
    titles, batches = read_parquet(path)
    return Table(path, titles, True, rows_of_batches(batches, rejects))


def rows_of_batches(batches: Iterator[pa.RecordBatch], rejects: Rejects) -> Iterator[Rows]:
    """The rows of Arrow batches, numbered from 1."""
    row = 1
    for batch in batches:
        rejects.saw(len(batch))
        yield Rows(batch.columns, np.arange(row, row + len(batch)), len(batch))
        row += len(batch)
