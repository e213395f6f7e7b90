"""Confidence from knock-outs, on scores whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import Arrays, Float32, Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.confidence import calibrate, match_by_chances, next_to_rivals
from largeea.matching.confidence import likelihood as calibrated
from largeea.matching.forbidden import without_pairs
from largeea.matching.fusion import match
from largeea.matching.knockouts import knock_outs
from largeea.similarity import Similarity

MATCHING = 50, 0.062, 0.25, 50
SHARP = 50, 0.024, 0.25, 50
"""Candidates, temperature, no-match score, iterations."""
HOW = {}, *MATCHING, Cardinality.ONE_TO_ONE
EQUAL = 0.87


def scored(seed: int, size: int, with_counterpart: float, lead: float = 0.3) -> Similarity:
    """Source i and target i belong together for the first entities; the others have no counterpart.

    Every source has ten other candidates; the best of them is what an entity without counterpart has.
    """
    random = np.random.default_rng(seed)
    rows, columns = np.repeat(np.arange(size), 10), random.integers(0, size, 10 * size)
    scores = np.clip(random.normal(0.35, 0.1, len(rows)), 0, 1)
    paired = np.arange(round(with_counterpart * size))
    right = np.clip(random.normal(0.35 + lead, 0.12, len(paired)), 0, EQUAL)
    elsewhere = rows != columns
    return Similarity.from_entries(
        np.concatenate([rows[elsewhere], paired]),
        np.concatenate([columns[elsewhere], paired]),
        np.concatenate([scores[elsewhere], right]),
        (size, size),
    )


def fused(channels: dict[str, Similarity]) -> Similarity:
    return match(channels, {}, *SHARP)


def likelihood(
    channels: dict[str, Similarity],
    sharp: Similarity,
    trial: dict[str, Similarity],
    knocked_out: Arrays,
    reviewed: Links | None = None,
) -> Similarity:
    """Confidence with a calibration of its own."""
    learnt = calibrate(trial, knocked_out, HOW, EQUAL, reviewed)
    return calibrated(channels, match(channels, *HOW), sharp, learnt, EQUAL)


def judged(names: Similarity, knocked_out: Arrays | None = None, seed: int = 0) -> Similarity:
    channels = {"name": names}
    if knocked_out is None:
        knocked_out = knock_outs(fused(channels), Links.none(), seed)
    return likelihood(channels, fused(channels), channels, knocked_out)


def calibration_error(chance: Float32, right: np.ndarray, bins: int = 10) -> float:
    place = np.minimum((chance * bins).astype(int), bins - 1)
    return sum(
        abs(float(chance[place == one].mean()) - float(right[place == one].mean()))
        * float((place == one).mean())
        for one in np.unique(place)
    )


@pytest.mark.parametrize(("with_counterpart", "lead"), [(0.75, 0.45), (0.9, 0.3), (0.9, 0.45), (1.0, 0.3)])
def test_confidence_is_calibrated_where_entities_have_no_counterpart(
    with_counterpart: float, lead: float
) -> None:
    size = 1500
    names = scored(0, size, with_counterpart, lead)
    found = judged(names)
    assert found.scores.min() >= 0
    assert found.scores.max() <= 1
    pairs = match({"name": names}, {}, *MATCHING).mutual_best()
    right = (pairs.source == pairs.target) & (pairs.source < with_counterpart * size)
    chance = found.score_of(pairs)
    assert calibration_error(chance, right) < 0.05
    assert chance[right].mean() > chance[~right].mean() + 0.05


def test_all_candidates_have_a_probability_not_only_the_best() -> None:
    names = scored(2, 400, 0.5)
    found = judged(names)
    matched = match({"name": names}, {}, *MATCHING)
    assert found.indices.tolist() == matched.indices.tolist()
    assert found.indptr.tolist() == matched.indptr.tolist()


def test_high_scores_are_believed_and_low_ones_are_not() -> None:
    names = scored(3, 1000, 0.5, lead=0.45)
    found = judged(names)
    best, _ = found.best()
    order = np.argsort(names.score_of(Links(np.column_stack([np.arange(1000), best]))))
    chance = found.best()[1][order]
    assert chance[-100:].mean() > 0.9
    assert chance[:100].mean() < 0.2


def test_without_knock_outs_matching_and_names_are_the_confidence() -> None:
    """Without competitors any candidate has a high probability, so that names must agree, too."""
    names = scored(4, 300, 0.5)
    nothing = np.empty((0, 2), np.int32)
    matched = match({"name": names}, {}, *MATCHING)
    expected = matched.scores * names.scores_on(matched) ** 2
    found = judged(names, {"without_target": nothing, "without_source": nothing})
    np.testing.assert_allclose(found.scores, expected, rtol=1e-5)


def few_pairs(with_counterpart: bool) -> tuple[Similarity, Arrays]:
    """Forty entities a side with names that are somewhat alike, and ten pairs to be taken apart.

    Without the counterpart, every source still has a candidate, which is as good as all others if no entity
    has a counterpart.
    """
    size = 40
    right, other = np.arange(size), (np.arange(size) + 1) % size
    scores = np.concatenate([np.full(size, 0.6 if with_counterpart else 0.3), np.full(size, 0.3)])
    names = Similarity.from_entries(
        np.concatenate([right, right]), np.concatenate([right, other]), scores, (size, size)
    )
    pairs = np.column_stack([right[::4], right[::4]]).astype(np.int32)
    return names, {"without_target": pairs, "without_source": pairs[:0]}


def test_in_small_graphs_pairs_better_than_what_knock_outs_leave_are_believed() -> None:
    """Weak names that differ in the same way from their counterparts were called unlikely."""
    names, knocked_out = few_pairs(with_counterpart=True)
    trial = without_pairs(names, Links(knocked_out["without_target"]))
    learnt = calibrate({"name": trial}, knocked_out, HOW, EQUAL, None)
    assert not len(learnt["slopes"])
    channels = {"name": names}
    found = calibrated(channels, match(channels, *HOW), fused(channels), learnt, EQUAL)
    right = found.score_of(Links(np.column_stack([np.arange(40), np.arange(40)])))
    assert right.min() > 0.6
    assert (right > 0.36 * match({"name": names}, {}, *MATCHING).best()[1]).all()


def test_in_small_graphs_pairs_as_good_as_what_knock_outs_leave_are_not_believed() -> None:
    names, knocked_out = few_pairs(with_counterpart=False)
    trial = without_pairs(names, Links(knocked_out["without_target"]))
    learnt = calibrate({"name": trial}, knocked_out, HOW, EQUAL, None)
    channels = {"name": names}
    found = calibrated(channels, match(channels, *HOW), fused(channels), learnt, EQUAL)
    assert found.scores.max() < 0.35


def test_with_too_few_wrong_pairs_names_and_neighbours_are_two_witnesses() -> None:
    """A pair is unlikely as far as both fail."""
    names = Similarity.from_entries([0, 1], [0, 1], [0.5, 0.5], (2, 2))
    near = Similarity.from_entries([0], [0], [0.9], (2, 2))
    nothing = np.empty((0, 2), np.int32)
    channels, knocked_out = {"name": names, "neighbours": near}, {"without_target": nothing}
    knocked_out["without_source"] = nothing
    matched = match(channels, {}, *MATCHING)
    found = likelihood(channels, fused(channels), channels, knocked_out)
    np.testing.assert_allclose(
        found.scores, matched.scores * np.array([(1 - 0.5 * 0.1) ** 2, 0.5**2]), rtol=1e-5
    )


def test_from_enough_wrong_pairs_on_the_mixture_is_the_confidence() -> None:
    names = scored(4, 300, 0.5)
    pairs = np.column_stack([np.arange(60), np.arange(60)]).astype(np.int32)
    knocked_out = {"without_target": pairs[:30], "without_source": pairs[30:]}
    matched = match({"name": names}, {}, *MATCHING)
    assert not np.array_equal(judged(names, knocked_out).scores, matched.scores)


def test_without_names_the_matching_alone_tells() -> None:
    channels = {"structure": scored(5, 600, 0.9, lead=0.45)}
    knocked_out = knock_outs(match(channels, {}, 50, 0.024, 0.25, 50), Links.none(), 0)
    found = likelihood(channels, fused(channels), channels, knocked_out)
    pairs = match(channels, {}, *MATCHING).mutual_best()
    right = (pairs.source == pairs.target) & (pairs.source < 540)
    assert calibration_error(found.score_of(pairs), right) < 0.08


def test_without_candidates_nothing_is_likely() -> None:
    empty = Similarity.empty((4, 3))
    nothing = np.empty((0, 2), np.int32)
    assert len(judged(empty, {"without_target": nothing, "without_source": nothing})) == 0


# Reviews


def reviewed(names: Similarity, count: int, paired: int) -> Links:
    """The first best pairs, and whether they are right."""
    pairs = match({"name": names}, {}, *MATCHING).mutual_best().pairs[:count]
    return Links(pairs, (pairs[:, 0] == pairs[:, 1]) & (pairs[:, 0] < paired))


def test_confidence_stays_calibrated_with_reviews() -> None:
    """Reviewed pairs are taken out of the channels, as known pairs and forbidden ones are."""
    size, paired = 1500, 1200
    names = scored(6, size, paired / size)
    labels = reviewed(names, 200, paired)
    right = labels.weight == 1
    assert 0.5 < right.mean() < 1
    free = np.ones(size, bool)
    free[labels.source[right]] = False
    left = {"name": without_pairs(names, labels.take(~right)).restrict(free, free)}
    knocked_out = knock_outs(fused(left), labels.take(right), 0)
    found = likelihood(left, fused(left), {"name": names}, knocked_out, labels)
    pairs = match(left, {}, *MATCHING).mutual_best()
    is_right = (pairs.source == pairs.target) & (pairs.source < paired)
    assert calibration_error(found.score_of(pairs), is_right) < 0.08
    assert not found.score_of(labels).any(), "reviewed pairs are decided"


def test_confirmed_pairs_show_what_wrong_pairs_look_like() -> None:
    """Once most right pairs are confirmed, most of those left over are wrong before they are knocked out.

    Without the knock-outs of confirmed pairs, confidence in what is left over was far too high.
    """
    size, paired = 1000, 700
    names = scored(8, size, paired / size)
    ids = np.arange(paired - 50, dtype=np.int32)
    labels = Links(np.column_stack([ids, ids]), np.ones(len(ids), np.float32))
    free = np.ones(size, bool)
    free[ids] = False
    left = {"name": names.restrict(free, free)}
    knocked_out = knock_outs(fused(left), Links(labels.pairs), 0)
    found = likelihood(left, fused(left), {"name": names}, knocked_out, labels)
    pairs = match(left, {}, *MATCHING).mutual_best()
    is_right = (pairs.source == pairs.target) & (pairs.source < paired)
    assert is_right.mean() < 0.4
    assert calibration_error(found.score_of(pairs), is_right) < 0.08


def test_reviewed_pairs_that_were_knocked_out_teach_too() -> None:
    """A third of the confirmed pairs taught nothing: without one of their entities, they are not matched."""
    size, paired = 1500, 1200
    names = scored(9, size, paired / size)
    labels = reviewed(names, 200, paired)
    right = labels.take(labels.weight == 1)
    every = {"without_target": right.pairs[::2], "without_source": right.pairs[1::2]}
    learnt = calibrate({"name": names}, every, HOW, EQUAL, labels)
    assert learnt["reviewed"].tolist() == labels.pairs.tolist()
    assert learnt["right"].tolist() == (labels.weight == 1).tolist()


# Matching by confidence


def test_a_sure_pair_is_not_given_up_for_two_unlikely_ones() -> None:
    """By scores, equal names lost: each of the two had another candidate, and both together scored more."""
    names = Similarity.from_entries([0, 0, 1], [0, 1, 0], [1.0, 0.75, 0.78], (2, 2))
    assert [1, 0] in fused({"name": names}).mutual_best().pairs.tolist()
    chances = Similarity.from_entries([0, 0, 1], [0, 1, 0], [0.95, 0.3, 0.3], (2, 2))
    again = match_by_chances(chances, 50, 0.4, 50)
    assert again.mutual_best().pairs.tolist() == [[0, 0]]
    confidence = next_to_rivals(chances, again)
    assert confidence.score_of(Links([[0, 0], [1, 0]])) == pytest.approx([0.95, 0.0], abs=0.01)


def test_a_pair_with_an_equal_rival_is_half_as_likely() -> None:
    chances = Similarity.from_entries([0, 0, 1], [0, 1, 2], [0.9, 0.9, 0.6], (2, 3))
    again = match_by_chances(chances, 50, 0.4, 50)
    assert next_to_rivals(chances, again).scores == pytest.approx([0.45, 0.45, 0.6], abs=0.02)


@pytest.mark.parametrize("certain", [0.0, 1.0])
def test_certainty_has_finite_odds(certain: float) -> None:
    chances = Similarity.from_entries([0, 1], [0, 1], [certain, 0.5], (2, 2))
    assert np.isfinite(match_by_chances(chances, 50, 0.4, 50).scores).all()
