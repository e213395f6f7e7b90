"""Confidence agrees with what seeds that were kept back show."""

from __future__ import annotations

import numpy as np
import pytest

from largeea import pipeline
from largeea.calibration import FEWEST, MOST, calibrated, hold_out
from largeea.config import load
from largeea.datasets.demo import demo_pair
from largeea.experiments.bench import split
from largeea.graph import Links, Task
from largeea.runs import Run
from largeea.runs.artifacts import content_hash
from largeea.similarity import Similarity


def links(count: int) -> Links:
    return Links(np.column_stack([np.arange(count), np.arange(count)]))


def test_few_seeds_are_all_learnt_from() -> None:
    known, check = hold_out(links(FEWEST - 1), 0)
    assert (len(known), len(check)) == (FEWEST - 1, 0)


def test_seeds_are_split_and_none_is_lost() -> None:
    known, check = hold_out(links(5000), 0)
    assert len(check) == MOST
    assert sorted([*known.source, *check.source]) == list(range(5000))
    assert hold_out(links(5000), 0)[1].source.tolist() == check.source.tolist()
    assert hold_out(links(5000), 1)[1].source.tolist() != check.source.tolist()


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
    "part", ["structure.channel.structure_channel", "pipeline.augment", "evidence.SelfTraining"]
)
def test_nothing_that_learns_sees_the_seeds_to_check_with(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A structure model beside evidence included: what it is trained on would be no check."""
    pair = demo_pair(("en", "fr"), 0)
    seeds, _ = split(pair.links, 0.2, 0)
    task = Task(pair.source, pair.target, seeds)
    _, check = hold_out(seeds, 0)
    seen: list[Links] = []

    def spy(given: Task, more: object, *_: object, **__: object) -> None:
        seen.extend([given.seeds, *([more] if isinstance(more, Links) else [])])
        raise InterruptedError

    monkeypatch.setattr(f"largeea.{part}", spy)
    structural = part.startswith("structure")
    settings = () if part.startswith("evidence") else ("structure.model=propagation",)
    without = ("augmentation",) if structural else None  # names may find them by themselves
    with pytest.raises(InterruptedError):
        pipeline.run_stages(lambda: task, content_hash(task), load(settings=settings, without=without), Run())
    assert len(check)
    assert len(seen) == 1 + structural
    for learnt in seen:
        assert len(learnt)
        assert not np.isin(learnt.source, check.source).any()
