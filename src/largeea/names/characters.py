"""Names as one array of code points, for compiled code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Int64, Strings

CodePoints = npt.NDArray[np.uint32]
Bytes = npt.NDArray[np.uint8]


def text_buffers(names: Strings) -> tuple[Int64, Bytes]:
    """Where each name starts among the bytes of all, `[n + 1]`, and these bytes; a null name is empty."""
    names = pc.fill_null(names, "")
    _, offsets, text = names.buffers()
    starts = np.frombuffer(offsets or b"", np.int64)[names.offset : names.offset + len(names) + 1]
    return starts if len(starts) else np.zeros(1, np.int64), np.frombuffer(text or b"", np.uint8)


def code_points(names: Strings) -> tuple[CodePoints, Int64]:
    """All names' code points in one array, and where each name starts, `[n + 1]`; a null name is empty.

    Ours, because Python decodes on one thread. Arrow has checked that the text is valid UTF-8.
    """
    offsets, text = text_buffers(names)
    pointer = np.zeros(len(names) + 1, np.int64)
    over_rows(_count_points, len(names), offsets, text, pointer[1:])
    np.cumsum(pointer, out=pointer)
    points = np.empty(pointer[-1], np.uint32)
    over_rows(_decode, len(names), offsets, text, pointer, points)
    return points, pointer


@njit(cache=True, nogil=True)
def _count_points(first: int, last: int, offsets: Int64, text: Bytes, sizes: Int64) -> None:
    """Write how many code points each name has: bytes that do not continue one."""
    for name in range(first, last):
        count = 0
        for at in range(offsets[name], offsets[name + 1]):
            count += (text[at] & 0xC0) != 0x80
        sizes[name] = count


@njit(cache=True, nogil=True)
def _decode(first: int, last: int, offsets: Int64, text: Bytes, pointer: Int64, points: CodePoints) -> None:
    """Write the code points of the names `first:last`."""
    for name in range(first, last):
        at = offsets[name]
        for place in range(pointer[name], pointer[name + 1]):
            lead = np.uint32(text[at])
            more = 0 if lead < 0x80 else 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
            point = lead if more == 0 else lead & np.uint32(0x3F >> more)
            for follower in range(at + 1, at + 1 + more):
                point = (point << np.uint32(6)) | np.uint32(text[follower] & 0x3F)
            points[place] = point
            at += 1 + more
