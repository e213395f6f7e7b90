"""Pseudo-seeds: mutual, clear, one-to-one, and never against a given seed."""

from __future__ import annotations

import numpy as np

from largeea.graph import Links
from largeea.names.augment import augment
from largeea.similarity import Similarity


def names(entries: dict[tuple[int, int], float]) -> Similarity:
    rows, columns = zip(*entries, strict=True)
    return Similarity.from_entries(rows, columns, list(entries.values()), (4, 4))


CLEAR = {(0, 0): 0.9, (1, 1): 0.8, (1, 0): 0.2, (2, 2): 0.7, (3, 2): 0.65}


def test_mutual_best_become_seeds_weighted_by_their_score() -> None:
    found = augment(Links.none(), names(CLEAR), 0)
    assert found.pairs.tolist() == [[0, 0], [1, 1], [2, 2]]
    np.testing.assert_allclose(found.weight, [0.9, 0.8, 0.7])


def test_given_seeds_win() -> None:
    found = augment(Links([[0, 1]]), names(CLEAR), 0)
    assert [0, 1] in found.pairs.tolist()
    assert found.weight is not None
    assert found.weight[0] == 1
    others = found.pairs[1:]
    assert 0 not in others[:, 0]
    assert 1 not in others[:, 1]


def test_a_close_second_spoils_it() -> None:
    close = CLEAR | {(0, 3): 0.85}
    assert [0, 0] in augment(Links.none(), names(close), 0).pairs.tolist()
    assert [0, 0] not in augment(Links.none(), names(close), 0.3).pairs.tolist()


def test_no_names_no_pseudo_seeds() -> None:
    assert len(augment(Links.none(), Similarity.empty((4, 4)), 0.2)) == 0
