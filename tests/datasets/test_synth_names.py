"""Names of synthetic twins, from words to text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from largeea.datasets.synth.names import Names, draw_names, stray
from largeea.datasets.synth.titles import titles
from largeea.datasets.synth.words import Vocabulary, draw_vocabularies
from largeea.graph import strings

WORDS = Vocabulary(2, strings(["War", "River", "Anna", "Rome"]), strings(["Wir", "Revir", "Inna", "Ram"]))


def one_name(**parts: object) -> Names:
    values: dict[str, object] = {
        "words": [0, 3, -1],
        "endings": [1, 0, 0],
        "connector": 1,
        "bracket": 1,
        "year": 1918,
        "misspelt": [False, False, False],
        "abbreviated": False,
        "dated": False,
        "bracketed": False,
        "bracket_dated": False,
    }
    return Names(**{part: np.array([value]) for part, value in (values | parts).items()})


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, "Wars of the Rome"),
        ({"connector": -1}, "Wars Rome"),
        ({"words": [2, -1, -1], "endings": [0, 0, 0], "connector": -1}, "Anna"),
        ({"dated": True}, "1918 Wars of the Rome"),
        ({"bracketed": True}, "Wars of the Rome (River)"),
        ({"bracketed": True, "bracket_dated": True}, "Wars of the Rome (River, 1918)"),
        ({"abbreviated": True}, "W. of the Rome"),
        ({"misspelt": [False, True, False]}, "Wars of the Ram"),
    ],
)
def test_known_texts(parts: dict[str, object], expected: str) -> None:
    assert titles(one_name(**parts), WORDS, "en").to_pylist() == [expected]


def test_another_language_has_its_own_endings_and_connectors() -> None:
    assert titles(one_name(), WORDS, "fr").to_pylist() == ["Wares de la Rome"]


def test_things_of_the_same_name_are_told_apart_one_after_the_other() -> None:
    same, later = one_name(), one_name(year=1945)
    assert titles(same.followed_by(same).followed_by(later), WORDS, "en").to_pylist() == [
        "Wars of the Rome",
        "Wars of the Rome (River)",
        "Wars of the Rome (River, 1945)",
    ]


@pytest.fixture(scope="module")
def vocabularies() -> tuple[Vocabulary, Vocabulary]:
    return draw_vocabularies(np.random.default_rng(0), ("en", "fr"), 400, 2000)


def test_proper_names_travel_and_common_words_are_translated(
    vocabularies: tuple[Vocabulary, Vocabulary],
) -> None:
    home, abroad = vocabularies
    same = np.array([a == b for a, b in zip(home.right.to_pylist(), abroad.right.to_pylist(), strict=True)])
    assert 0.25 < same[:400].mean() < 0.55
    assert same[400:].mean() > 0.9
    assert len(set(home.right.to_pylist())) > 0.97 * len(home)


def test_a_misspelling_is_near_the_word(vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    from rapidfuzz.distance import Levenshtein

    for vocabulary in vocabularies:
        words = zip(vocabulary.right.to_pylist(), vocabulary.wrong.to_pylist(), strict=True)
        assert max(Levenshtein.distance(right, wrong) for right, wrong in words) <= 3


def test_without_noise_nothing_strays_and_with_it_each_thing_can(
    vocabularies: tuple[Vocabulary, Vocabulary],
) -> None:
    community = np.repeat(np.arange(20, dtype=np.int32), 50)
    names = draw_names(np.random.default_rng(1), community, vocabularies[0])
    unmoved = stray(np.random.default_rng(2), names, community, vocabularies[0], 0.0)
    assert all(np.array_equal(a, b) for a, b in zip(names.parts(), unmoved.parts(), strict=True))
    moved = stray(np.random.default_rng(2), names, community, vocabularies[0], 1.0)
    assert moved.misspelt.mean() == pytest.approx(0.5, abs=0.05)
    assert moved.abbreviated.any()
    assert (moved.bracketed != names.bracketed).mean() == pytest.approx(0.37, abs=0.08)
    swapped = (moved.words[:, :2] == names.words[:, 1::-1]).all(axis=1) & (names.words[:, 1] >= 0)
    assert swapped.any()
    unrelated = ~(np.sort(moved.words, axis=1) == np.sort(names.words, axis=1)).any(axis=1)
    assert 0.2 < unrelated.mean() < 0.6


def test_the_given_names_are_left_as_they_are(vocabularies: tuple[Vocabulary, Vocabulary]) -> None:
    community = np.zeros(200, np.int32)
    names = draw_names(np.random.default_rng(1), community, vocabularies[0])
    before = replace(names, **{"words": names.words.copy()})
    stray(np.random.default_rng(2), names, community, vocabularies[0], 1.0)
    assert np.array_equal(before.words, names.words)
