"""The worth of evidence, measured on pairs that are sure."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.evidence import known_judges, measure_learnt, measure_names, measure_worth
from largeea.evidence.worth import (
    ENOUGH_KNOWN,
    MOST_PAIRS,
    NAMES_PRIOR,
    PRIOR,
    PRIOR_PAIRS,
    sure_by_name,
    sure_by_structure,
)
from largeea.graph import Links
from largeea.similarity import Similarity

SIZE = 300
SURE = Links(np.column_stack([np.arange(SIZE), np.arange(SIZE)]))
KINDS = {"source": np.zeros(SIZE, np.int8), "target": np.zeros(SIZE, np.int8)}
WEIGHTS = {"neighbours": 0.6, "surroundings": 1.0, "literals": 0.75}


def candidates(seed: int, size: int = SIZE, per_source: int = 10) -> Similarity:
    """The right target and some others of each source."""
    random = np.random.default_rng(seed)
    rows = np.repeat(np.arange(size), per_source + 1)
    columns = random.integers(0, size, (size, per_source + 1))
    columns[:, 0] = np.arange(size)
    return Similarity.from_entries(rows, columns.ravel(), random.random(len(rows)), (size, size))


def scored(pattern: Similarity, scores: np.ndarray) -> Similarity:
    return Similarity(pattern.shape, pattern.indptr, pattern.indices, scores.astype(np.float32))


POOL = candidates(0)
IS_RIGHT = POOL.rows == POOL.indices
NOISE = np.random.default_rng(1).random(len(POOL))
EQUAL = scored(POOL, np.ones(len(POOL)))


def worth_of(surroundings: Similarity, sure: Links = SURE, **more: Similarity) -> dict[str, float]:
    evidence = {"neighbours": Similarity.empty(surroundings.shape), "surroundings": surroundings, **more}
    found = measure_worth(evidence, EQUAL, WEIGHTS, [POOL], Links.none(), sure, seed=0)
    assert all(share.shape == (1,) and share.dtype == np.float64 for share in found.values())
    assert set(found) == set(evidence)
    return {kind: float(share[0]) for kind, share in found.items()}


def test_evidence_that_always_ranks_the_right_one_first_by_far_tells_everything() -> None:
    told = worth_of(scored(POOL, 0.8 * IS_RIGHT + 0.1 * NOISE))
    assert told["surroundings"] > 0.98
    assert told["neighbours"] == told["surroundings"], "structure is judged together"


def test_random_scores_tell_nothing() -> None:
    assert worth_of(scored(POOL, NOISE))["surroundings"] < 0.05


def test_equal_scores_tell_nothing() -> None:
    assert worth_of(scored(POOL, np.full(len(POOL), 0.7)))["surroundings"] < 0.02


def test_scores_that_are_highest_for_wrong_pairs_tell_nothing() -> None:
    assert worth_of(scored(POOL, 1.0 - 0.9 * IS_RIGHT))["surroundings"] < 0.02


def test_no_evidence_tells_nothing() -> None:
    assert worth_of(Similarity.empty(POOL.shape))["surroundings"] < 0.02


def test_in_between_it_grows_with_what_is_told() -> None:
    told = [worth_of(scored(POOL, lead * IS_RIGHT + NOISE))["surroundings"] for lead in (0, 0.4, 0.8, 1.5)]
    assert told == sorted(told)
    assert told[0] < 0.1
    assert 0.1 < told[1] < told[2] < 0.9
    assert told[3] > 0.9


def test_evidence_on_half_of_the_pairs_tells_about_half() -> None:
    half = scored(POOL, IS_RIGHT & (POOL.rows % 2 == 0))
    assert 0.3 < worth_of(half)["surroundings"] < 0.7


def test_the_scale_of_scores_does_not_count() -> None:
    scores = 0.5 * IS_RIGHT + 0.5 * NOISE
    whole, tenth = (worth_of(scored(POOL, factor * scores))["surroundings"] for factor in (1, 0.1))
    assert tenth == pytest.approx(whole, abs=0.01)


def test_literals_are_judged_on_their_own() -> None:
    told = worth_of(scored(POOL, NOISE), literals=scored(POOL, IS_RIGHT * 1.0))
    assert told["surroundings"] < 0.05
    assert told["literals"] > 0.98


def test_without_sure_pairs_the_prior_is_the_worth() -> None:
    told = worth_of(scored(POOL, IS_RIGHT * 1.0), Links.none())
    assert told == {"neighbours": PRIOR, "surroundings": PRIOR}


def test_a_few_sure_pairs_move_the_prior_a_little() -> None:
    few = SURE.take(np.arange(5))
    good, bad = (worth_of(scored(POOL, scores), few)["surroundings"] for scores in (IS_RIGHT * 1.0, NOISE))
    assert PRIOR + 0.2 < good < 0.9
    assert 1 - PRIOR - 0.2 > bad > 0.1
    assert PRIOR_PAIRS == 10


def test_pairs_without_competitors_are_not_judged() -> None:
    alone = Similarity.from_entries(np.arange(SIZE), np.arange(SIZE), np.ones(SIZE), (SIZE, SIZE))
    found = measure_worth(
        {"neighbours": alone, "surroundings": alone}, alone, WEIGHTS, [alone], Links.none(), SURE, seed=0
    )
    assert float(found["surroundings"][0]) == PRIOR


def test_evidence_of_no_weight_is_worth_nothing() -> None:
    right = scored(POOL, IS_RIGHT * 1.0)
    pairs = [POOL], Links.none(), SURE
    evidence = {"neighbours": right, "surroundings": right}
    found = measure_worth(evidence, EQUAL, WEIGHTS | {"neighbours": 0.0}, *pairs, seed=0)
    assert float(found["surroundings"][0]) > 0.98
    found = measure_worth({"literals": right}, EQUAL, {"literals": 0.0}, *pairs, seed=0)
    assert float(found["literals"][0]) == 0


def test_only_some_pairs_are_looked_at_and_always_the_same() -> None:
    size = MOST_PAIRS + 500
    pool = candidates(3, size, 4)
    lead = np.where(pool.rows < size // 2, 1.0, 0.0) * (pool.rows == pool.indices)
    evidence = {"neighbours": Similarity.empty(pool.shape), "surroundings": scored(pool, lead)}
    sure = Links(np.column_stack([np.arange(size), np.arange(size)]))
    names = scored(pool, np.ones(len(pool)))
    one, two, other = (
        float(measure_worth(evidence, names, WEIGHTS, [pool], Links.none(), sure, seed)["surroundings"][0])
        for seed in (0, 0, 1)
    )
    assert one == two
    assert one != other
    assert one == pytest.approx(other, abs=0.05)


def test_evidence_is_judged_by_the_half_of_the_anchors_with_the_most_similar_names() -> None:
    """The other half is wrong here, and evidence that is right about the first half tells everything."""
    wrong = np.arange(SIZE // 2, SIZE)
    anchors = Links(np.column_stack([np.arange(SIZE), np.r_[np.arange(SIZE // 2), np.roll(wrong, 1)]]))
    names = Similarity.from_entries(
        anchors.source, anchors.target, np.where(anchors.source < SIZE // 2, 0.9, 0.6), (SIZE, SIZE)
    )
    assert sure_by_name(anchors, names).source.tolist() == list(range(SIZE // 2))
    evidence = {"neighbours": Similarity.empty(POOL.shape), "surroundings": scored(POOL, IS_RIGHT * 1.0)}
    pool = [POOL, names]
    found = measure_worth(evidence, names, WEIGHTS, pool, Links.none(), anchors, seed=0)
    assert float(found["surroundings"][0]) > 0.95


def test_enough_known_pairs_judge_instead_of_names() -> None:
    misled = Links(np.column_stack([np.arange(SIZE), np.roll(np.arange(SIZE), 1)]))
    evidence = {"neighbours": Similarity.empty(POOL.shape), "surroundings": scored(POOL, IS_RIGHT * 1.0)}
    for known, least, most in ((ENOUGH_KNOWN, 0.9, 1.0), (ENOUGH_KNOWN - 1, 0.0, 0.6)):
        judged = known_judges(SURE.take(np.arange(known)), KINDS, seed=0)
        found = measure_worth(evidence, EQUAL, WEIGHTS, [POOL], judged, misled, seed=0)
        assert least <= float(found["surroundings"][0]) <= most


def test_known_pairs_that_are_not_matched_judge_nothing() -> None:
    """Entities with equal IRIs have no scores: evidence would seem to say nothing about them."""
    kinds = {"source": np.where(np.arange(SIZE) < 7, 0, -1), "target": KINDS["target"]}
    assert known_judges(SURE, kinds, seed=0).source.tolist() == list(range(7))


def names_worth(names: Similarity, structure: Similarity, judged: Links = Links.none()) -> float:  # noqa: B008
    evidence = {"neighbours": structure, "surroundings": structure}
    return float(measure_names(names, evidence, [POOL], judged, seed=0)["worth"][0])


def test_names_are_judged_by_the_pairs_that_structure_is_sure_of() -> None:
    structure = scored(POOL, 0.9 * IS_RIGHT)
    assert names_worth(scored(POOL, 0.8 * IS_RIGHT + 0.1 * NOISE), structure) > 0.98
    assert names_worth(scored(POOL, NOISE), structure) < 0.1
    assert 0.2 < names_worth(scored(POOL, 0.6 * IS_RIGHT + NOISE), structure) < 0.9


def test_names_tell_everything_until_structure_is_sure_of_something() -> None:
    assert names_worth(scored(POOL, NOISE), scored(POOL, NOISE * 0.4)) == NAMES_PRIOR


def test_names_are_judged_by_known_pairs_too() -> None:
    unsure = scored(POOL, NOISE * 0.4)
    assert names_worth(scored(POOL, NOISE), unsure, SURE) < 0.1


def learnt_worth(learnt: Similarity, names: Similarity) -> float:
    structure = scored(POOL, 0.9 * IS_RIGHT)
    evidence = {"neighbours": structure, "surroundings": structure}
    return float(measure_learnt(learnt, names, evidence, [POOL], Links.none(), seed=0)["worth"][0])


def test_translated_names_are_worth_what_they_tell_beyond_names() -> None:
    weak, good = scored(POOL, 0.3 * IS_RIGHT + NOISE), scored(POOL, 0.9 * IS_RIGHT)
    assert learnt_worth(good, weak) > 0.95
    assert learnt_worth(weak, good) == 0
    assert learnt_worth(good, good) == 0
    assert learnt_worth(weak, weak) == 0
    other_noise = scored(POOL, 0.6 * IS_RIGHT + NOISE[::-1])
    assert 0.1 < learnt_worth(other_noise, weak) < 0.95


def test_structure_is_sure_of_pairs_that_are_likely_and_well_ahead_both_ways() -> None:
    shape = 4, 5
    rows, columns = np.array([0, 0, 1, 1, 2, 3]), np.array([0, 4, 1, 4, 2, 2])
    neighbours = Similarity.from_entries(rows, columns, [0.9, 0.2, 0.4, 0.1, 0.9, 0.95], shape)
    surroundings = Similarity.from_entries(rows, columns, [0.8, 0.3, 0.8, 0.1, 0.8, 0.9], shape)
    assert sure_by_structure(neighbours, surroundings).pairs.tolist() == [[0, 0], [3, 2]]
    close = Similarity.from_entries(rows, columns, [0.8, 0.7, 0.8, 0.1, 0.8, 0.9], shape)
    assert sure_by_structure(neighbours, close).pairs.tolist() == [[3, 2]]
