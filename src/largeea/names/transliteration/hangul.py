"""Hangul in Latin letters, by the Revised Romanization of Korean.

Ours, because anyascii reads the last consonant of a syllable like the first: 박 as "bag" instead of "bak".
"""

from __future__ import annotations

import re

_SYLLABLE = re.compile("([가-힣])(?=([가-힣])?)")
_FIRST = (
    "g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s",
    "ss", "", "j", "jj", "ch", "k", "t", "p", "h",
)  # fmt: skip
_VOWEL = (
    "a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae",
    "oe", "yo", "u", "wo", "we", "wi", "yu", "eu", "ui", "i",
)  # fmt: skip
_LAST = (
    "", "k", "k", "k", "n", "n", "n", "t", "l", "k", "m", "l", "l", "l",
    "p", "l", "m", "p", "p", "t", "t", "ng", "t", "t", "k", "t", "p", "t",
)  # fmt: skip
_BEFORE_VOWEL = (
    "", "g", "kk", "ks", "n", "nj", "n", "d", "r", "lg", "lm", "lb", "ls", "lt",
    "lp", "r", "m", "b", "ps", "s", "ss", "ng", "j", "ch", "k", "t", "p", "",
)  # fmt: skip
"""The last consonant where the next syllable starts with a vowel."""


def romanised_hangul(text: str) -> str:
    """The text with its Hangul in Latin letters; other characters stay.

    The vowel ㅡ at the end of a syllable is left out: mostly it parts the consonants of foreign names, as in
    크리스, Chris.
    """
    return _SYLLABLE.sub(_read, text).replace("lr", "ll")


def _read(syllable: re.Match[str]) -> str:
    first, vowel, last = _letters(syllable[1])
    if vowel == _VOWEL.index("eu") and _FIRST[first] and not last:
        return _FIRST[first]
    vowel_follows = syllable[2] and not _FIRST[_letters(syllable[2])[0]]
    return _FIRST[first] + _VOWEL[vowel] + (_BEFORE_VOWEL if vowel_follows else _LAST)[last]


def _letters(syllable: str) -> tuple[int, int, int]:
    """The places of its first consonant, vowel and last consonant in the tables."""
    rest, last = divmod(ord(syllable) - ord("가"), len(_LAST))
    return *divmod(rest, len(_VOWEL)), last
