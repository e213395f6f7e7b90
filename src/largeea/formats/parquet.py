"""Reading Parquet: batches of rows, decoded in a child process whose memory and time are limited."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.formats.decoding import Decoder
from largeea.graph import Strings


@cache
def _decoder() -> Decoder:
    from largeea.formats import parquet_program  # imported lazily: slow to import

    return Decoder(parquet_program.__file__, "Parquet", seconds=10, seconds_per_mb=1)


def read_parquet(path: Path) -> tuple[list[str], Iterator[pa.RecordBatch]]:
    """The names of the columns, and the rows; see `text_column`."""
    batches = _decoder().batches(path)
    return list(next(batches).schema.names), batches


def validated(column: pa.Array, title: str, path: Path) -> pa.Array:
    """The column, after its offsets, its UTF-8 and its dictionary indices have been checked."""
    try:
        column.validate(full=True)
    except pa.ArrowException as error:
        raise InputError(f"column {title!r} is damaged: {error}", path) from None
    return column


def text_column(column: pa.Array, title: str, path: Path) -> Strings:
    """A column as text, null where a cell is empty."""
    validated(column, title, path)
    try:
        text = column.cast(pa.large_string())
    except pa.ArrowException:
        raise InputError(f"column {title!r} is of type {column.type}, which is not text", path) from None
    return pc.if_else(pc.equal(text, ""), None, text)
