from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.config import Config
from largeea.errors import UsageError
from largeea.experiments import bench as experiment
from largeea.experiments.bench import bench, split
from largeea.graph import KnowledgeGraph, Links, Pair, strings
from largeea.pipeline import Inputs
from largeea.runs.folder import Run

WORDS = ["anvil", "birch", "cobalt", "dune", "ember", "fjord", "grove", "harbour", "ibis", "juniper"]


def graph(prefix: str) -> KnowledgeGraph:
    entities = [f"urn:{prefix}{i}" for i in range(len(WORDS))]
    return KnowledgeGraph(strings(entities), strings(WORDS), strings(["urn:r"]), np.array([[0, 0, 1]]))


IDENTITY = Links(np.column_stack([np.arange(10), np.arange(10)]))
PAIR = Pair(
    graph("s"), graph("t"), IDENTITY, {"1": (IDENTITY.take(np.arange(3)), IDENTITY.take(np.arange(3, 10)))}
)


@settings(deadline=None, max_examples=50, database=None, derandomize=True)
@given(st.integers(0, 30), st.floats(0, 1), st.integers(0, 5))
def test_a_split_is_a_partition(size: int, train: float, seed: int) -> None:
    links = Links(np.column_stack([np.arange(size), np.arange(size)[::-1]]))
    seeds, test = split(links, train, seed)
    assert len(seeds) == round(train * size)
    together = np.concatenate([seeds.pairs, test.pairs])
    assert sorted(together.tolist()) == links.pairs.tolist()
    again = split(links, train, seed)
    assert [part.pairs.tolist() for part in again] == [seeds.pairs.tolist(), test.pairs.tolist()]


def test_another_seed_is_another_split() -> None:
    splits = {split(IDENTITY, 0.5, seed)[0].pairs.tobytes() for seed in range(20)}
    assert len(splits) > 15


def test_both_directions_have_the_same_split() -> None:
    links = Links(np.column_stack([np.arange(10), np.arange(10)[::-1]]))
    pair = Pair(PAIR.source, PAIR.target, links)
    seeds, test = split(pair.links, 0.3, 7)
    back_seeds, back_test = split(pair.reversed().links, 0.3, 7)
    assert back_seeds.reversed().canonical().pairs.tolist() == seeds.pairs.tolist()
    assert back_test.reversed().canonical().pairs.tolist() == test.pairs.tolist()


def test_figures_of_a_perfect_run() -> None:
    figures, outcome = bench(PAIR, "words", "default", Config(), 0.2)
    assert (figures["dataset"], figures["preset"], figures["train"], figures["seeds"]) == (
        "words",
        "default",
        0.2,
        2,
    )
    perfect = {"hits@1": 1.0, "hits@5": 1.0, "hits@10": 1.0, "mrr": 1.0}
    assert figures["protocols"] == {"open": perfect, "paper": perfect}
    for judged in ("alignment", "linked_ends"):
        assert figures[judged].pop("ece") < 0.1
        assert figures[judged] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert set(figures["seconds"]) >= {"total", "source", "target", "names", "fused"}
    assert set(figures["memory_mb"]) >= {
        *("source", "target", "given-seeds", "name-rows", "semantic", "strings", "names", "seeds"),
        *("edges", "anchors-1", "agreement", "neighbours", "candidates", "surroundings"),
        *("likelihood", "fused", "alignment"),
    }
    assert set(figures["memory_mb"]) == set(figures["seconds"]) - {"total"}
    hosts = [used["host"] for used in figures["memory_mb"].values()]
    assert 10 < min(hosts) <= max(hosts) <= figures["peak_rss_mb"]
    assert figures["peak_gpu_mb"] >= max(used["gpu"] for used in figures["memory_mb"].values())
    assert outcome.alignment.links.canonical().pairs.tolist() == IDENTITY.pairs.tolist()


def test_an_official_fold() -> None:
    figures, outcome = bench(PAIR, "words", "default", Config(), 0.2, fold="1")
    assert (figures["train"], figures["seeds"]) == ("fold 1", 3)
    assert outcome.given.value.pairs.tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize(("folds", "known"), [(PAIR.folds, "1"), ({}, "none")])
def test_an_unknown_fold_lists_the_known(folds: Any, known: str) -> None:
    pair = Pair(PAIR.source, PAIR.target, IDENTITY, folds)
    with pytest.raises(UsageError, match=rf"words has no official fold '7'; it has: {known}$"):
        bench(pair, "words", "default", Config(), 0.2, fold="7")


def test_a_run_keeps_its_stages(tmp_path: Path) -> None:
    first, _ = bench(PAIR, "words", "default", Config(), 0.2, run=Run(tmp_path / "run"))
    assert (tmp_path / "run" / "stages" / "fused.safetensors").is_file()
    with Run(tmp_path / "run") as run:
        again, _ = bench(PAIR, "words", "default", Config(), 0.2, run=run)
    assert again["memory_mb"] == first["memory_mb"]


def test_the_run_never_sees_the_test_links(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong test links change the figures and nothing else."""
    seen: list[Links] = []
    real = experiment.run_method

    def spy(inputs: Inputs, *rest: Any) -> Any:
        seen.append(Links(inputs.given.value["seeds"]))
        return real(inputs, *rest)

    monkeypatch.setattr(experiment, "run_method", spy)
    train, test = PAIR.folds["1"]
    answers = []
    for shift in (0, 1):
        wrong = Links(np.column_stack([test.source, np.roll(test.target, shift)]))
        pair = Pair(
            PAIR.source, PAIR.target, Links(np.concatenate([train.pairs, wrong.pairs])), {"1": (train, wrong)}
        )
        figures, outcome = bench(pair, "words", "default", Config(), 0, fold="1")
        answers.append(outcome.alignment)
        assert figures["alignment"]["recall"] == 1 - shift
    assert [seeds.pairs.tolist() for seeds in seen] == [train.pairs.tolist()] * 2
    for column in ("pairs", "confidence", "accepted"):
        np.testing.assert_array_equal(getattr(answers[0], column), getattr(answers[1], column))
