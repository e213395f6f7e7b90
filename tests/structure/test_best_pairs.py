"""The best pairs of mini-batches that overlap, against all pairs put into one matrix."""

from __future__ import annotations

import numpy as np

from largeea.graph import Float32, Int32
from largeea.similarity import Similarity
from largeea.structure.best_pairs import BestPairs

SOURCES, TARGETS, K = 40, 12, 4


def block(random: np.random.Generator) -> tuple[Int32, Int32, Float32]:
    """Up to K pairs of some sources, best first, ties by id; few distinct scores, so that ties are many."""
    rows = random.choice(SOURCES, 25, replace=False).astype(np.int32)
    ids, scores = np.full((25, K), -1, np.int32), np.zeros((25, K), np.float32)
    for row in range(25):
        size = random.integers(0, K + 1)
        found = random.choice(TARGETS, size, replace=False)
        similar = random.integers(1, 6, size).astype(np.float32) / 8
        order = np.lexsort((found, -similar))
        ids[row, :size], scores[row, :size] = found[order], similar[order]
    return rows, ids, scores


def test_pairs_of_several_batches_keep_their_best_score() -> None:
    random = np.random.default_rng(0)
    blocks = [block(random) for _ in range(5)]
    best = BestPairs(SOURCES, K)
    for found in blocks:
        best.add(*found)
    rows = np.concatenate([np.repeat(rows, (ids >= 0).sum(axis=1)) for rows, ids, _ in blocks])
    columns = np.concatenate([ids[ids >= 0] for _, ids, _ in blocks])
    scores = np.concatenate([scores[ids >= 0] for _, ids, scores in blocks])
    expected = Similarity.from_entries(rows, columns, scores, (SOURCES, TARGETS), 0.0).top_k(K)
    matrix = best.matrix(TARGETS)
    for column in ("indptr", "indices", "scores"):
        np.testing.assert_array_equal(getattr(matrix, column), getattr(expected, column))


def test_nothing_added_gives_an_empty_matrix() -> None:
    matrix = BestPairs(3, 2).matrix(5)
    assert matrix.shape == (3, 5)
    assert not len(matrix)
