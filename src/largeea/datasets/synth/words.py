"""Generated words in two languages: one vocabulary of sounds, in the spelling of each language.

In the other language, a proper name keeps its spelling or takes that language's. A common word is a loan, a
cognate or unrelated to its translation. Every word also has a misspelling with one vowel replaced.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Bool, Int64, Strings, strings

# The spelling of sound i of each kind in each language.
_ONSETS = {
    "en": "b d f g h j k l m n p r s t v w z sh ch th br kr st tr gl pl fl gr dr sk",
    "fr": "b d f g h j c l m n p r s t v v s ch tch th br cr st tr gl pl fl gr dr sc",
    "de": "b d f g h j k l m n p r s t w w z sch tsch t br kr st tr gl pl fl gr dr sk",
}
_VOWELS = {
    "en": "a e i o u a e i o u ay ee oo ow ea y",
    "fr": "a e i o u a é i o u ai i ou au è i",
    "de": "a e i o u a e i o u ei ie u au ä y",
}
_CODAS = {
    "en": " n r l s t m nd rt ck ng x",
    "fr": " n r l s t m nd rt c gne x",
    "de": " n r l s t m nd rt ck ng chs",
}
_SOUNDS = (_ONSETS, _VOWELS, _CODAS)
ENDINGS = {
    "en": strings(["", "s", "er", "ing"]),
    "fr": strings(["", "es", "eur", "ant"]),
    "de": strings(["", "en", "er", "ung"]),
}
"""Inflections of common words; ending i of one language corresponds to ending i of the other."""
CONNECTORS = {
    "en": strings(["of", "of the", "and", "in"]),
    "fr": strings(["de", "de la", "et", "à"]),
    "de": strings(["von", "der", "und", "in"]),
}
_SYLLABLES = 3
_THREE_SYLLABLES = 0.2
_CLOSED = np.array([0.3, 0.2, 0.7])
"""Probability that the first, a middle and the last syllable ends in a consonant."""
_TRANSLATED, _COGNATE = 0.4, 0.3
"""Shares of common words that are unrelated to their translation and that are cognates; others are loans."""
_RESPELT = 0.08
"""Share of proper names that the other language spells in its own way."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Words of one language by id: `common` words first, then proper names; each with a misspelling."""

    common: int
    right: Strings
    wrong: Strings

    def __len__(self) -> int:
        return len(self.right)


def draw_vocabularies(
    random: np.random.Generator, languages: tuple[str, str], common: int, proper: int
) -> tuple[Vocabulary, Vocabulary]:
    """Draw the vocabularies of two languages; word i of one translates word i of the other."""
    home, abroad = languages
    count = common + proper
    sounds, others = _draw_sounds(random, count), _draw_sounds(random, count)
    is_common = np.arange(count) < common
    chance = random.random(count)
    unrelated = is_common & (chance < _TRANSLATED)
    respelt = chance < np.where(is_common, _TRANSLATED + _COGNATE, _RESPELT)
    abroad_sounds = np.where(unrelated[:, None, None], others, sounds)

    def vocabulary(sounds: Int64, native: Bool, language: str) -> Vocabulary:
        spelt = (
            pc.if_else(pa.array(native), _spell(codes, language), _spell(codes, home))
            for codes in (sounds, _misheard(random, sounds))
        )
        return Vocabulary(common, *spelt)

    return vocabulary(sounds, np.ones(count, bool), home), vocabulary(abroad_sounds, respelt, abroad)


def _draw_sounds(random: np.random.Generator, count: int) -> Int64:
    """Draw words as codes of onset, vowel and coda per syllable, `[count, syllables, 3]`; -1 for none."""
    inventory = [len(_letters(sounds, "en")) for sounds in _SOUNDS]
    codes = (random.random((count, _SYLLABLES, 3)) * inventory).astype(np.int64)
    codes[:, :, 2] *= random.random((count, _SYLLABLES)) < _CLOSED
    codes[random.random(count) >= _THREE_SYLLABLES, 1] = -1
    return codes


def _misheard(random: np.random.Generator, sounds: Int64) -> Int64:
    """The same words with another vowel in their first or last syllable."""
    wrong, rows, vowels = sounds.copy(), np.arange(len(sounds)), len(_letters(_VOWELS, "en"))
    place = random.choice([0, _SYLLABLES - 1], len(sounds))
    wrong[rows, place, 1] = (wrong[rows, place, 1] + random.integers(1, vowels, len(sounds))) % vowels
    return wrong


def _spell(sounds: Int64, language: str) -> Strings:
    parts = [
        _letters(kind, language).take(pa.array(codes, mask=codes < 0))
        for syllable in range(_SYLLABLES)
        for kind, codes in zip(_SOUNDS, sounds[:, syllable].T, strict=True)
    ]
    return pc.utf8_capitalize(listed("", *parts))


def _letters(sounds: dict[str, str], language: str) -> Strings:
    return strings(sounds[language].split(" "))


def glued(*parts: Strings | str) -> Strings:
    """Concatenate the parts of each row; null if any part is null."""
    return pc.binary_join_element_wise(*_columns(*parts, ""))


def listed(separator: str, *parts: Strings) -> Strings:
    """Join the parts of each row with a separator; null parts are skipped."""
    return pc.binary_join_element_wise(*_columns(*parts, separator), null_handling="skip")


def _columns(*parts: Strings | str) -> list[Strings]:
    return [pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts]
