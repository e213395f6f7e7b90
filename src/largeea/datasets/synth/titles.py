"""Names as text in one language; a bracket disambiguates equal names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.datasets.synth.names import Names
from largeea.datasets.synth.words import CONNECTORS, ENDINGS, Vocabulary, glued, listed
from largeea.graph import Bool, Int32, Strings
from largeea.graph.interning import encoded


def titles(names: Names, vocabulary: Vocabulary, language: str) -> Strings:
    """The text of each name; a repeated one gets its kind in brackets, and a year if still repeated."""
    text = _text(names, vocabulary, language)
    for shown in ("bracketed", "bracket_dated"):
        repeated = _repeated(text)
        names = replace(names, **{shown: getattr(names, shown) | repeated})
        told_apart = _text(names.take(repeated), vocabulary, language)
        text = pc.replace_with_mask(text, pa.array(repeated), told_apart)
    return text


def _text(names: Names, vocabulary: Vocabulary, language: str) -> Strings:
    words = [_word(names, slot, vocabulary, language) for slot in range(names.words.shape[1])]
    initial = glued(pc.utf8_slice_codeunits(words[0], 0, 1), ".")
    words[0] = pc.if_else(pa.array(names.abbreviated), initial, words[0])
    year = pc.cast(pa.array(names.year), pa.large_string())
    connector = _taken(CONNECTORS[language], names.connector)
    what = listed(", ", _taken(vocabulary.right, names.bracket), _only(names.bracket_dated, year))
    bracket = glued("(", what, ")")
    return listed(
        " ", _only(names.dated, year), words[0], connector, *words[1:], _only(names.bracketed, bracket)
    )


def _word(names: Names, slot: int, vocabulary: Vocabulary, language: str) -> Strings:
    word = names.words[:, slot]
    right, wrong = _taken(vocabulary.right, word), _taken(vocabulary.wrong, word)
    spelt = pc.if_else(pa.array(names.misspelt[:, slot]), wrong, right)
    ending = _taken(ENDINGS[language], names.endings[:, slot])
    return glued(spelt, ending)


def _taken(words: Strings, numbers: Int32) -> Strings:
    return words.take(pa.array(numbers, mask=numbers < 0))


def _only(shown: Bool, text: Strings) -> Strings:
    return pc.if_else(pa.array(shown), text, None)


def _repeated(text: Strings) -> Bool:
    """Mask of the texts that are equal to an earlier one, `[n]`."""
    code = encoded(text).places
    order = np.argsort(code, kind="stable")
    repeated = np.zeros(len(text), bool)
    repeated[order[1:]] = code[order[1:]] == code[order[:-1]]
    return repeated
