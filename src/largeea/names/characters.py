"""Names as one array of code points, for compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from largeea.graph import Int64, Strings

CodePoints = npt.NDArray[np.uint32]
NAMES_AT_ONCE = 1 << 16
"""Names that are decoded together, so that the Python string on the way stays small."""


def code_points(names: Strings) -> tuple[CodePoints, Int64]:
    """All names' code points in one array, and where each name starts, `[n + 1]`; a null name is empty."""
    names = pc.fill_null(names, "")
    pointer = np.zeros(len(names) + 1, np.int64)
    np.cumsum(pc.utf8_length(names), out=pointer[1:])
    points = np.empty(pointer[-1], np.uint32)
    if not len(points):
        return points, pointer
    _, offsets, text = names.buffers()
    starts = np.frombuffer(offsets, np.int64, names.offset + len(names) + 1)[names.offset :]
    for first in range(0, len(names), NAMES_AT_ONCE):
        end = min(first + NAMES_AT_ONCE, len(names))
        part = str(text[starts[first] : starts[end]], "utf-8").encode("utf-32-le")
        points[pointer[first] : pointer[end]] = np.frombuffer(part, "<u4")
    return points, pointer
