"""Graphs from tables in memory: data frames of pandas or polars, Arrow tables, or a dict of columns."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from largeea.errors import InputError
from largeea.formats.builder import GraphBuilder
from largeea.formats.columns import Columns
from largeea.formats.naming import Naming
from largeea.formats.rejects import Rejects
from largeea.formats.tables import Table, add_table, rows_of_batches
from largeea.graph import KnowledgeGraph

_ROWS_AT_ONCE = 1 << 16


def is_table(given: Any) -> bool:
    """Whether `graph_of_table` takes this: an Arrow table, a data frame, or a dict of columns."""
    if isinstance(given, Mapping):
        return bool(given) and all(
            hasattr(column, "__len__") and not isinstance(column, str | bytes | Mapping)
            for column in given.values()
        )
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__dataframe__")


def graph_of_table(
    table: Any,
    columns: Columns | str | None = None,
    *,
    naming: Naming | None = None,
    max_errors: int | None = None,
    name: str = "table",
) -> KnowledgeGraph:
    """The graph of a table in memory.

    `table` is anything that speaks the Arrow stream protocol or the data frame interchange protocol (pandas,
    polars, pyarrow, a DuckDB relation), or a dict of columns. `columns` says what each column is, as for
    `--columns`; without it, that is guessed. `name` stands for the table in messages.

    Example: `graph_of_table(pandas.read_sql(query, db), "subject=id,name=label,attributes=city+year")`.
    """
    place = Path(name)
    found = _with_dates(_arrow_table(table, place))
    if isinstance(columns, str):
        columns = Columns.parse(columns)
    rejects, builder = Rejects(max_errors), GraphBuilder()
    rows = rows_of_batches(iter(found.to_batches(max_chunksize=_ROWS_AT_ONCE)), rejects)
    titles = [str(title) for title in found.column_names]
    builder.files = 1
    add_table(Table(place, titles, True, rows), columns, builder, rejects)
    builder.rejected = len(rejects)
    rejects.tell()
    return builder.build(naming or Naming())


def _arrow_table(given: Any, place: Path) -> pa.Table:
    if not is_table(given):
        raise TypeError(
            f"{place} must be a data frame, an Arrow table or a dict of columns, not {type(given).__name__}"
        )
    try:
        if isinstance(given, Mapping):
            return pa.table({str(title): column for title, column in given.items()})
        if hasattr(given, "__arrow_c_stream__"):
            return pa.table(given)
        from pyarrow import interchange  # imported lazily: seldom needed

        return interchange.from_dataframe(given)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise InputError(
            f"cannot be read as a table: {error}; give each column values of one type, or text", place
        ) from None


def _with_dates(table: pa.Table) -> pa.Table:
    """The table with dates instead of time stamps in columns where every time is midnight."""
    for at, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            with suppress(pa.ArrowInvalid):
                table = table.set_column(at, field.name, table.column(at).cast(pa.date32()))
    return table
