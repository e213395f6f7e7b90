"""Knock-outs: which pairs are taken apart for a trial."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import Links
from largeea.matching.knockouts import (
    SHARE,
    knock_outs,
    knocked_out_pairs,
    left_alone,
    spared,
    taken_away,
)
from largeea.similarity import Similarity

SIZE = 200


def diagonal(size: int, first: int = 0) -> Similarity:
    """Source i and target i + 1 belong together, from `first` on."""
    ids = np.arange(first, size)
    return Similarity.from_entries(ids, ids + 1, np.full(len(ids), 0.9), (size, size + 1))


KNOWN = Links(np.column_stack([np.arange(50), np.arange(1, 51)]))
KNOCKED_OUT = knock_outs(diagonal(SIZE, 50), KNOWN, seed=0)


def test_found_and_known_pairs_are_knocked_out_on_both_sides() -> None:
    for pairs in KNOCKED_OUT.values():
        assert len(pairs) == np.ceil(SHARE * SIZE)
        assert (pairs[:, 1] == pairs[:, 0] + 1).all(), "only pairs that belong together"
        known = (pairs[:, 0] < 50).sum()
        assert 0 < known < len(pairs)


def test_no_pair_is_knocked_out_twice() -> None:
    both = np.concatenate(list(KNOCKED_OUT.values()))
    assert len(np.unique(both[:, 0])) == len(np.unique(both[:, 1])) == len(both)


def test_what_is_taken_away_and_what_is_left_alone() -> None:
    shape = SIZE, SIZE + 1
    gone, alone = taken_away(KNOCKED_OUT, shape), left_alone(KNOCKED_OUT, shape)
    assert np.flatnonzero(gone[1]).tolist() == sorted(KNOCKED_OUT["without_target"][:, 1])
    assert np.flatnonzero(alone[0]).tolist() == sorted(KNOCKED_OUT["without_target"][:, 0])
    assert np.flatnonzero(gone[0]).tolist() == sorted(KNOCKED_OUT["without_source"][:, 0])
    assert np.flatnonzero(alone[1]).tolist() == sorted(KNOCKED_OUT["without_source"][:, 1])
    for taken, left in zip(gone, alone, strict=True):
        assert not (taken & left).any()


def test_the_knocked_out_pair_behind_a_wrong_one() -> None:
    alone, gone = KNOCKED_OUT["without_target"][0].tolist(), KNOCKED_OUT["without_source"][0].tolist()
    wrong = Links(np.array([[alone[0], 0], [0, gone[1]]]))
    assert knocked_out_pairs(KNOCKED_OUT, wrong, (SIZE, SIZE + 1)).pairs.tolist() == [alone, gone]


def test_spared_links_touch_no_knocked_out_pair() -> None:
    both = np.concatenate(list(KNOCKED_OUT.values()))
    links = Links(np.column_stack([np.arange(SIZE), np.arange(SIZE)]), np.linspace(0.5, 1, SIZE))
    kept = spared(links, KNOCKED_OUT, None)
    touched = {s for s, t in links.pairs.tolist() if s in both[:, 0] or t in both[:, 1]}
    assert touched
    assert kept.source.tolist() == [s for s in range(SIZE) if s not in touched]
    assert kept.weight is not None
    assert links.weight is not None
    assert kept.weight.tolist() == links.weight[kept.source].tolist()


def test_nothing_is_spared_from_nothing() -> None:
    assert spared(Links.none(), KNOCKED_OUT, None).pairs.shape == (0, 2)
    nothing = knock_outs(Similarity.empty((3, 4)), Links.none(), seed=0)
    assert spared(KNOWN, nothing, None).pairs.tolist() == KNOWN.pairs.tolist()
    reviewed = Links(KNOWN.pairs[3:5], np.array([1.0, 0.0]))
    left = np.delete(KNOWN.pairs, [3, 4], axis=0)
    assert spared(KNOWN, nothing, reviewed).pairs.tolist() == left.tolist(), "reviewed links are left out"


@pytest.mark.parametrize(("size", "count"), [(0, 0), (1, 0), (2, 1), (7, 2)])
def test_small_graphs(size: int, count: int) -> None:
    found = knock_outs(diagonal(size), Links.none(), seed=0)
    assert [len(pairs) for pairs in found.values()] == [count, count]


def test_the_seed_decides() -> None:
    same, other = (knock_outs(diagonal(SIZE, 50), KNOWN, seed) for seed in (0, 1))
    assert all(np.array_equal(same[name], KNOCKED_OUT[name]) for name in same)
    assert not np.array_equal(other["without_target"], KNOCKED_OUT["without_target"])
