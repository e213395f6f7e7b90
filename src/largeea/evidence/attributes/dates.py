"""Dates of many spellings, parsed to year, month and day."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Bool, Int32, Strings, strings
from largeea.graph.lookup import places_in

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*[.]?"
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[0-9]{4})"
_ZONE = r"(?:z|[+-][0-9]{2}:?[0-9]{2})?"
_FULL = rf"^(?P<year>-?[0-9]{{4,6}})-(?P<month>[0-9]{{2}})(?:-(?P<day>[0-9]{{2}})(?:[t ][0-9:.]+)?)?{_ZONE}$"
_SPELT = (
    _FULL,
    rf"^{_DAY}[ ./-]+{_MONTH},?[ ./-]+{_YEAR}$",
    rf"^{_MONTH} +{_DAY},? +{_YEAR}$",
    rf"^{_MONTH},? +{_YEAR}$",
    rf"^(?P<day>[0-9]{{1,2}})[.](?P<month>[0-9]{{1,2}})[.]{_YEAR}$",
)
_SLASHES = rf"^(?P<first>[0-9]{{1,2}})/(?P<second>[0-9]{{1,2}})/{_YEAR}$"
_ONLY_YEAR = rf"^(?P<year>-?[0-9]{{4,6}}){_ZONE}$"


def parse_dates(texts: Strings, declared: Bool) -> tuple[Bool, Int32]:
    """Which texts are dates, `[n]`, and their year, month and day, `[n, 3]`; 0 stands for a missing part.

    `declared` marks texts whose datatype is a date: only they may consist of a year alone. The order of day
    and month in `5/12/1999` is unknown, so that only its year counts.
    """
    text = pc.utf8_lower(pc.utf8_trim_whitespace(texts))
    parts = np.zeros((len(text), 3), np.int32)
    found = np.zeros(len(text), bool)
    for pattern in _SPELT:
        _fill(text, pattern, parts, found)
    _fill(pc.if_else(pa.array(declared), text, ""), _ONLY_YEAR, parts, found)
    slashes = pc.extract_regex(text, _SLASHES)
    matched = np.asarray(pc.is_valid(slashes))
    if matched.any():
        first, second, year = (_numbers(slashes, name)[matched] for name in ("first", "second", "year"))
        day_first, month_first = first > 12, second > 12
        month = np.where(day_first, second, np.where(month_first, first, 0))
        day = np.where(day_first, first, np.where(month_first, second, 0))
        parts[matched] = np.column_stack([year, month, day])
        found |= matched
    possible = (parts[:, 1] <= 12) & (parts[:, 2] <= 31)
    return found & possible, parts


def _fill(text: Strings, pattern: str, parts: Int32, found: Bool) -> None:
    """Write the dates that match a pattern to `parts[n, 3]` and mark them in `found[n]`."""
    extracted = pc.extract_regex(text, pattern)
    matched = np.asarray(pc.is_valid(extracted))
    if not matched.any():
        return
    names = [extracted.type.field(number).name for number in range(extracted.type.num_fields)]
    for column, name in enumerate(("year", "month", "day")):
        if name in names:
            parts[matched, column] = _numbers(extracted, name)[matched]
    found |= matched


def _numbers(extracted: Any, name: str) -> Int32:
    """The number in a named group, `[n]`; 0 where there is none. A month may be given by its name."""
    text = pc.fill_null(extracted.field(name), "")
    month = places_in(text, strings(_MONTHS)) + 1
    digits = pc.if_else(pc.match_substring_regex(text, "^-?[0-9]+$"), text, "0")
    return np.asarray(np.where(month > 0, month, pc.cast(digits, pa.int32())), np.int32)
