"""Names made comparable: compatibility forms, case, accents and punctuation no longer matter."""

from __future__ import annotations

import pyarrow.compute as pc

from largeea.graph import Strings


def normalised(names: Strings) -> Strings:
    """Lower case words without accents, separated by single spaces; null stays null, "" becomes null."""
    text = pc.utf8_lower(pc.utf8_normalize(names, form="NFKD"))
    text = pc.replace_substring_regex(text, r"\p{M}+", "")
    text = pc.utf8_normalize(text, form="NFKC")
    text = pc.utf8_trim(pc.replace_substring_regex(text, r"[^\p{L}\p{N}]+", " "), " ")
    return pc.if_else(pc.equal(text, ""), None, text)
