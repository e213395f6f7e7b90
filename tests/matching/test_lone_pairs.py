"""Confidence of duplicates, on scores whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.lone_pairs import likelihood_by_anchors
from largeea.similarity import Similarity

MATCHING = 50, 0.062, 0.25
EQUAL = 0.87


def scored(size: int, duplicates: int, seed: int = 0) -> tuple[dict[str, Similarity], Links]:
    """Entities 2i and 2i + 1 are the same, for the first ones; the others have only wrong candidates."""
    random = np.random.default_rng(seed)
    rows, columns = np.repeat(np.arange(size), 12), random.integers(0, size, 12 * size)
    kept = (rows != columns) & (rows // 2 != columns // 2)
    ends = np.sort(np.column_stack([rows[kept], columns[kept]]), axis=1)
    ends = np.unique(ends, axis=0)
    right = np.arange(2 * duplicates).reshape(-1, 2)
    both = np.concatenate([ends, right])
    parts = {}
    for kind in ("name", "literals"):
        wrong, true = random.normal(0.3, 0.1, len(ends)), random.normal(0.65, 0.13, len(right))
        scores = np.clip(np.concatenate([wrong, true]), 0, 1)
        parts[kind] = Similarity.from_entries(
            np.concatenate([both[:, 0], both[:, 1]]), np.concatenate([both[:, 1], both[:, 0]]),
            np.concatenate([scores, scores]), (size, size),
        )  # fmt: skip
    return parts, Links(right.astype(np.int32))


def likelihood(channels: dict[str, Similarity], anchors: Links) -> Similarity:
    return likelihood_by_anchors(channels, anchors, {}, *MATCHING, EQUAL, None, Cardinality.WITHIN)


def test_right_pairs_are_likely_and_wrong_ones_are_not():
    channels, right = scored(2000, 500)
    found = likelihood(channels, right.take(np.arange(0, 500, 3)))
    chance = found.score_of(right)
    assert chance.mean() > 0.9
    accepted = found.keep(found.scores >= 0.5)
    pairs = np.sort(np.column_stack([accepted.rows, accepted.indices]), axis=1)
    is_right = (pairs[:, 0] // 2 == pairs[:, 1] // 2) & (pairs[:, 1] < 1000)
    assert is_right.mean() > 0.8


def test_with_too_few_anchors_names_and_the_sum_tell():
    channels, right = scored(300, 50)
    found = likelihood(channels, right.take(np.arange(3)))
    names = channels["name"].scores_on(found)
    assert (found.scores <= names**2 + 1e-6).all()


@pytest.mark.parametrize("cardinality", ["within", "n:m"])
def test_without_candidates_nothing_is_likely(cardinality):
    empty = {"name": Similarity.empty((3, 3))}
    found = likelihood_by_anchors(empty, Links.none(), {}, *MATCHING, EQUAL, None, cardinality)
    assert len(found) == 0


def test_what_people_say_counts():
    """Pairs that score high but are called wrong make such pairs less likely."""
    channels, right = scored(2000, 500)
    anchors = right.take(np.arange(0, 500, 3))
    before = likelihood(channels, anchors)
    reviewed = Links(right.pairs[1::3], np.zeros(len(right.pairs[1::3]), np.float32))
    after = likelihood_by_anchors(channels, anchors, {}, *MATCHING, EQUAL, reviewed, Cardinality.WITHIN)
    assert after.score_of(right).mean() <= before.score_of(right).mean()
