"""Parquet files that hold far more than they declare, or declare far more than they hold."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 1 << 14
_PAGE_OVERHEAD = 10
"""Bytes of a page beside its one text: the length of the text, and the definition levels."""
IDS = [f"urn:{i}" for i in range(ROWS)]


def parquet_bytes(columns: dict[str, Any], **options: Any) -> bytes:
    """The bytes of a table as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **{"compression": "zstd"} | options)
    return sink.getvalue()


def false_footer(size: int) -> bytes:
    """A page that unpacks to `size` bytes, below a footer that declares 1000."""
    content = parquet_bytes(
        {"subject": ["urn:a"], "relation": ["p"], "object": ["z" * size]},
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
        data_page_size=1 << 31,
    )
    group = pq.read_metadata(io.BytesIO(content)).row_group(0)
    for true in (group.total_byte_size, group.column(2).total_uncompressed_size):
        before, found, after = content.rpartition(_number(true))
        content = before + _number(1000, len(found)) + after
    return content


def false_page_header(size: int) -> bytes:
    """A page that declares to unpack to `size` bytes, far more than it does."""
    true = 140_000_000
    before, found, after = false_footer(true).partition(_number(true + _PAGE_OVERHEAD))
    assert found, "the page header was not found"
    return before + _number(size, len(found)) + after


def one_text_in_every_row(kind: pa.DataType, text: str | bytes) -> bytes:
    """A text that is stored once and stands in every row."""
    column = pa.DictionaryArray.from_arrays(np.zeros(ROWS, np.int32), pa.array([text], kind))
    return parquet_bytes({"subject": IDS, "name": column.cast(kind)})


def shared_prefixes() -> bytes:
    """Texts of which each row stores only how it differs from the row before."""
    return parquet_bytes(
        {"subject": IDS[:4000], "name": [f"{'x' * 100_000}{i}" for i in range(4000)]},
        use_dictionary=False,
        column_encoding={"subject": "PLAIN", "name": "DELTA_BYTE_ARRAY"},
    )


def _number(value: int, width: int = 0) -> bytes:
    """A number as Thrift's compact protocol writes it, in at least `width` bytes."""
    value, found = 2 * value, bytearray()
    while value > 127 or len(found) + 1 < width:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


PARQUET: dict[str, Callable[[int], bytes]] = {
    "false_footer.parquet": lambda port: false_footer(500_000_000),
    "false_page_header.parquet": lambda port: false_page_header((1 << 30) - 1),
    "repeated_string.parquet": lambda port: one_text_in_every_row(pa.string(), "y" * 60_000),
    "repeated_large_string.parquet": lambda port: one_text_in_every_row(pa.large_string(), "y" * 60_000),
    "repeated_binary.parquet": lambda port: one_text_in_every_row(pa.large_binary(), b"y" * 60_000),
    "shared_prefixes.parquet": lambda port: shared_prefixes(),
    "long_list.parquet": lambda port: parquet_bytes({"subject": ["urn:a"], "name": [["a"] * 5_000_000]}),
    "many_columns.parquet": lambda port: parquet_bytes({f"c{i}": ["x"] for i in range(5000)}),
    "many_rows.parquet": lambda port: parquet_bytes({"subject": pa.nulls(20_000_000, pa.string())}),
    "cut_short.parquet": lambda port: parquet_bytes({"subject": IDS, "name": IDS})[:-1000],
    "footer_only.parquet": lambda port: b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1",
}
