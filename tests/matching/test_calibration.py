"""Confidence agrees with what seeds that were kept back show."""

from __future__ import annotations

import numpy as np
import pytest

from largeea import pipeline
from largeea.api import given_inputs
from largeea.config import load
from largeea.datasets.demo import demo_pair
from largeea.experiments.bench import split
from largeea.graph import Links
from largeea.matching.calibration import (
    MIN_SEEDS,
    MOST,
    SHARE,
    calibrated,
    seeds_to_check_with,
    seeds_to_learn_from,
)
from largeea.runs import Run
from largeea.similarity import Similarity


def links(count: int) -> Links:
    return Links(np.column_stack([np.arange(count), np.arange(count)]))


def held_out(count: int, seed: int = 0) -> tuple[Links, Links]:
    return seeds_to_learn_from(links(count), seed), seeds_to_check_with(links(count), seed)


def test_few_seeds_are_all_learnt_from() -> None:
    known, check = held_out(MIN_SEEDS - 1)
    assert (len(known), len(check)) == (MIN_SEEDS - 1, 0)
    known, check = held_out(MIN_SEEDS)
    assert len(check) == SHARE * MIN_SEEDS


def test_seeds_are_split_and_none_is_lost() -> None:
    known, check = held_out(5000)
    assert len(check) == MOST
    assert sorted([*known.source, *check.source]) == list(range(5000))
    assert held_out(5000)[1].source.tolist() == check.source.tolist()
    assert held_out(5000, 1)[1].source.tolist() != check.source.tolist()


def test_weights_stay_with_their_seeds() -> None:
    seeds = Links(links(200).pairs, np.arange(200) / 200)
    for part in (seeds_to_learn_from(seeds, 0), seeds_to_check_with(seeds, 0)):
        assert part.weight is not None
        np.testing.assert_allclose(part.weight, part.source / 200, rtol=1e-6)


def one_candidate_each(chance: np.ndarray) -> Similarity:
    size = len(chance)
    return Similarity.from_entries(np.arange(size), np.arange(size), chance, (size, size))


@pytest.mark.parametrize(("said", "right"), [(0.97, 0.7), (0.6, 0.95), (1.0, 0.8)])
def test_too_sure_and_too_modest_are_mended(said: float, right: float) -> None:
    """All say the same; the share that is right becomes what they say."""
    truth = np.arange(400)
    wrong = np.random.default_rng(0).permutation(400)[: round(400 * (1 - right))]
    truth[wrong] = np.roll(truth[wrong], 1)
    mended = calibrated(
        one_candidate_each(np.full(400, said)), Links(np.column_stack([np.arange(400), truth]))
    )
    assert mended.scores.mean() == pytest.approx(right, abs=0.03)


def test_order_stays() -> None:
    chance = np.linspace(0.01, 1, 300)
    truth = np.random.default_rng(1).permutation(300)
    mended = calibrated(one_candidate_each(chance), Links(np.column_stack([np.arange(300), truth])))
    assert (np.diff(mended.scores) >= 0).all()
    assert mended.scores.max() < 0.2


def test_without_checks_nothing_changes() -> None:
    chances = one_candidate_each(np.full(5, 0.9))
    assert calibrated(chances, Links.none()) is chances


@pytest.mark.parametrize(
    "part",
    ["partition_graphs", "train_batches", "augment", "choose_anchors", "neighbour_evidence", "without_seeds"],
)
def test_nothing_that_learns_sees_the_seeds_to_check_with(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A structure model beside evidence included: what it is trained on would be no check."""
    pair = demo_pair(("en", "fr"), 0)
    seeds, _ = split(pair.links, 0.2, 0)
    check = seeds_to_check_with(seeds, 0)
    seen: list[Links] = []

    def spy(*arguments: object) -> None:
        seen.append([given for given in arguments if isinstance(given, Links)][-1])
        raise InterruptedError

    monkeypatch.setattr(pipeline, part, spy)
    structural = part in ("partition_graphs", "train_batches")
    settings = ("structure.model=propagation",) if structural or part == "augment" else ()
    without = ("augmentation",) if structural else None  # names may find them by themselves
    config, run = load(settings=settings, without=without), Run()
    with pytest.raises(InterruptedError):
        _ = pipeline.run_method(given_inputs(run, pair.source, pair.target, seeds), config, run).alignment
    assert len(check)
    assert len(seen[0]) == len(seeds) - len(check)
    assert not np.isin(seen[0].source, check.source).any()
