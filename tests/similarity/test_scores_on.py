"""Scores of one matrix at the entries of another."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import Links
from largeea.similarity import Similarity


def some_matrix(seed: int, shape: tuple[int, int] = (40, 30), count: int = 200) -> Similarity:
    random = np.random.default_rng(seed)
    rows, columns = (random.integers(0, size, count) for size in shape)
    return Similarity.from_entries(rows, columns, random.random(count) - 0.25, shape)


@pytest.mark.parametrize("seed", range(5))
def test_scores_are_those_of_the_pairs(seed: int) -> None:
    scores, pattern = some_matrix(seed), some_matrix(seed + 100)
    pairs = Links(np.column_stack([pattern.rows, pattern.indices]))
    found = scores.scores_on(pattern)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, scores.score_of(pairs))
    assert (found == scores.floor).any(), "some pairs are absent"
    assert (found != scores.floor).any(), "some are not"


def test_its_own_entries_are_its_own_scores() -> None:
    scores = some_matrix(7)
    np.testing.assert_array_equal(scores.scores_on(scores), scores.scores)


def test_nothing_kept_here_or_there() -> None:
    scores, nothing = some_matrix(1), Similarity.empty((40, 30))
    assert scores.scores_on(nothing).shape == (0,)
    assert nothing.scores_on(scores).tolist() == [0] * len(scores)
