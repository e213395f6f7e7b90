"""What reviews teach about features whose worth is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from largeea.matching.lessons import learn_shifts


def reviews(pairs: int, shifts: list[float], seed: int = 0) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """Features of reviewed pairs, each in about a third, whether a pair is right, and its log odds."""
    random = np.random.default_rng(seed)
    features = (random.random((pairs, len(shifts))) < 0.3).astype(float)
    log_odds = random.normal(0, 0.5, pairs)
    chance = 1 / (1 + np.exp(-(log_odds + features @ shifts)))
    return csr_matrix(features), random.random(pairs) < chance, log_odds


def test_shifts_are_recovered() -> None:
    features, right, log_odds = reviews(4000, [2.0, -1.5, 0.0])
    assert learn_shifts(features, right, log_odds, 0) == pytest.approx([2.0, -1.5, 0.0], abs=0.25)


@pytest.mark.parametrize("seed", range(5))
def test_features_that_tell_nothing_teach_nothing(seed: int) -> None:
    features, right, log_odds = reviews(200, [0.0] * 50, seed)
    assert not learn_shifts(features, right, log_odds, 0).any()


def test_few_reviews_of_a_kind_teach_nothing() -> None:
    features, right, log_odds = reviews(500, [3.0, -3.0])
    few = np.concatenate([np.flatnonzero(right), np.flatnonzero(~right)[:9]])
    assert not learn_shifts(features[few], right[few], log_odds[few], 0).any()


def test_how_pairs_were_chosen_is_not_taken_for_a_lesson() -> None:
    """Whoever skips three of four right pairs changes the share of right ones, not what words tell."""
    features, right, log_odds = reviews(8000, [2.0, -1.5])
    looked_at = np.flatnonzero(~right | (np.arange(len(right)) % 4 == 0))
    learnt = learn_shifts(features[looked_at], right[looked_at], log_odds[looked_at], 0)
    assert learnt == pytest.approx([2.0, -1.5], abs=0.3)
