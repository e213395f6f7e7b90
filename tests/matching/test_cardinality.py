"""What competes under each cardinality, on small matrices whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import Links
from largeea.matching.cardinality import Cardinality, each_pair_once
from largeea.matching.fusion import match
from largeea.matching.knockouts import knock_outs, left_alone
from largeea.similarity import Similarity

SCORES = Similarity.from_entries([0, 1, 1, 2, 2], [0, 0, 1, 1, 2], [0.9, 0.8, 0.5, 0.6, 0.55], (3, 3))
"""Sources 0 and 1 are closest to target 0; target 1 is closest to source 2."""


def matched(cardinality: str, temperature: float = 0.05) -> Similarity:
    return match({"name": SCORES}, {}, 3, temperature, 0.25, 50, cardinality)


@pytest.mark.parametrize(
    ("cardinality", "rows_compete", "columns_compete"),
    [("1:1", True, True), ("n:1", True, False), ("1:n", False, True), ("n:m", False, False)],
)
def test_only_ends_with_one_counterpart_compete(cardinality, rows_compete, columns_compete):
    found = matched(cardinality).to_scipy()
    rows, columns = (np.asarray(found.sum(axis=axis)).ravel() for axis in (1, 0))
    assert (rows <= 1.001).all() == rows_compete
    assert (columns <= 1.001).all() == columns_compete


def test_a_pair_without_competitors_is_even_at_the_no_match_score():
    scores = Similarity.from_entries([0], [0], [0.25], (1, 1))
    for cardinality in ("n:1", "1:n", "n:m"):
        found = match({"name": scores}, {}, 1, 0.05, 0.25, 50, cardinality)
        assert found.scores[0] == pytest.approx(0.5, abs=0.01)


def test_independent_probabilities_keep_the_order_of_high_scores():
    scores = Similarity.from_entries([0, 1, 2], [0, 1, 2], [2.7, 2.8, 2.9], (3, 3))
    found = match({"name": scores}, {}, 1, 0.024, 0.25, 50, "n:m").scores
    assert (np.diff(found) > 0).all()
    assert found[-1] < 1


@pytest.mark.parametrize(
    ("cardinality", "pairs"),
    [
        ("1:1", [[0, 0], [2, 1]]),
        ("n:1", [[0, 0], [1, 0], [2, 1]]),
        ("1:n", [[0, 0], [2, 1], [2, 2]]),
    ],
)
def test_best_pairs(cardinality, pairs):
    assert sorted(Cardinality(cardinality).best_pairs(SCORES).pairs.tolist()) == pairs


def test_each_pair_of_one_graph_is_there_once_with_its_higher_score():
    found = each_pair_once(
        Similarity.from_entries([0, 1, 1, 2, 2], [1, 0, 1, 2, 0], [0.3, 0.7, 1, 1, 0.2], (3, 3))
    )
    assert found.rows.tolist() == [0, 0]
    assert found.indices.tolist() == [1, 2]
    assert found.scores.tolist() == pytest.approx([0.7, 0.2])


def two_sources_each(targets: int) -> Similarity:
    """Sources 2i and 2i + 1 have the target i."""
    sources = np.arange(2 * targets)
    return Similarity.from_entries(sources, sources // 2, np.full(2 * targets, 0.9), (2 * targets, targets))


def test_a_target_that_is_taken_away_leaves_all_its_sources_alone():
    knocked_out = knock_outs(two_sources_each(50), Links.none(), 0, "n:1")
    gone = set(knocked_out["without_target"][:, 1].tolist())
    assert 10 < len(gone) < 20
    alone, _ = left_alone(knocked_out, (100, 50))
    assert {int(source) // 2 for source in np.flatnonzero(alone)} == gone
    assert alone.sum() == 2 * len(gone)
    assert not len(knocked_out["without_source"])


def test_sources_are_taken_away_where_a_source_may_have_several_targets():
    one, other = (
        knock_outs(matrix, Links.none(), 0, cardinality)
        for matrix, cardinality in ((two_sources_each(50), "n:1"), (two_sources_each(50).transpose(), "1:n"))
    )
    assert other["without_source"].tolist() == one["without_target"][:, ::-1].tolist()
    assert not len(other["without_target"])


def test_only_pairs_that_no_third_entity_is_closest_to_are_knocked_out():
    """Of the pairs (i, i), target 0 is the best of source 1, too."""
    scores = np.eye(20) * 0.9
    scores[1, 0] = 0.95
    knocked_out = knock_outs(Similarity.from_scipy(scores), Links.none(), 0, "n:m")
    pairs = np.concatenate(list(knocked_out.values()))
    assert len(pairs)
    assert not np.isin(pairs, [0, 1]).any()
