"""Numbers in Chinese and Japanese names as English writes them."""

from __future__ import annotations

import re
import unicodedata

_DIGIT = "[一二三四五六七八九]"
_REGNAL = re.compile(f"([0-9]{{1,2}}|{_DIGIT}?十{_DIGIT}?|{_DIGIT})世(?![\u3400-\u9fff])")
_YEAR = re.compile("(?<=[0-9])年")
_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")


def with_plain_numbers(name: str) -> str:
    """A name with years as bare numbers and the numbers of rulers in Roman digits: 8世 and 八世 are viii."""
    return _REGNAL.sub(_roman, _YEAR.sub(" ", name))


def _roman(regnal: re.Match[str]) -> str:
    """The number, as a word of its own."""
    number = regnal[1]
    if number.isdecimal():
        tens, ones = divmod(int(number), 10)
    else:
        before, ten, last = number.rpartition("十")
        tens, ones = _value(before) or len(ten), _value(last)
    return f" {'x' * tens}{_ONES[ones]} "


def _value(digit: str) -> int:
    return int(unicodedata.numeric(digit)) if digit else 0
