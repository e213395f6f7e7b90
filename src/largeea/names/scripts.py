"""The scripts that names are written in."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Int8, Strings
from largeea.names.characters import CodePoints, code_points
from largeea.names.labels import normalised

SCRIPTS = (
    *("Latin", "Greek", "Cyrillic", "Armenian", "Georgian", "Hebrew", "Arabic", "Ethiopic"),
    *("Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam"),
    *("Sinhala", "Thai", "Lao", "Tibetan", "Myanmar", "Khmer", "Mongolian", "Hangul", "Kana", "Han"),
    "another script",
)
LATIN, OTHER = SCRIPTS.index("Latin"), len(SCRIPTS) - 1
_RANGES = {
    0x000: "Latin", 0x370: "Greek", 0x400: "Cyrillic", 0x530: "Armenian", 0x590: "Hebrew", 0x600: "Arabic",
    0x700: "", 0x750: "Arabic", 0x780: "", 0x8A0: "Arabic", 0x900: "Devanagari", 0x980: "Bengali",
    0xA00: "Gurmukhi", 0xA80: "Gujarati", 0xB00: "Oriya", 0xB80: "Tamil", 0xC00: "Telugu", 0xC80: "Kannada",
    0xD00: "Malayalam", 0xD80: "Sinhala", 0xE00: "Thai", 0xE80: "Lao", 0xF00: "Tibetan", 0x1000: "Myanmar",
    0x10A0: "Georgian", 0x1100: "Hangul", 0x1200: "Ethiopic", 0x13A0: "", 0x1780: "Khmer",
    0x1800: "Mongolian", 0x18B0: "", 0x1C80: "Cyrillic", 0x1C90: "Georgian", 0x1CC0: "", 0x1D00: "Latin",
    0x1F00: "Greek", 0x2000: "", 0x2C60: "Latin", 0x2C80: "", 0x2D00: "Georgian", 0x2D30: "",
    0x2D80: "Ethiopic", 0x2DE0: "Cyrillic", 0x2E00: "", 0x3005: "Han", 0x3008: "", 0x3041: "Kana",
    0x3100: "", 0x31F0: "Kana", 0x3200: "", 0x3400: "Han", 0xA000: "", 0xA640: "Cyrillic", 0xA6A0: "",
    0xA720: "Latin", 0xA800: "", 0xAC00: "Hangul", 0xD7B0: "", 0xF900: "Han", 0xFB00: "", 0x20000: "Han",
    0x40000: "",
}  # fmt: skip
"""First code point of each range and its script; compatibility forms are normalised away."""
_STARTS = np.array([*_RANGES])
_SCRIPT = np.array([SCRIPTS.index(name) if name else OTHER for name in _RANGES.values()], np.int8)
_ROWS_AT_ONCE = 1 << 18


def scripts_of(names: Strings) -> Int8:
    """The script of each name, as its place in `SCRIPTS`, `[n]`; -1 for a name without letters.

    It is the script of most letters, the later one in case of a tie. A name with any kana is in kana.
    """
    plain = np.asarray(pc.fill_null(pc.string_is_ascii(names), True))
    has_letters = np.asarray(pc.fill_null(pc.not_equal(pc.ascii_lower(names), pc.ascii_upper(names)), False))
    scripts = np.where(has_letters, LATIN, -1).astype(np.int8)
    others = np.flatnonzero(~plain)
    for first in range(0, len(others), _ROWS_AT_ONCE):
        rows = others[first : first + _ROWS_AT_ONCE]
        scripts[rows] = _of_block(names.take(pa.array(rows)))
    return scripts


def script_shares(names: Strings) -> npt.NDArray[np.float64]:
    """The share of each of `SCRIPTS` among the names with letters, `[scripts]`."""
    scripts = scripts_of(names)
    counts = np.bincount(scripts[scripts >= 0], minlength=len(SCRIPTS))
    return np.asarray(counts / max(counts.sum(), 1))


def pages_of(scripts: Collection[str]) -> list[int]:
    """The pages of 256 code points in which the scripts have letters, up to U+FFFF."""
    ends = np.append(_STARTS[1:], 0x110000) - 1
    ranges = [
        range(start >> 8, min(end >> 8, 0xFF) + 1)
        for start, end, script in zip(_STARTS.tolist(), ends.tolist(), _SCRIPT, strict=True)
        if SCRIPTS[script] in scripts
    ]
    return sorted(set().union(*ranges))


def _of_block(names: Strings) -> Int8:
    points, offsets = code_points(normalised(names))
    letters = (points >= ord("a")) | (points == ord("ー"))
    name = np.repeat(np.arange(len(names)), np.diff(offsets))[letters]
    keys = name * len(SCRIPTS) + _script_of(points[letters])
    counts = np.bincount(keys, minlength=len(names) * len(SCRIPTS)).reshape(len(names), len(SCRIPTS))
    counts[counts[:, SCRIPTS.index("Kana")] > 0, SCRIPTS.index("Kana")] = np.iinfo(np.int64).max
    latest = len(SCRIPTS) - 1 - counts[:, ::-1].argmax(axis=1)
    return np.where(counts.any(axis=1), latest, -1).astype(np.int8)


def _script_of(points: CodePoints) -> Int8:
    return np.asarray(_SCRIPT[np.searchsorted(_STARTS, points, side="right") - 1])
