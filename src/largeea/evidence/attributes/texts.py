"""Text columns: joined with each other, and as bytes for compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Int64, Strings, frozen, strings


def joined(*parts: Strings | str) -> Strings:
    """The texts of all columns joined row by row; a str stands for the same text in all rows."""
    same = [pa.scalar(part, pa.large_string()) if isinstance(part, str) else strings(part) for part in parts]
    return strings(pc.binary_join_element_wise(*same, pa.scalar("", pa.large_string())))


def characters(texts: Strings) -> tuple[npt.NDArray[np.uint8], Int64]:
    """The bytes of all texts, none of them null, and where each text starts, `[n + 1]`."""
    if not len(texts):
        return frozen([], np.uint8), frozen([0], np.int64)
    _, offsets, data = pa.concat_arrays([texts]).buffers()
    text = np.frombuffer(data if data is not None else b"", np.uint8)
    return frozen(text, np.uint8), frozen(np.frombuffer(offsets, np.int64, len(texts) + 1), np.int64)
