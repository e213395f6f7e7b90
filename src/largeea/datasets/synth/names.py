"""Names as word ids: the name of each entity, and its noisy variant on the other side."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from largeea.datasets.synth.words import ENDINGS, Vocabulary
from largeea.graph import Bool, Int32, Int64

PERSON, PLACE, WORK, BODY, EVENT = range(5)
_KINDS = (0.5, 0.24, 0.13, 0.09, 0.04)
_THIRD_WORD = np.array([0.15, 0.25, 0.4, 0.3, 0.5])
_CONNECTED = np.array([0.0, 0.0, 0.6, 0.0, 0.8])
_BRACKETED = 0.06
_GIVEN_NAMES = 0.03
"""Share of the proper names used as given names; all are used as family and place names."""
_WORDS_FOR_A_KIND = 12

_UNRELATED = 0.42
_MISSPELT = 0.5
_REORDERED = 0.15
_BRACKET_CHANGED = 0.35
_ABBREVIATED = 0.2
_WORD_CHANGED = 0.25
_INFLECTED = 0.3
"""Probability of each kind of noise at noise 1, per name or, for noise on words, per word."""


@dataclass(frozen=True, eq=False)
class Names:
    """The parts of `n` names, in the order: year, word, connector, word, word, (bracket, year).

    `words[n, 3]` and `connector[n]` are -1 where there is none; the last five fields say which parts are
    shown.
    """

    words: Int32
    endings: Int32
    connector: Int32
    bracket: Int32
    year: Int32
    misspelt: Bool
    abbreviated: Bool
    dated: Bool
    bracketed: Bool
    bracket_dated: Bool

    def __len__(self) -> int:
        return len(self.words)

    def parts(self) -> list[npt.NDArray[np.generic]]:
        """All fields, each with one row per name."""
        return [getattr(self, field.name) for field in fields(self)]

    def take(self, rows: npt.NDArray[np.generic]) -> Names:
        """The names at `rows` (positions or a mask)."""
        return Names(*(part[rows] for part in self.parts()))

    def followed_by(self, other: Names) -> Names:
        """Concatenate these names and those of `other`."""
        return Names(*(np.concatenate(both) for both in zip(self.parts(), other.parts(), strict=True)))


def draw_names(random: np.random.Generator, community: Int32, vocabulary: Vocabulary) -> Names:
    """Draw names of people, places, works, organisations and events; a community shares a region's name."""
    count = len(community)
    kind = random.choice(len(_KINDS), count, p=_KINDS)
    common, proper = vocabulary.common, len(vocabulary) - vocabulary.common

    def word(first: int, choice: int, skew: float) -> Int64:
        return first + (max(choice, 1) * random.random(count) ** skew).astype(np.int64)

    given = word(common, int(_GIVEN_NAMES * proper), 2.0), word(common, int(_GIVEN_NAMES * proper), 2.0)
    family = word(common, proper, 1.5)
    thing = word(0, common, 2.0), word(0, common, 2.0), word(0, common, 2.0)
    region = common + community.astype(np.int64) * 7919 % proper
    none = np.full(count, -1)
    words = np.column_stack(
        [
            np.choose(kind, [given[0], family, thing[0], family, thing[0]]),
            np.choose(kind, [family, none, thing[1], thing[1], region]),
            np.choose(kind, [given[1], region, thing[2], region, thing[2]]),
        ]
    ).astype(np.int32)
    words[random.random(count) >= _THIRD_WORD[kind], 2] = -1
    inflected = random.integers(0, len(ENDINGS["en"]), words.shape)
    connected = random.random(count) < _CONNECTED[kind]
    what = kind * _WORDS_FOR_A_KIND + random.integers(0, _WORDS_FOR_A_KIND, count)
    shown = np.zeros(count, bool)
    return Names(
        words=words,
        endings=np.where((words >= 0) & (words < common), inflected, 0).astype(np.int32),
        connector=np.where(connected, random.integers(0, 4, count), -1).astype(np.int32),
        bracket=np.where(kind == PLACE, region, what % common).astype(np.int32),
        year=random.integers(1880, 2021, count).astype(np.int32),
        misspelt=np.zeros(words.shape, bool),
        abbreviated=shown,
        dated=kind == EVENT,
        bracketed=random.random(count) < _BRACKETED,
        bracket_dated=shown,
    )


def stray(
    random: np.random.Generator, names: Names, community: Int32, vocabulary: Vocabulary, noise: float
) -> Names:
    """Return noisy variants of `names` for the other side: unchanged at noise 0, most different at 1."""
    count = len(names)

    def happens(often: float, *shape: int) -> Bool:
        return random.random((count, *shape)) < noise * often

    other = draw_names(random, community, vocabulary)
    both = zip(names.parts(), other.parts(), strict=True)
    unrelated = happens(_UNRELATED)
    strayed = Names(*(np.where(unrelated.reshape(-1, *[1] * (a.ndim - 1)), b, a) for a, b in both))
    words, endings = strayed.words, strayed.endings
    changed = happens(_WORD_CHANGED)
    words[changed, 2] = np.where(words[changed, 2] < 0, other.words[changed, 1], -1)
    endings[changed, 2] = 0
    swapped = np.flatnonzero(happens(_REORDERED) & (words[:, 1] >= 0))
    words[swapped, :2], endings[swapped, :2] = words[swapped, 1::-1], endings[swapped, 1::-1]
    inflected = happens(_INFLECTED, 3) & (words >= 0) & (words < vocabulary.common)
    return Names(
        words=words,
        endings=np.where(inflected, other.endings, endings),
        connector=strayed.connector,
        bracket=strayed.bracket,
        year=strayed.year,
        misspelt=happens(_MISSPELT, 3),
        abbreviated=happens(_ABBREVIATED) & (words[:, 1] >= 0),
        dated=strayed.dated,
        bracketed=strayed.bracketed ^ happens(_BRACKET_CHANGED),
        bracket_dated=strayed.bracket_dated,
    )
