"""Clusters and how far two clusterings agree, on examples counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import Links
from largeea.matching.clusters import b_cubed_agreement, cluster_numbers, pairwise_agreement


def links(*pairs: tuple[int, int]) -> Links:
    return Links(np.array(pairs, np.int32).reshape(-1, 2))


def test_clusters_of_two_graphs_join_sources_with_a_common_target():
    assert cluster_numbers(links((0, 1), (2, 1), (3, 0)), 4, 2).tolist() == [0, -1, 0, 1, 1, 0]


def test_clusters_of_one_graph_are_transitive():
    assert cluster_numbers(links((3, 4), (0, 2), (2, 5)), 6, 6, within=True).tolist() == [0, -1, 0, 1, 1, 0]


def test_without_links_there_are_no_clusters():
    assert cluster_numbers(Links.none(), 2, 1).tolist() == [-1, -1, -1]
    nothing = np.full(3, -1)
    assert pairwise_agreement(nothing, nothing) == (0, 0)
    assert b_cubed_agreement(nothing, nothing) == (0, 0)


def test_agreement_counted_by_hand():
    """Found {0, 1, 2} and {3, 4}; true {0, 1} and {2, 3, 4}; 5 is in neither, 6 and 7 only in the truth."""
    found = np.array([0, 0, 0, 1, 1, -1, -1, -1])
    true = np.array([0, 0, 1, 1, 1, -1, 2, 2])
    assert pairwise_agreement(found, true) == pytest.approx((2 / 4, 2 / 5))
    precision = (2 / 3 + 2 / 3 + 1 / 3 + 1 + 1 + 1 + 1) / 7
    recall = (1 + 1 + 1 / 3 + 2 / 3 + 2 / 3 + 1 / 2 + 1 / 2) / 7
    assert b_cubed_agreement(found, true) == pytest.approx((precision, recall))


def test_equal_clusterings_agree_whatever_their_numbers():
    found, true = np.array([0, 0, 1, 1, -1]), np.array([7, 7, 3, 3, -1])
    assert pairwise_agreement(found, true) == (1, 1)
    assert b_cubed_agreement(found, true) == (1, 1)
