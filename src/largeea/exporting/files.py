"""Parquet and NumPy files, written so that a failure leaves the old file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.graph import Strings
from largeea.runs.files import atomic_write

ROW_GROUP = 1 << 20
"""Rows of a Parquet row group."""
_MOST_TEXT = 1 << 30
"""Bytes of a text column in an .npz file, where all texts take as much space as the longest."""
Tables: TypeAlias = Iterator[pa.Table]
ArraysByName: TypeAlias = dict[str, npt.NDArray[Any]]


def write_parquet(path: Path, tables: Tables) -> int:
    """Write tables of one schema to one file, one after the other; return the number of rows."""
    import pyarrow.parquet as pq  # imported lazily: slow to import

    rows, writer = 0, None
    with atomic_write(path) as file:
        for table in tables:
            writer = writer or pq.ParquetWriter(file, table.schema, compression="zstd")
            writer.write_table(table, row_group_size=ROW_GROUP)
            rows += len(table)
        if writer is None:
            raise UsageError(f"there is nothing to write to {path}: the source graph has no entities")
        writer.close()
    return rows


def write_npz(path: Path, arrays: ArraysByName) -> None:
    """Write arrays by name to one compressed file, which `numpy.load` reads without pickle."""
    with atomic_write(path) as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def text_array(texts: Strings) -> npt.NDArray[np.str_]:
    """A text column as an array of fixed width `[n]`, refused if that would take too much memory."""
    longest = pc.max(pc.utf8_length(texts)).as_py() or 1
    if 4 * longest * len(texts) > _MOST_TEXT:
        raise UsageError("IRIs or names are too long for an .npz file; write a .parquet file instead")
    return np.array(texts.to_pylist(), dtype=f"U{longest}")
