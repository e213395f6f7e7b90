"""Types of arrays and of text columns."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Arrays = dict[str, npt.NDArray[Any]]
Bool = npt.NDArray[np.bool_]
Strings: TypeAlias = pa.LargeStringArray
"""An Arrow column of text, with nulls where a value is missing."""


def strings(values: Any = ()) -> Strings:
    """Return an Arrow text column from an iterable of str (or None) or from another Arrow column."""
    whole = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    return pa.array(whole, type=pa.large_string())
