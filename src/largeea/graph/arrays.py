"""Types of arrays and of text columns; read-only arrays, and ids within bounds."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Int8 = npt.NDArray[np.int8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
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


def frozen(array: Any, dtype: npt.DTypeLike, width: int | None = None) -> Any:
    """Return a read-only, contiguous array of `dtype`, shaped `[n]` or `[n, width]`.

    The array is not copied if that can be avoided: the caller must not change it afterwards.
    """
    array = np.ascontiguousarray(array, dtype=dtype).reshape((-1,) if width is None else (-1, width))
    array.flags.writeable = False
    return array


def check_ids(what: str, ids: npt.NDArray[np.integer], size: int) -> None:
    """Raise `ValueError` unless all ids are in [0, size): compiled loops do not check array bounds."""
    if len(ids) and not (ids.min() >= 0 and ids.max() < size):
        raise ValueError(f"{what} ids run from {ids.min()} to {ids.max()}, but there are {size}")
