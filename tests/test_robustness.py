"""Data spoilt on purpose: the answer falls silent or says that it is not sure, and is never surely wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from largeea.api import align
from largeea.datasets.demo import demo_pair
from largeea.errors import InputError
from largeea.evaluation import evaluate
from largeea.experiments.bench import split
from largeea.experiments.datasets import twin
from largeea.graph import Attributes, KnowledgeGraph, Links, Pair, strings
from largeea.matching.alignment import Alignment
from largeea.progress import listening


class Ear:
    """Hears warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def step(self, title: str) -> AbstractContextManager[None]:
        return nullcontext()

    def advance(self, done: int, total: int) -> None:
        pass

    def note(self, message: str) -> None:
        pass

    def warn(self, message: str) -> None:
        self.warnings.append(message)


@pytest.fixture
def ear() -> Iterator[Ear]:
    listener = Ear()
    with listening(listener):
        yield listener


@pytest.fixture(scope="module", params=["demo", "twin"])
def pair(request: pytest.FixtureRequest) -> Pair:
    return demo_pair(("en", "fr"), 0) if request.param == "demo" else twin(1500).load()


@pytest.fixture(scope="module")
def sound(pair: Pair) -> Alignment:
    return align(pair.source, pair.target)


def nameless(graph: KnowledgeGraph) -> KnowledgeGraph:
    return replace(graph, names=strings([None] * graph.size))


def spoilt(seeds: Links) -> Links:
    """Three of ten seeds lead to another one's target."""
    pairs = seeds.pairs.copy()
    wrong = np.random.default_rng(0).permutation(len(seeds))[: round(0.3 * len(seeds))]
    pairs[wrong, 1] = np.roll(pairs[wrong, 1], 1)
    return Links(pairs)


def never_surely_wrong(answer: Alignment, test: Links, seeds: Links, ear: Ear) -> bool:
    """Accepted pairs are right as often as their confidence says, or there are none, with a warning."""
    if len(answer) == len(seeds):
        return bool(ear.warnings)
    found = answer.accepted & ~np.isin(answer.pairs[:, 0], seeds.source)
    precision = evaluate(answer, test, seeds)["linked_ends"]["precision"]
    return precision >= answer.confidence[found].mean() - 0.1


def test_sound_data_is_aligned(pair: Pair, sound: Alignment) -> None:
    found = evaluate(sound, pair.links)["linked_ends"]
    assert found["precision"] > 0.97
    assert found["recall"] > 0.85


def test_shuffled_names(pair: Pair, sound: Alignment, ear: Ear) -> None:
    order = np.random.default_rng(1).permutation(pair.source.size)
    mixed_up = replace(pair.source, names=pair.source.names.take(pa.array(order)))
    answer = align(mixed_up, pair.target)
    assert answer.confidence.mean() < sound.confidence.mean()
    assert any("structure says nothing" in warning for warning in ear.warnings)


def test_empty_names_and_no_literals_without_seeds(pair: Pair) -> None:
    bare = replace(nameless(pair.source), attributes=Attributes.none())
    with pytest.raises(InputError, match="no entity of the source graph has a name"):
        align(bare, pair.target)


def test_empty_names_without_seeds(pair: Pair, ear: Ear) -> None:
    """Literals are all there is to begin with."""
    answer = align(nameless(pair.source), pair.target)
    assert never_surely_wrong(answer, pair.links, Links.none(), ear)


@pytest.mark.parametrize("train", [0.1, 0.3])
def test_empty_names_with_seeds(pair: Pair, sound: Alignment, ear: Ear, train: float) -> None:
    seeds, test = split(pair.links, train, 0)
    answer = align(nameless(pair.source), pair.target, seeds=seeds)
    assert never_surely_wrong(answer, test, seeds, ear)
    assert answer.confidence.mean() < sound.confidence.mean()


@pytest.mark.parametrize("named", [True, False])
def test_wrong_seeds(pair: Pair, ear: Ear, named: bool) -> None:
    seeds, test = split(pair.links, 0.2, 0)
    source = pair.source if named else nameless(pair.source)
    trusted = align(source, pair.target, seeds=seeds)
    ear.warnings.clear()
    answer = align(source, pair.target, seeds=spoilt(seeds))
    assert never_surely_wrong(answer, test, seeds, ear)
    assert answer.confidence.sum() < 1.02 * trusted.confidence.sum(), "expected number of right pairs"


def test_seeds_do_no_harm(pair: Pair, sound: Alignment) -> None:
    seeds, test = split(pair.links, 0.2, 0)
    helped = evaluate(align(pair.source, pair.target, seeds=seeds), test, seeds)["linked_ends"]
    assert helped["f1"] >= evaluate(sound, test, seeds)["linked_ends"]["f1"] - 0.005
