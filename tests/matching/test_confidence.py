"""How sure to be of a pair: names and structure check each other, held-out seeds check both."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.errors import LargeEAWarning
from largeea.graph import Links
from largeea.matching.confidence import MIN_PAIRS, confirmed_share, likelihood
from largeea.matching.fusion import match_one_to_one
from largeea.similarity import Similarity

SIZE = 100
HOW = {"neighbours": 0.6, "surroundings": 1.0}, 50, 0.04, 0.15, 50
"""Weights, top-k, temperature, no-match score and iterations."""


def pairs(target: np.ndarray, score: float = 0.9, shape: tuple[int, int] = (SIZE, SIZE)) -> Similarity:
    """Each source has one candidate."""
    return Similarity.from_entries(np.arange(len(target)), target, np.full(len(target), score), shape)


def structure_that_confirms(share: float, count: int = SIZE, score: float = 0.9) -> Similarity:
    target = np.arange(count)
    wrong = target[: round((1 - share) * count)]
    target[: len(wrong)] = np.roll(wrong, 1)
    return pairs(target, score)


NAMES = pairs(np.arange(SIZE))


@pytest.mark.parametrize("share", [0.0, 0.2, 0.75, 1.0])
def test_the_share_of_names_that_structure_confirms(share: float) -> None:
    assert confirmed_share({"name": NAMES, "neighbours": structure_that_confirms(share)}) == share


@pytest.mark.parametrize(
    "channels",
    [
        {"name": NAMES},
        {"neighbours": NAMES},
        {"name": NAMES, "structure": structure_that_confirms(0)},
        {"name": NAMES, "neighbours": structure_that_confirms(0, MIN_PAIRS - 1)},
        {"name": NAMES, "neighbours": structure_that_confirms(0, score=0.4)},
    ],
    ids=["names alone", "structure alone", "a trained model", "too few pairs", "too little evidence"],
)
def test_without_two_witnesses_nothing_is_refuted(channels: dict[str, Similarity]) -> None:
    assert confirmed_share(channels) == 1


def test_all_structural_evidence_is_asked_together() -> None:
    channels = {
        "name": NAMES,
        "neighbours": structure_that_confirms(0, score=0.3),
        "surroundings": structure_that_confirms(1, score=0.6),
    }
    assert confirmed_share(channels) == 1


def test_where_both_agree_probabilities_are_those_of_the_matching() -> None:
    channels = {"name": NAMES, "neighbours": structure_that_confirms(1)}
    found = likelihood(channels, *HOW, Links.none())
    np.testing.assert_array_equal(found.to_dense(), match_one_to_one(channels, *HOW).to_dense())


def test_where_structure_contradicts_names_nothing_is_sure_and_the_user_is_told() -> None:
    channels = {"name": NAMES, "neighbours": structure_that_confirms(0.1)}
    with pytest.warns(LargeEAWarning, match="structure confirms only 10% of the pairs that names suggest"):
        found = likelihood(channels, *HOW, Links.none())
    expected = match_one_to_one(channels, *HOW).scale(0.1)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-6)
    assert found.scores.max() <= 0.1


def test_held_out_seeds_calibrate() -> None:
    channels = {"name": NAMES, "neighbours": structure_that_confirms(1)}
    truth = np.arange(SIZE)
    truth[:50] = np.roll(truth[:50], 1)
    found = likelihood(channels, *HOW, Links(np.column_stack([np.arange(SIZE), truth])))
    assert match_one_to_one(channels, *HOW).scores.mean() > 0.9
    assert found.scores.mean() == pytest.approx(0.5, abs=0.05)
