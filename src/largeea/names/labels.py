"""Names made comparable: without differences of script, compatibility forms, case, accents and punctuation.

String and n-gram comparison use these; the graph keeps its names as they are.
"""

from __future__ import annotations

import unicodedata

import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Strings, strings
from largeea.names.transliteration import transliterated

_DISPENSABLE = (
    r"[\x{300}-\x{36f}\x{1ab0}-\x{1aff}\x{1dc0}-\x{1dff}\x{20d0}-\x{20ff}\x{fe20}-\x{fe2f}"  # accents
    r"\x{591}-\x{5bd}\x{5bf}\x{5c1}\x{5c2}\x{5c4}\x{5c5}\x{5c7}"  # Hebrew points
    r"\x{610}-\x{61a}\x{64b}-\x{65f}\x{670}\x{6d6}-\x{6ed}"  # Arabic vowels
    r"\x{fe00}-\x{fe0f}\x{e0100}-\x{e01ef}\x{ad}\x{200d}]+"  # variants, soft hyphens, joiners
)
"""Characters that do not change how a name reads. Marks of other scripts spell sounds (カ, ガ) and stay."""
_LONGEST = 4096
"""Characters of a name that are compared; a longer text is not a name."""
_ARROW_COMPOSES = pc.utf8_normalize(pa.scalar("\u30ab\u3099"), form="NFKC").as_py() == "\u30ac"
"""Before pyarrow 26, NFKC leaves letters and their marks apart."""


def normalised(names: Strings) -> Strings:
    """Lower case words without accents, separated by single spaces; null stays null, "" becomes null."""
    text = pc.utf8_slice_codeunits(names, 0, _LONGEST)
    text = pc.utf8_lower(pc.utf8_normalize(text, form="NFKD"))
    text = pc.replace_substring_regex(text, _DISPENSABLE, "")
    text = composed(text)
    text = pc.utf8_trim(pc.replace_substring_regex(text, r"[^\p{L}\p{M}\p{N}]+", " "), " ")
    return pc.if_else(pc.equal(text, ""), None, text)


def composed(text: Strings, by_arrow: bool = _ARROW_COMPOSES) -> Strings:
    """NFKC, whichever version of pyarrow is installed."""
    if by_arrow:
        return pc.utf8_normalize(text, form="NFKC")
    foreign = pc.fill_null(pc.invert(pc.string_is_ascii(text)), False)
    normal = [unicodedata.normalize("NFKC", name) for name in text.filter(foreign).to_pylist()]
    return pc.replace_with_mask(text, foreign, strings(normal))


def latinised(names: Strings) -> Strings:
    """Normalised names in Latin letters, so that names in different scripts can resemble each other.

    Transliteration does not translate: it finds `Beijing` for 北京, but not `Japan` for 日本.
    """
    text = normalised(names)
    foreign = pc.fill_null(pc.invert(pc.string_is_ascii(text)), False)
    latin = normalised(strings(transliterated(text.filter(foreign).to_pylist())))
    return pc.replace_with_mask(text, foreign, latin)


def bare_names(names: Strings) -> Strings:
    """Names without brackets at their end, "Mercury" for "Mercury (planet)"; null where there are none."""
    parts = pc.extract_regex(names, r"(?s)^(?P<bare>.*\S)\s*[(（\[][^()（）\[\]]+[)）\]]\s*$")
    return pc.struct_field(parts, ["bare"])
