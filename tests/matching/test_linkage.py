"""Average linkage on clusters whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import Links
from largeea.matching.linkage import joining_pairs


def joined(pairs: list[tuple[int, int]], confidence: list[float], threshold: float = 0.5) -> list[bool]:
    links = Links(np.array(pairs, np.int32))
    return joining_pairs(links, np.array(confidence, np.float32), threshold, 6).tolist()


def test_one_likely_pair_does_not_join_two_clusters():
    """0 and 1 are the same, and 2 and 3; of the pairs between them, only (1, 2) is likely."""
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert joined(pairs, [0.9, 0.1, 0.1, 0.8, 0.1, 0.9]) == [True, False, False, False, False, True]


def test_clusters_are_joined_where_their_pairs_are_likely_on_average():
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert joined(pairs, [0.9, 0.7, 0.4, 0.8, 0.6, 0.9]) == [True, True, False, True, True, True]


def test_pairs_that_are_no_candidates_say_nothing():
    assert joined([(0, 1), (1, 2), (2, 3)], [0.9, 0.8, 0.7]) == [True, True, True]


@pytest.mark.parametrize(("threshold", "expected"), [(0.5, [True, True]), (0.85, [True, False])])
def test_no_pair_below_the_threshold_joins(threshold, expected):
    assert joined([(0, 1), (2, 3)], [0.9, 0.8], threshold) == expected


def test_nothing_to_join():
    assert joining_pairs(Links.none(), np.empty(0, np.float32), 0.5, 3).tolist() == []
