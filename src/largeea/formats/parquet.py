"""Reading Parquet: batches of rows, whose size is checked before they are read."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.formats.streams import EXPANSION_COUNTS_FROM, MAX_EXPANSION, is_compressed, open_bytes
from largeea.graph import Strings

_TRIPLE_BYTES = 12
_ROWS_AT_ONCE = 1 << 14
_BATCH_BYTES = 256 << 20
"""Text of one column in one batch of rows; genuine tables have less."""


def read_parquet(path: Path) -> tuple[list[str], Iterator[pa.RecordBatch]]:
    """The names of the columns, and the rows. Text is dictionary-encoded; see `text_column`."""
    import pyarrow.parquet as pq  # imported lazily: slow to import, and few tables are Parquet

    with open_bytes(path) as stream:
        source = io.BytesIO(stream.read()) if is_compressed(path) else path
    try:
        texts = [field.name for field in pq.read_schema(source) if pa.types.is_string(field.type)]
        file = pq.ParquetFile(source, read_dictionary=texts)
        names = list(file.schema_arrow.names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"is not a readable Parquet file: {error}", path) from None
    groups = (file.metadata.row_group(i) for i in range(file.metadata.num_row_groups))
    claimed = max(file.metadata.num_rows * _TRIPLE_BYTES, sum(group.total_byte_size for group in groups))
    if claimed > growth_limit(path):
        raise bomb(path)

    def batches() -> Iterator[pa.RecordBatch]:
        rows = 0
        try:
            for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE):
                rows += len(batch)
                yield batch
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"is a damaged Parquet file: {error}", path) from None
        if rows != file.metadata.num_rows:
            declared = file.metadata.num_rows
            raise InputError(f"is a damaged Parquet file: {rows} rows instead of {declared}", path)

    return names, batches()


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
    if isinstance(column, pa.DictionaryArray) and pa.types.is_string(column.dictionary.type):
        lengths = pc.binary_length(column.dictionary).take(column.indices)
        if (pc.sum(lengths).as_py() or 0) > _BATCH_BYTES:
            raise bomb(path)
    try:
        text = column.cast(pa.large_string())
    except pa.ArrowException:
        raise InputError(f"column {title!r} is of type {column.type}, which is not text", path) from None
    return pc.if_else(pc.equal(text, ""), None, text)


def growth_limit(path: Path) -> int:
    """The number of bytes that may come out of a file."""
    return max(EXPANSION_COUNTS_FROM, path.stat().st_size * MAX_EXPANSION)


def bomb(path: Path) -> InputError:
    """The error for a file whose content is far larger than the file."""
    return InputError(
        "holds far more text than its size explains, like a decompression bomb; "
        "if the file is genuine, give it as TSV",
        path,
    )
