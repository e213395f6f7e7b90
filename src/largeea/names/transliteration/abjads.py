"""Vowels of Arabic and Hebrew, as far as they are written: letters that are vowels between consonants."""

from __future__ import annotations

import re

_LETTERS = str.maketrans(
    {
        **{"ا": "a", "ع": "a", "ة": "a", "ى": "a", "و": "u", "ي": "i", "ی": "i"},
        **{"א": "a", "ע": "a", "ו": "o", "י": "i", "ב": "b", "כ": "k", "פ": "p", "ש": "sh"},
    }
)
_CONSONANTS = {
    re.compile(r"\bو|و(?=[اةى])"): "w",
    re.compile(r"\b[يی]|[يی](?=[اةى])"): "y",
    re.compile(r"\bו|וו|ו(?=[הי])"): "v",
    re.compile(r"\bי|יי|י(?=[אה])"): "y",
    re.compile(r"ה\b"): "a",
}
"""Where letters that are mostly vowels are consonants; a final ה is the other way round."""


def with_vowels_of_abjads(text: str) -> str:
    """The text with vowels where Arabic, Persian and Hebrew write them; short ones are not written.

    Ours, because anyascii leaves out ا and א: پاکستان would be "pkstn".
    """
    for letter, latin in _CONSONANTS.items():
        text = letter.sub(latin, text)
    return text.translate(_LETTERS)
