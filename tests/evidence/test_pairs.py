"""Candidate pairs as jobs get them: every row of a block once, and targets by their places."""

from __future__ import annotations

import numpy as np

from largeea.evidence.pairs import Pairs
from largeea.similarity import Similarity


def some_pairs() -> Pairs:
    random = np.random.default_rng(0)
    dense = np.where(random.random((50, 30)) < 0.2, 1, 0)
    dense[:, 7] = 0
    rows, columns = np.nonzero(dense)
    return Pairs.of(Similarity.from_entries(rows, columns, np.ones(len(rows)), dense.shape))


def test_the_order_of_a_block_has_each_of_its_rows_once() -> None:
    pairs = some_pairs()
    count = len(pairs.sources)
    for first, last in ((0, count), (0, 20), (20, count), (13, 14), (9, 9)):
        order = pairs.order_of(first, last)
        assert sorted(order.tolist()) == list(range(last - first))
        whole = [row - first for row in pairs.order.tolist() if first <= row < last]
        assert order.tolist() == whole


def test_jobs_find_the_target_of_every_pair() -> None:
    pairs = some_pairs()
    given = pairs.for_jobs()
    assert 7 not in given.targets
    np.testing.assert_array_equal(given.targets[given.places], pairs.indices)
    assert not len(given.indices)
    assert not len(given.products)
