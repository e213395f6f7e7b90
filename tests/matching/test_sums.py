"""The best of a sum of matrices, in one pass: the same as adding first."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.matching.sums import top_k_of_sum
from largeea.similarity import Similarity

SHAPE = 5000, 300


def random_matrix(seed: int, entries: int = 20_000, floor: float = 0.0) -> Similarity:
    random = np.random.default_rng(seed)
    rows, columns = random.integers(0, SHAPE, (entries, 2)).T
    return Similarity.from_entries(rows, columns, random.integers(1, 9, entries) / 8, SHAPE, floor)


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("k", [1, 4, 50])
def test_it_is_the_top_k_of_the_sum(k: int, threads: int) -> None:
    """Scores are few eighths, so that there are ties."""
    matrices = [random_matrix(0), random_matrix(1, floor=-0.5), random_matrix(2, 100)]
    weights = 1.0, 0.6, 0.3
    expected = reduce(add, (one.scale(by) for one, by in zip(matrices, weights, strict=True))).top_k(k)
    with executing(Execution(threads=threads)):
        found = top_k_of_sum(matrices, k, weights)
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)
    assert found.floor == expected.floor


def test_without_weights_all_count_alike() -> None:
    matrices = [random_matrix(3), random_matrix(4)]
    found, expected = top_k_of_sum(matrices, 5), (matrices[0] + matrices[1]).top_k(5)
    np.testing.assert_array_equal(found.to_dense(), expected.to_dense())


def test_nothing_to_add() -> None:
    assert len(top_k_of_sum([Similarity.empty((3, 4)), Similarity.empty((3, 4))], 2)) == 0


@pytest.mark.parametrize("threads", [1, 3])
def test_masks_are_like_restricted_matrices(threads: int) -> None:
    matrices = [random_matrix(5), random_matrix(6, floor=-0.5)]
    random = np.random.default_rng(7)
    masks = random.random(SHAPE[0]) < 0.6, random.random(SHAPE[1]) < 0.6
    expected = top_k_of_sum([one.restrict(*masks) for one in matrices], 3, [1.0, 0.4])
    with executing(Execution(threads=threads)):
        found = top_k_of_sum(matrices, 3, [1.0, 0.4], masks=masks)
    assert 0 < len(found) < len(top_k_of_sum(matrices, 3))
    np.testing.assert_array_equal(found.indptr, expected.indptr)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_a_factor_scales_the_sum_before_the_best_are_chosen() -> None:
    matrices = [random_matrix(8), random_matrix(9, floor=-0.5)]
    found, expected = top_k_of_sum(matrices, 4, factor=0.3), (matrices[0] + matrices[1]).scale(0.3).top_k(4)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)
    assert found.floor == expected.floor
