"""Sparse Sinkhorn: probabilities of a matching that may leave entities alone."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.matching.kernels import normalise_rows, row_probabilities
from largeea.matching.sinkhorn import on_cpu, row_weights, sinkhorn
from largeea.similarity import Similarity


def dense(scores: np.ndarray) -> Similarity:
    rows, columns = np.indices(scores.shape).reshape(2, -1)
    return Similarity.from_entries(rows, columns, scores.ravel(), scores.shape)


def by_hand(scores: np.ndarray, temperature: float, no_match_score: float, iterations: int) -> np.ndarray:
    """The same with plain matrices: a bin of weight 1 beside every row and every column."""
    odds = np.exp((scores - no_match_score) / temperature)
    rows, columns = np.ones(len(odds)), np.ones(odds.shape[1])
    for _ in range(iterations):
        rows = 1 / (odds @ columns + 1)
        columns = 1 / (rows @ odds + 1)
    rows = 1 / (odds @ columns + 1)
    return odds * np.outer(rows, columns)


def test_it_is_what_plain_matrices_give() -> None:
    scores = np.random.default_rng(0).random((7, 5)).astype(np.float32)
    found = sinkhorn(dense(scores), 0.1, 0.4, iterations=20).to_dense()
    np.testing.assert_allclose(found, by_hand(scores, 0.1, 0.4, 20), rtol=1e-5)


def test_no_row_and_no_column_has_more_than_one_to_give() -> None:
    scores = np.random.default_rng(1).random((30, 40)).astype(np.float32)
    found = sinkhorn(dense(scores), 0.05, 0.2, iterations=200).to_dense()
    assert found.sum(axis=1).max() <= 1 + 1e-5
    assert found.sum(axis=0).max() <= 1 + 1e-3


def test_a_rival_that_is_better_matched_elsewhere_gives_way() -> None:
    """Both sources like target 0 best; source 1 has nowhere else to go."""
    scores = np.array([[0.9, 0.8], [0.85, 0.0]], np.float32)
    best, _ = sinkhorn(dense(scores), 0.05, 0.0).best()
    assert best.tolist() == [1, 0]


def test_a_poor_pair_is_left_alone_and_a_good_one_is_not() -> None:
    shares = sinkhorn(dense(np.diag([0.9, 0.1]).astype(np.float32)), 0.05, 0.5).to_dense()
    assert shares[0, 0] > 0.9
    assert shares[1, 1] < 0.1


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (0, 4), (3, 4)])
def test_without_candidates_there_is_nothing_to_share(shape: tuple[int, int]) -> None:
    assert len(sinkhorn(Similarity.empty(shape), 0.05, 0.5)) == 0


def test_scores_far_apart_stay_finite() -> None:
    shares = sinkhorn(dense(np.array([[1000.0, -1000.0]], np.float32)), 0.01, 0.0).scores
    assert np.isfinite(shares).all()
    assert shares[0] > 0.99


@pytest.mark.parametrize("score", [0.2, 0.5])
def test_a_pair_without_competitors_at_the_no_match_score_is_as_likely_as_not(score: float) -> None:
    one = sinkhorn(dense(np.array([[score]], np.float32)), 0.05, score, iterations=0)
    assert one.scores.tolist() == pytest.approx([0.5])


def test_without_iterations_each_source_is_normalised_on_its_own() -> None:
    scores = np.random.default_rng(2).random((4, 6)).astype(np.float32)
    odds = np.exp((scores - 0.3) / 0.1)
    expected = odds / (1 + odds.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(sinkhorn(dense(scores), 0.1, 0.3, 0).to_dense(), expected, rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_do_not_change_a_digit(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    matrix = Similarity.from_entries(
        np.repeat(np.arange(9000), 3), random.integers(0, 8000, 27000), random.random(27000), (9000, 8000)
    )
    alone = sinkhorn(matrix, 0.05, 0.2)
    monkeypatch.setattr("largeea.matching.sinkhorn.MIN_ENTRIES_FOR_THREADS", 0)
    with executing(Execution(threads=threads)):
        np.testing.assert_array_equal(sinkhorn(matrix, 0.05, 0.2).scores, alone.scores)


def test_the_local_order_of_rows_and_columns_does_not_change_a_digit() -> None:
    random = np.random.default_rng(4)
    matrix = Similarity.from_entries(
        random.integers(0, 300, 9000), random.integers(0, 200, 9000), random.random(9000), (300, 200)
    )
    weights, bins = row_weights(matrix, 0.05, 0.2)
    flipped = Similarity(matrix.shape, matrix.indptr, matrix.indices, weights).transpose()
    source, target = np.empty(300, np.float32), np.ones(200, np.float32)
    by_source = matrix.indptr, matrix.indices, weights
    by_target = flipped.indptr, flipped.indices, flipped.scores, np.ones(200, np.float32)
    for _ in range(7):
        normalise_rows(0, 300, *by_source, bins, target, source)
        normalise_rows(0, 200, *by_target, source, target)
    normalise_rows(0, 300, *by_source, bins, target, source)
    expected = np.empty(len(matrix), np.float32)
    row_probabilities(0, 300, *by_source, source, target, expected)
    np.testing.assert_array_equal(on_cpu(*by_source, bins, 200, 7), expected)
