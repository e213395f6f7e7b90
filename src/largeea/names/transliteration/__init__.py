"""Names of any script in Latin letters, each script by its own rules."""

from __future__ import annotations

import re

from anyascii import anyascii

from largeea.names.transliteration.abjads import with_vowels_of_abjads
from largeea.names.transliteration.abugidas import with_vowels_of_abugidas
from largeea.names.transliteration.alphabets import with_pairs_read
from largeea.names.transliteration.hangul import romanised_hangul
from largeea.names.transliteration.kana import romanised

__all__ = ["transliterated"]

_SIGNS = re.compile(r"[^a-zA-Z0-9\s]+")


def transliterated(names: list[str]) -> list[str]:
    """Normalised names in ASCII letters and digits.

    anyascii reads each character by itself. Where a script needs more than that, its rules come first; they
    see all names at once, one a line. Signs that stand for a letter, such as ' for ь, are left out.
    """
    text = "\n".join(names)
    for rules in (
        romanised,
        romanised_hangul,
        with_vowels_of_abugidas,
        with_vowels_of_abjads,
        with_pairs_read,
    ):
        text = rules(text)
    return _SIGNS.sub("", anyascii(text)).split("\n") if names else []
