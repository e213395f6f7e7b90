"""Text in bulk: an alignment as batches of columns, and columns as the bytes of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.alignment import Alignment
from largeea.graph import Strings, strings

BATCH_ROWS = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
C1_CONTROLS = range(0x7F, 0xA0)
"""With the delete character below them: a terminal obeys them like those of C0."""


def batches(alignment: Alignment, *, accepted_only: bool) -> Iterator[pa.RecordBatch]:
    """The rows of `Alignment.to_table()` in their order, never more than `BATCH_ROWS` at once."""
    rows = np.flatnonzero(alignment.accepted) if accepted_only else np.arange(len(alignment.pairs))
    for start in range(0, len(rows), BATCH_ROWS):
        yield from part(alignment, rows[start : start + BATCH_ROWS]).to_table().to_batches()


def part(alignment: Alignment, rows: npt.NDArray[np.intp]) -> Alignment:
    """Some pairs of an alignment, in the order of `rows`."""
    return replace(
        alignment,
        pairs=alignment.pairs[rows],
        confidence=alignment.confidence[rows],
        accepted=alignment.accepted[rows],
        evidence={name: column[rows] for name, column in alignment.evidence.items()},
    )


def joined(*parts: pa.Array | str, separator: str = "") -> Strings:
    """The parts of each row after each other; a missing value counts as empty, a str stands in every row."""
    columns = [
        pa.scalar(p, pa.large_string()) if isinstance(p, str) else p.cast(pa.large_string()) for p in parts
    ]
    between = pa.scalar(separator, pa.large_string())
    return pc.binary_join_element_wise(*columns, between, null_handling="replace", null_replacement="")


def escaped(column: Strings, escapes: Mapping[int, str]) -> Strings:
    """The column with characters replaced (`str.translate` table); only rows that hold one are touched."""
    pattern = "[" + "".join(f"\\x{{{code:x}}}" for code in escapes) + "]"
    found = pc.match_substring_regex(column, pattern)
    rewritten = strings([text.translate(escapes) for text in column.filter(found).to_pylist()])
    return pc.replace_with_mask(column, found, rewritten)


def text_of(column: Strings) -> memoryview:
    """All rows of a column after each other, in UTF-8, without a copy."""
    _, offsets, data = column.buffers()
    start, end = np.frombuffer(offsets, np.int64)[[column.offset, column.offset + len(column)]]
    return memoryview(data)[start:end] if data else memoryview(b"")


def first_line(head: bytes) -> bytes:
    """The first line of a file's beginning that is neither blank nor a comment; empty if there is none."""
    lines = (line.strip(b" \r") for line in head.removeprefix(BYTE_ORDER_MARK).split(b"\n"))
    return next((line for line in lines if line and not line.startswith(b"#")), b"")
