"""Names compared word by word."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import strings
from largeea.names import words
from largeea.names.rows import NameRows, Names
from largeea.names.words import WORD_WEIGHT, Words, with_word_overlap
from largeea.similarity import Similarity


def rows(names: list[str | None]) -> NameRows:
    size = len(names)
    nothing = np.empty(0, np.int32)
    text = strings(names)
    kind, weights = np.zeros(size, np.int8), np.ones(size, np.float32)
    return NameRows(text, np.arange(size, dtype=np.int32), kind, weights, text, nothing, strings())


def overlaps(source: list[str | None], target: list[str | None]) -> np.ndarray:
    """The overlap of words of all pairs."""
    names = Names(rows(source), rows(target))
    pairs = np.indices((len(source), len(target))).reshape(2, -1)
    zeros = Similarity.from_entries(*pairs, np.zeros(pairs.shape[1]), (len(source), len(target)))
    found = with_word_overlap(names, names.source.latin, names.target.latin, zeros)
    return found.to_dense() * (1 + WORD_WEIGHT) / WORD_WEIGHT


def test_the_words_of_a_name_are_sorted_and_counted() -> None:
    cut = Words.cut(strings(["b a b", None, "a"]))
    assert cut.pointer.tolist() == [0, 2, 2, 3]
    assert cut.ids.tolist() == [0, 1, 1]
    assert cut.shares.tolist() == [1, 0.5, 1]
    np.testing.assert_allclose(cut.weights, np.log1p([3 / 1, 3 / 2]), rtol=1e-6)


def test_what_is_said_twice_weighs_double() -> None:
    found = overlaps(["mercury planet mercury", "mercury planet"], ["mercury", "planet"])
    np.testing.assert_allclose(found, [[2 / 2.5, 1.5 / 2.5], [2 / 3, 2 / 3]], rtol=1e-6)


def test_only_the_first_words_of_a_text_are_compared() -> None:
    text = " ".join(f"w{i}x" for i in range(100))
    cut = Words.cut(strings([text]))
    assert cut.pointer.tolist() == [0, words.MAX_WORDS]
    assert cut.ids.tolist() == list(range(words.MAX_WORDS))


def test_names_of_equal_words_overlap_in_full_whatever_their_order() -> None:
    assert overlaps(["bone of hand", "x"], ["hand bone of", "x"])[0, 0] == pytest.approx(1)
    assert overlaps(["left lung"], ["right foot"])[0, 0] == 0
    assert overlaps([None, "lung"], ["lung", None]).tolist() == [[0, 0], [pytest.approx(1), 0]]


def test_a_rare_word_that_differs_costs_more_than_a_common_one() -> None:
    common = [f"part {i}{i}" for i in range(20)]
    found = overlaps(["part hilum", *common], ["hilum", "part", *common])
    assert found[0, 0] > 0.6 > 0.5 > found[0, 1]


def test_words_spelt_alike_match_in_part() -> None:
    found = overlaps(["grey matter"], ["gray matter", "white matter"])[0]
    assert 1 > found[0] > found[1] > 0
    assert found[1] == overlaps(["grey matter"], ["gray matter", "xyz matter"])[0, 1]


def test_numbers_match_only_if_equal() -> None:
    found = overlaps(["season 1990"], ["season 1990", "season 1991", "season"])[0]
    assert found[0] == pytest.approx(1)
    assert found[1] < found[2]


def test_an_initial_matches_its_word_in_part() -> None:
    found = overlaps(["cervical vertebra 3"], ["c3 vertebra", "t3 vertebra"])[0]
    assert 1 > found[0] > found[1] > 0


def test_scores_are_averaged_with_the_overlap() -> None:
    names = Names(rows(["left lung"]), rows(["left lung", "foot"]))
    given = Similarity.from_entries([0, 0], [0, 1], [0.4, 0.8], (1, 2))
    found = with_word_overlap(names, names.source.latin, names.target.latin, given)
    expected = [(0.4 + WORD_WEIGHT) / (1 + WORD_WEIGHT), 0.8 / (1 + WORD_WEIGHT)]
    np.testing.assert_allclose(found.scores, expected, rtol=1e-6)
    assert given.scores.tolist() == pytest.approx([0.4, 0.8])


def test_no_names_at_all() -> None:
    assert overlaps([None], [None]).tolist() == [[0]]
