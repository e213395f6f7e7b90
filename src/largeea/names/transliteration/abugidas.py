"""Vowels of scripts whose letters carry one: the scripts of India, and Thai and Lao.

Ours, because anyascii reads each character by itself: ಕರ್ನಾಟಕ as "krnatk", เชียงใหม่ as "echiyngaihm".
"""

from __future__ import annotations

import re

_BLOCKS = range(0x900, 0xD80, 0x80)
"""Devanagari, Bengali, Gurmukhi, Gujarati, Oriya, Tamil, Telugu, Kannada, Malayalam: one order of letters."""
_NORTHERN_BLOCKS = _BLOCKS[:4]
"""Those in which a consonant at the end of a word carries no vowel."""


def _letters(blocks: range, first: int, last: int) -> str:
    """For a regular expression, the letters at the places from `first` to `last` of some blocks."""
    return "".join(f"{chr(block + first)}-{chr(block + last)}" for block in blocks)


_SINHALA_CONSONANTS, _SINHALA_SIGNS, _TIPPI = "\u0d9a-\u0dc6", "\u0dca-\u0ddf", "\u0a70"
_CONSONANTS = _letters(_BLOCKS, 0x15, 0x39) + _SINHALA_CONSONANTS
_LABIALS = _letters(_BLOCKS, 0x2A, 0x2E)
_NASALS = _letters(_BLOCKS, 0x02, 0x02) + _TIPPI
_NUKTA = _letters(_BLOCKS, 0x3C, 0x3C)
_VOWELS = _letters(_BLOCKS, 0x05, 0x14) + _letters(_BLOCKS, 0x3E, 0x4C)
_SIGNS = _letters(_BLOCKS, 0x3E, 0x4D) + _SINHALA_SIGNS
_NORTHERN = _letters(_NORTHERN_BLOCKS, 0x15, 0x39)
_INHERENT_VOWEL = re.compile(
    f"(?<=[{_CONSONANTS}{_NUKTA}])(?![{_SIGNS}{_NUKTA}])"
    f"(?!(?<=[{_NORTHERN}{_NUKTA}])(?!\\S))"  # the last letter of a word
    f"(?!(?<=[{_VOWELS}][{_NORTHERN}])[{_NORTHERN}][{_VOWELS}])"  # between two spoken vowels
)
_NASAL_AS_N = re.compile(f"[{_NASALS}](?=[{_CONSONANTS}])(?![{_LABIALS}])")
_PALATALS = {0x1A: "ch", 0x36: "sh", 0x37: "sh"}
_READ_OTHERWISE = str.maketrans(
    {chr(block + place): latin for block in _BLOCKS for place, latin in _PALATALS.items()}
)

_CLUSTER = "([กขคตปผพ][รลว]|[ก-ฮ])"
_THAI_AND_LAO = {
    re.compile(letters): latin
    for letters, latin in {
        "[่-๋]|[ก-ฮ]์": "",  # tones, mute letters
        "(?<![ก-ฮ])อ(?=[ะ-ู])|ห(?=[งญนมยรลว])": "",
        f"เ{_CLUSTER}ีย": r"\1ia",
        f"เ{_CLUSTER}า": r"\1ao",
        f"เ{_CLUSTER}ิ": r"\1oe",
        "ัว": "ua",
        f"([เ-ไ]){_CLUSTER}": r"\2\1",
        "([ເ-ໄ])([ກ-ຮ])": r"\2\1",
    }.items()
}
"""By the Royal Thai General System of Transcription: a vowel comes after its consonant."""


def with_vowels_of_abugidas(text: str) -> str:
    """The text with vowels where they are spoken.

    A consonant of an Indian script is followed by a, unless it has another vowel, or none as in Hindi at the
    end of a word. A nasal sign is n before a consonant that is not labial.
    """
    text = _NASAL_AS_N.sub("n", _INHERENT_VOWEL.sub("a", text)).translate(_READ_OTHERWISE)
    for letters, latin in _THAI_AND_LAO.items():
        text = letters.sub(latin, text)
    return text
