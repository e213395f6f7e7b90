"""The kind of each literal value (text, number, date or code), and the value in one spelling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.evidence.attributes.dates import parse_dates
from largeea.evidence.attributes.texts import joined
from largeea.graph import Bool, Float64, Int32, Strings
from largeea.names.labels import latinised

TEXT, NUMBER, DATE, CODE = range(4)
"""Kinds of values."""
UNDECLARED, AS_NUMBER, AS_DATE = range(3)
"""What a datatype says about its values."""

_XSD = "^http://www.w3.org/2001/XMLSchema#"
_NUMBER_TYPE = f"{_XSD}(decimal|double|float|integer|(negative|positive|nonNegative|nonPositive)Integer|"
_NUMBER_TYPE += "long|int|short|byte|unsigned(Long|Int|Short|Byte))$"
_DATE_TYPE = f"{_XSD}(date|dateTime|dateTimeStamp|gYear|gYearMonth)$"
_UNIT = r"(?:%|°[cf]?|[munck]?m[2²3³]?|[mk]?g|[mc]?l|ha|mi|ft|in|lbs?|oz|m?s|min|h|k?w|hz|km/h|usd|eur|gbp)"
_AMOUNT = rf"^[$€£]? ?(?P<number>[+-]?[0-9.,]*[0-9][.,]?(?:e[+-]?[0-9]{{1,3}})?) ?{_UNIT}?[€$£]?$"
_PLAIN = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[+-]?[0-9]{1,3})?$"
_THOUSANDS_BY_COMMA = r"^[+-]?[0-9]{1,3}(,[0-9]{3})+([.][0-9]*)?$"
_THOUSANDS_BY_POINT = r"^[+-]?[0-9]{1,3}([.][0-9]{3})+,[0-9]+$|^[+-]?[0-9]{1,3}([.][0-9]{3}){2,}$"
_DECIMAL_COMMA = r"^[+-]?[0-9]+,[0-9]+$"
_DIGITS_OF_A_CODE = r"^0[0-9]+$|^[0-9]{10,}$"
"""Digits that are an identifier rather than an amount, unless a datatype says otherwise."""
LONGEST = 1000
"""Characters of a value that are compared."""


class TypedValues(NamedTuple):
    """Values by kind, `[n]` each.

    text: null where nothing is left to compare. Words of texts in lower-case Latin letters; the digits and
        letters of codes; numbers and dates in one spelling.
    number: 0 for other kinds.
    date: year, month and day packed by `packed_dates`; 0 for other kinds.
    """

    kind: npt.NDArray[np.int8]
    text: Strings
    number: Float64
    date: Int32


def declared_kinds(tags: Strings) -> npt.NDArray[np.int8]:
    """What each tag (a datatype IRI, a language or "") says about the kind of its literals, `[tags]`."""
    number = np.asarray(pc.match_substring_regex(tags, _NUMBER_TYPE), bool)
    date = np.asarray(pc.match_substring_regex(tags, _DATE_TYPE), bool)
    return np.where(number, AS_NUMBER, np.where(date, AS_DATE, UNDECLARED)).astype(np.int8)


def packed_dates(parts: Int32) -> Int32:
    """Year, month and day, `[n, 3]`, as one number: `(16 year + month) 32 + day`."""
    return np.asarray((parts[:, 0] * 16 + parts[:, 1]) * 32 + parts[:, 2], np.int32)


def typed_values(values: Strings, declared: npt.NDArray[np.int8]) -> TypedValues:
    """The kind and the comparable form of each value, given what its datatype declares, `[n]`."""
    values = pc.utf8_slice_codeunits(values, 0, LONGEST)
    kind = np.full(len(values), TEXT, np.int8)
    number, date = np.zeros(len(values)), np.zeros(len(values), np.int32)
    text = latinised(values)
    with_digits = np.flatnonzero(np.asarray(pc.match_substring_regex(values, "[0-9]"), bool))
    raw = pc.utf8_trim_whitespace(pc.utf8_lower(values.take(pa.array(with_digits))))
    squeezed = pc.replace_substring(text.take(pa.array(with_digits)), " ", "")
    said = declared[with_digits]

    is_date, parts = parse_dates(raw, said == AS_DATE)
    is_number, parsed = _parse_numbers(raw)
    is_number &= ~is_date & ((said == AS_NUMBER) | ~_matches(raw, _DIGITS_OF_A_CODE))
    is_code = ~is_date & ~is_number & _are_codes(raw)

    kind[with_digits] = np.select([is_date, is_number, is_code], [DATE, NUMBER, CODE], TEXT)
    number[with_digits[is_number]] = parsed[is_number]
    date[with_digits[is_date]] = packed_dates(parts[is_date])
    spelt = pc.if_else(pa.array(is_code), squeezed, text.take(pa.array(with_digits)))
    spelt = pc.if_else(pa.array(is_number), _number_texts(parsed), spelt)
    spelt = pc.if_else(pa.array(is_date), _date_texts(parts), spelt)
    changed = np.zeros(len(values), bool)
    changed[with_digits] = True
    return TypedValues(kind, pc.replace_with_mask(text, pa.array(changed), spelt), number, date)


def _parse_numbers(texts: Strings) -> tuple[Bool, Float64]:
    """Which texts are numbers, perhaps with a unit or a currency, and the numbers, `[n]`."""
    number = pc.fill_null(pc.extract_regex(texts, _AMOUNT).field("number"), "")
    without = pc.replace_substring(number, ",", "")
    by_point = pc.replace_substring(pc.replace_substring(number, ".", ""), ",", ".")
    number = pc.if_else(pc.match_substring_regex(number, _THOUSANDS_BY_POINT), by_point, number)
    number = pc.if_else(pc.match_substring_regex(number, _THOUSANDS_BY_COMMA), without, number)
    decimal = pc.match_substring_regex(number, _DECIMAL_COMMA)
    number = pc.if_else(decimal, pc.replace_substring(number, ",", "."), number)
    plain = _matches(number, _PLAIN)
    spelt = pc.replace_substring_regex(pc.if_else(pa.array(plain), number, "0"), r"^\+", "")
    parsed = np.asarray(pc.cast(spelt, pa.float64()))
    finite = np.isfinite(parsed)
    return plain & finite, np.where(finite, parsed, 0)


def _are_codes(texts: Strings) -> Bool:
    """Which texts are identifiers or telephone numbers: at least as many digits as letters, no long word."""
    digits, letters = (
        np.asarray(pc.count_substring_regex(texts, pattern)) for pattern in (r"[0-9]", r"\p{L}")
    )
    return np.asarray((digits >= letters) & (digits > 1) & ~_matches(texts, r"\p{L}{5}"))


def _number_texts(numbers: Float64) -> Strings:
    """Whole numbers as digits, so that they can equal codes; others as Arrow writes them."""
    whole = (numbers == np.floor(numbers)) & (np.abs(numbers) < 2**53)
    digits = pc.cast(pa.array(np.where(whole, numbers, 0).astype(np.int64)), pa.large_string())
    return pc.if_else(pa.array(whole), digits, pc.cast(pa.array(numbers), pa.large_string()))


def _date_texts(parts: Int32) -> Strings:
    """The parts that a date has, separated by spaces; months and days as `m5` and `d12`."""
    year, month, day = (pc.cast(pa.array(parts[:, column]), pa.large_string()) for column in range(3))
    month = pc.if_else(pa.array(parts[:, 1] > 0), joined(" m", month), "")
    day = pc.if_else(pa.array(parts[:, 2] > 0), joined(" d", day), "")
    return joined(year, month, day)


def _matches(texts: Strings, pattern: str) -> Bool:
    return np.asarray(pc.fill_null(pc.match_substring_regex(texts, pattern), False), bool)
