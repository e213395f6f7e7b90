"""Compiled loops that compare two values: how far they agree, in five levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from numba import njit

from largeea.evidence.attributes.kinds import DATE, NUMBER, TEXT
from largeea.graph import UInt64
from largeea.names.strings.levenshtein import levenshtein

if TYPE_CHECKING:
    from largeea.evidence.attributes.values import ValueTable

LEVELS = 5
EQUAL, NEARLY, SOME, LITTLE, DIFFERENT = range(LEVELS)
INCOMPARABLE = -1
CHARACTERS = 256
"""Size of the working space `places`: values are ASCII."""
NUMBER_TOLERANCES = (1e-9, 1e-3, 0.02, 0.2)
TEXT_THRESHOLDS = (0.8, 0.6, 0.4)
LONG_TEXT_THRESHOLDS = (0.5, 0.25, 0.1)
"""Cosines of rare tokens from which long texts nearly, in part and little agree."""
SAME_ENDING = 7
"""Characters at the end of codes that are enough to agree in part: a telephone number without prefixes."""

Steps = npt.NDArray[np.int8]


@njit(cache=True, nogil=True, inline="always")
def level_of(a: int, b: int, values: ValueTable, places: UInt64, steps: Steps) -> int:
    """How far the values a and b agree, from `EQUAL` to `DIFFERENT`, or `INCOMPARABLE`.

    `places[CHARACTERS]` and `steps` are the working space of `levenshtein`.
    """
    kind, other = values.kind[a], values.kind[b]
    level = INCOMPARABLE
    if a == b:
        level = EQUAL
    elif kind == NUMBER and other == NUMBER:
        level = _numbers(values.number[a], values.number[b])
    elif kind == DATE and other == DATE:
        level = _dates(values.date[a], values.date[b])
    elif kind == DATE and other == NUMBER:
        level = _year(values.date[a], values.number[b])
    elif kind == NUMBER and other == DATE:
        level = _year(values.date[b], values.number[a])
    elif kind != DATE and other != DATE:
        if kind != TEXT and other != TEXT:
            level = _codes(a, b, values, places, steps)
        elif kind != NUMBER and other != NUMBER:
            level = _texts(a, b, values, places, steps)
    return level


@njit(cache=True, nogil=True)
def working_space(values: ValueTable) -> tuple[UInt64, Steps]:
    """`places` and `steps` for `level_of`."""
    return np.zeros(CHARACTERS, np.uint64), np.empty(values.longest, np.int8)


@njit(cache=True, nogil=True)
def _numbers(a: float, b: float) -> int:
    """Levels by the difference relative to the larger number."""
    scale = max(abs(a), abs(b))
    for level in range(len(NUMBER_TOLERANCES)):
        if abs(a - b) <= NUMBER_TOLERANCES[level] * scale:
            return level
    return DIFFERENT


@njit(cache=True, nogil=True)
def _dates(a: int, b: int) -> int:
    """Dates that differ in precision nearly agree if they agree at the coarser one."""
    year, month, day = a >> 9, (a >> 5) & 15, a & 31
    other_year, other_month, other_day = b >> 9, (b >> 5) & 15, b & 31
    same_month = month == other_month or month == 0 or other_month == 0
    same_day = day == other_day or day == 0 or other_day == 0
    if year == other_year:
        return NEARLY if same_month and same_day else SOME
    if month > 0 and day > 0 and month == other_month and day == other_day:
        return SOME
    return LITTLE if abs(year - other_year) == 1 else DIFFERENT


@njit(cache=True, nogil=True)
def _year(date: int, number: float) -> int:
    """A date against a number that may be its year."""
    if number != np.floor(number) or abs(number) > 9999:
        return INCOMPARABLE
    difference = abs((date >> 9) - number)
    if difference == 0:
        return EQUAL if date & 511 == 0 else NEARLY
    return LITTLE if difference == 1 else DIFFERENT


@njit(cache=True, nogil=True, inline="always")
def _codes(a: int, b: int, values: ValueTable, places: UInt64, steps: Steps) -> int:
    """Codes agree by edit distance, or by how they end or begin."""
    text, start, end = values.text, values.pointers[a], values.pointers[a + 1]
    start_b, end_b = values.pointers[b], values.pointers[b + 1]
    shorter, longer = min(end - start, end_b - start_b), max(end - start, end_b - start_b)
    ending = 0
    while ending < shorter and text[end - 1 - ending] == text[end_b - 1 - ending]:
        ending += 1
    if ending == longer:
        return EQUAL
    if longer - shorter <= 2 and longer >= 5:
        distance = levenshtein(text, start, end, start_b, end_b, places, steps)
        if distance == 1:
            return NEARLY
        if distance == 2 and longer >= 8:
            return SOME
    if ending >= SAME_ENDING:
        return SOME
    beginning = 0
    while beginning < shorter and text[start + beginning] == text[start_b + beginning]:
        beginning += 1
    return LITTLE if 2 * beginning >= longer else DIFFERENT


@njit(cache=True, nogil=True, inline="always")
def _texts(a: int, b: int, values: ValueTable, places: UInt64, steps: Steps) -> int:
    """Texts agree by the cosine of their tokens, short ones also by edit distance, whichever is higher."""
    cosine = _cosine(a, b, values)
    if values.long[a] or values.long[b]:
        for level in range(len(LONG_TEXT_THRESHOLDS)):
            if cosine >= LONG_TEXT_THRESHOLDS[level]:
                return NEARLY + level
        return DIFFERENT
    alike = cosine
    start, end = values.pointers[a], values.pointers[a + 1]
    start_b, end_b = values.pointers[b], values.pointers[b + 1]
    longer = max(end - start, end_b - start_b)
    if cosine < TEXT_THRESHOLDS[0] and min(end - start, end_b - start_b) >= TEXT_THRESHOLDS[2] * longer:
        distance = levenshtein(values.text, start, end, start_b, end_b, places, steps)
        alike = max(alike, 1 - distance / longer)
    for level in range(len(TEXT_THRESHOLDS)):
        if alike >= TEXT_THRESHOLDS[level]:
            return NEARLY + level
    return DIFFERENT


@njit(cache=True, nogil=True, inline="always")
def _cosine(a: int, b: int, values: ValueTable) -> float:
    """The cosine of the token weights of two values."""
    at, end = values.token_pointers[a], values.token_pointers[a + 1]
    other, end_b = values.token_pointers[b], values.token_pointers[b + 1]
    shared = np.float32(0)
    while at < end and other < end_b:
        if values.token[at] == values.token[other]:
            shared += values.token_weight[values.token[at]] ** 2
            at += 1
            other += 1
        elif values.token[at] < values.token[other]:
            at += 1
        else:
            other += 1
    return float(shared / max(values.length[a] * values.length[b], np.float32(1e-6)))
