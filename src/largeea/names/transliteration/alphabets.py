"""Letters of Greek and Cyrillic that are read by what stands beside them."""

from __future__ import annotations

import re

_PAIRS = {"ου": "ou", "γγ": "ng", "γξ": "nx", "γχ": "nch", "μπ": "b", "ντ": "d", "γκ": "g"}
_PAIR = re.compile("|".join(_PAIRS))
_VOICED = re.compile("(?<=[αεη])υ(?=[αβγδεζηιλμνορυω])")
_VOICELESS = re.compile("(?<=[αεη])υ")
_BULGARIAN_VOWEL = re.compile("(?<=[б-джзк-нп-тф-щ])ъ(?=[б-джзк-нп-тф-щ])")


def with_pairs_read(text: str) -> str:
    """The text with pairs of Greek letters as they are spoken, and with the Bulgarian vowel ъ as a."""
    text = _PAIR.sub(lambda pair: _PAIRS[pair[0]], text)
    return _BULGARIAN_VOWEL.sub("a", _VOICELESS.sub("f", _VOICED.sub("v", text)))
