"""Names in other scripts translated by dictionaries, by place and person names, and by a glossary."""

from __future__ import annotations

from largeea.names.translation.dictionaries import HAN_OR_KANA
from largeea.names.translation.readings import (
    lexicon_fingerprint,
    missing_extras,
    translate_names,
    translation_memory,
)

__all__ = ["HAN_OR_KANA", "lexicon_fingerprint", "missing_extras", "translate_names", "translation_memory"]
