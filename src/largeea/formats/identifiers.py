"""Identifiers of entities and relations: not empty, and without control characters."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow.compute as pc
from numba import njit

from largeea.graph import Int64, Strings
from largeea.graph.interning import Bytes

CONTROL_CHARACTERS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}]"
"""Those of C0 and C1, except tab and line breaks, which every table format can quote."""


_DELETE, _BEFORE_C1 = 0x7F, 0xC2
"""The byte of the delete character, and the one that every control character of C1 begins with."""


def flaws(columns: Mapping[str, Strings], optional: Collection[str] = ()) -> dict[int, str]:
    """The rows that cannot be used, with the reason: an empty cell, or control characters.

    Cells of `optional` columns may be empty.
    """
    found: dict[int, str] = {}
    for title, cells in columns.items():
        ends, text = _content(cells)
        if title not in optional and (cells.null_count or (ends[1:] == ends[:-1]).any()):
            empty = np.asarray(pc.fill_null(pc.equal(cells, ""), True))
            found |= dict.fromkeys(np.flatnonzero(empty).tolist(), f"nothing in column {title}")
        if may_have_control_characters(text):
            control = pc.fill_null(pc.match_substring_regex(cells, CONTROL_CHARACTERS), False)
            rows = np.flatnonzero(np.asarray(control)).tolist()
            found |= dict.fromkeys(rows, f"a control character in column {title}")
    return dict(sorted(found.items()))


@njit(cache=True, nogil=True)
def may_have_control_characters(text: Bytes) -> bool:
    """Whether UTF-8 text has a control character; tabs and line breaks count as well.

    The first loop is compiled to vector instructions. The second one looks at what follows 0xC2.
    """
    control, before_c1 = False, False
    for byte in text:
        control |= (byte < 32) | (byte == _DELETE)
        before_c1 |= byte == _BEFORE_C1
    if before_c1 and not control:
        for at in range(len(text) - 1):
            control |= text[at] == _BEFORE_C1 and text[at + 1] < 0xA0
    return control


def _content(cells: Strings) -> tuple[Int64, Bytes]:
    """Where the cells of a column end, after where the first starts, `int64[n + 1]`, and all of its bytes."""
    _, offsets, data = cells.buffers()
    if not len(cells):
        return np.zeros(1, np.int64), np.empty(0, np.uint8)
    ends = np.frombuffer(offsets, np.int64)[cells.offset : cells.offset + len(cells) + 1]
    return ends, np.frombuffer(data or b"", np.uint8)[ends[0] : ends[-1]]
