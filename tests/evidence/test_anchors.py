"""Which pairs are anchors of a round."""

from __future__ import annotations

import numpy as np

from largeea.evidence.anchors import choose_anchors
from largeea.graph import Links
from largeea.similarity import Similarity

SIZE = 100


def matrix(best: list[float], second: list[float]) -> Similarity:
    """Row i has its own column with the probability `best[i]`, and the next column with `second[i]`."""
    rows = np.arange(SIZE)
    scores = np.concatenate([best, second]).astype(np.float32)
    columns = np.concatenate([rows, (rows + 1) % SIZE])
    return Similarity.from_entries(np.tile(rows, 2), columns, scores, (SIZE, SIZE))


def rows_of(best: list[float], second: list[float], seeds: Links | None = None) -> list[int]:
    return choose_anchors(matrix(best, second), seeds or Links.none(), 0.3).source.tolist()


def test_likely_pairs_that_are_well_ahead() -> None:
    best, second = [0.9] * SIZE, [0.1] * SIZE
    best[3], second[5] = 0.45, 0.7
    assert rows_of(best, second) == [i for i in range(SIZE) if i not in (3, 5)]


def test_a_few_likely_pairs_are_enough_to_begin_with() -> None:
    best, second = [0.55] * SIZE, [0.45] * SIZE
    best[:2] = [0.9, 0.9]
    assert rows_of(best, second) == [0, 1]


def test_where_everything_has_a_double_the_half_that_is_furthest_ahead_is_a_beginning() -> None:
    best, second = [0.55] * SIZE, [0.45] * SIZE
    best[50:] = [0.52] * 50
    assert rows_of(best, second) == list(range(50))


def test_equal_candidates_are_no_beginning() -> None:
    assert rows_of([0.5] * SIZE, [0.5] * SIZE) == []


def test_seeds_are_a_beginning() -> None:
    seeds = Links(np.array([[7, 7], [8, 8]]))
    assert rows_of([0.55] * SIZE, [0.45] * SIZE, seeds) == [7, 8]
