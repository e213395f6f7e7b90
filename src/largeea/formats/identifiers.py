"""Identifiers of entities and relations: not empty, and without control characters."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow.compute as pc

from largeea.formats.interning import Bytes
from largeea.graph import Bool, Strings

CONTROL_CHARACTERS = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}]"
"""Those of C0 and C1, except tab and line breaks, which every table format can quote."""


def _suspicious_bytes() -> Bool:
    suspicious = np.zeros(256, bool)
    suspicious[:32] = True
    suspicious[[0x09, 0x0A, 0x0D]] = False
    suspicious[[0x7F, 0xC2]] = True
    return suspicious


_SUSPICIOUS = _suspicious_bytes()
"""Bytes that are control characters, or that begin those of C1 (0xC2)."""


def flaws(columns: Mapping[str, Strings], optional: Collection[str] = ()) -> dict[int, str]:
    """The rows that cannot be used, with the reason: an empty cell, or control characters.

    Cells of `optional` columns may be empty.
    """
    found: dict[int, str] = {}
    for title, cells in columns.items():
        empty = np.asarray(pc.fill_null(pc.equal(cells, ""), True))
        if title not in optional and empty.any():
            found |= dict.fromkeys(np.flatnonzero(empty).tolist(), f"nothing in column {title}")
        if _SUSPICIOUS[_text(cells)].any():
            control = pc.fill_null(pc.match_substring_regex(cells, CONTROL_CHARACTERS), False)
            rows = np.flatnonzero(np.asarray(control)).tolist()
            found |= dict.fromkeys(rows, f"a control character in column {title}")
    return dict(sorted(found.items()))


def _text(cells: Strings) -> Bytes:
    """All bytes of a column, `uint8[n]`."""
    _, offsets, data = cells.buffers()
    if data is None:
        return np.empty(0, np.uint8)
    ends = np.frombuffer(offsets, np.int64)[[cells.offset, cells.offset + len(cells)]]
    return np.frombuffer(data, np.uint8)[ends[0] : ends[1]]
