"""The structure channel with models whose answer is known."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from largeea import progress
from largeea.errors import ResourceError, UsageError
from largeea.graph import KnowledgeGraph, Links, Task, strings
from largeea.structure import channel
from largeea.structure.batch import Batch
from largeea.structure.channel import structure_channel
from largeea.structure.models import Embeddings, TrainingOptions
from largeea.structure.partition import Assignment, PartitionOptions

SIZE = 60


def ring(order: np.ndarray) -> KnowledgeGraph:
    names = strings([f"urn:{at:03}" for at in range(SIZE)])
    triples = np.column_stack([order, np.zeros(SIZE, int), np.roll(order, -1)])
    return KnowledgeGraph(names, names, strings(["urn:r"]), triples)


COPY = np.random.default_rng(0).permutation(SIZE)
LINKS = Links(np.column_stack([np.arange(SIZE), COPY]))
SEEDS = LINKS.take(np.arange(SIZE) % 3 == 0)
TASK = Task(ring(np.arange(SIZE)), ring(COPY), SEEDS)


@dataclass
class Oracle:
    """Knows the answer, and can fail: entities get the angle of their place on the ring."""

    most_entities: int = 10**9
    error: Exception = field(default_factory=lambda: MemoryError("no room"))
    fitted: list[tuple[Batch, TrainingOptions]] = field(default_factory=list)
    unknown_source: tuple[int, ...] = ()
    unknown_target: tuple[int, ...] = ()

    def fit(self, batch: Batch, options: TrainingOptions) -> Embeddings:
        if len(batch.source) > self.most_entities:
            raise self.error
        self.fitted.append((batch, options))
        place = np.argsort(COPY)
        angles = (2 * np.pi * at / SIZE for at in (batch.source, place[batch.target]))
        source, target = (np.column_stack([np.cos(a), np.sin(a)]).astype(np.float32) for a in angles)
        source[np.isin(batch.source, self.unknown_source)] = 0
        target[np.isin(batch.target, self.unknown_target)] = 0
        return Embeddings(source, target)


@dataclass
class Ear:
    notes: list[str] = field(default_factory=list)

    def step(self, title: str) -> AbstractContextManager[None]:
        return nullcontext()

    def advance(self, done: int, total: int) -> None: ...

    def note(self, message: str) -> None:
        self.notes.append(message)


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Oracle:
    oracle = Oracle()
    monkeypatch.setattr(channel, "load_model", lambda name: oracle)
    return oracle


def run(k: int = 1, **options: Any) -> Any:
    overlap = options.pop("overlap", 1)
    return structure_channel(
        TASK, options.pop("seeds", SEEDS), partition_options=PartitionOptions(k=k, overlap=overlap), **options
    )


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_the_nearest_target_of_a_batch_is_the_best(oracle: Oracle, metric: str) -> None:
    found = run(metric=metric, top_k=3)
    assert found.shape == (SIZE, SIZE)
    assert found.floor == 0
    assert (np.diff(found.indptr) == 3).all()
    np.testing.assert_array_equal(found.best()[0], COPY)
    np.testing.assert_allclose(found.best()[1], 1, atol=1e-5)
    assert found.scores.min() > 0
    assert found.scores.max() <= 1 + 1e-6


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_an_entity_of_which_nothing_is_known_is_in_no_pair(oracle: Oracle, metric: str) -> None:
    oracle.unknown_source, oracle.unknown_target = (7,), (11,)
    found = run(metric=metric, top_k=SIZE)
    assert 7 not in found.rows
    assert 11 not in found.indices
    assert len(np.unique(found.rows)) == SIZE - 1


def test_the_manhattan_score_is_as_documented(oracle: Oracle) -> None:
    found = run(top_k=SIZE)
    step = 2 * np.pi / SIZE
    distance = 1 - np.cos(step) + np.sin(step)
    score = found.score_of(Links([(0, COPY[1])]))
    np.testing.assert_allclose(score, 1 - distance / (2 * np.sqrt(2)), rtol=1e-5)


def test_scores_stay_within_batches(oracle: Oracle) -> None:
    found = run(k=4)
    assert len(oracle.fitted) == 4
    mask = np.zeros((SIZE, SIZE), bool)
    for batch, _ in oracle.fitted:
        mask[np.ix_(batch.source, batch.target)] = True
    assert mask[found.rows, found.indices].all()
    assert len({options.seed for _, options in oracle.fitted}) == 4


def test_overlapping_batches_keep_a_pair_once(oracle: Oracle) -> None:
    found = run(k=4, overlap=2, top_k=5)
    assert sum(len(batch.source) for batch, _ in oracle.fitted) > SIZE
    assert np.diff(found.indptr).max() == 5
    assert (found.best()[0] == COPY).mean() >= (run(k=4).best()[0] == COPY).mean()


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory. Tried to allocate")])
def test_a_batch_too_large_for_memory_is_split(oracle: Oracle, error: Exception) -> None:
    oracle.most_entities, oracle.error = SIZE // 3, error
    ear = Ear()
    with progress.listening(ear):
        found = run()
    assert any("batch 1 of 1 does not fit into memory" in note for note in ear.notes)
    assert sum(len(batch.source) for batch, _ in oracle.fitted) == SIZE
    assert sum(len(batch.target) for batch, _ in oracle.fitted) == SIZE
    seeds = np.concatenate([batch.seeds.pairs for batch, _ in oracle.fitted])
    assert {tuple(pair) for pair in seeds} <= {tuple(pair) for pair in SEEDS.pairs}
    assert (found.best()[0] == COPY).mean() > 0.7


def test_what_cannot_be_split_is_named(oracle: Oracle) -> None:
    oracle.most_entities = 0
    with pytest.raises(ResourceError, match=r"batch 1 of 1.* cannot be split further"):
        run()


@pytest.mark.parametrize("error", [UsageError("bad option"), RuntimeError("shapes differ"), KeyError("x")])
def test_a_failing_batch_fails_the_run_with_its_number(oracle: Oracle, error: Exception) -> None:
    oracle.most_entities, oracle.error = 0, error
    with pytest.raises(type(error)) as caught:
        run(k=2)
    said = str(caught.value) + " ".join(getattr(caught.value, "__notes__", []))
    assert "batch 1 of 2" in said


def test_a_batch_without_seeds_is_told(oracle: Oracle) -> None:
    ear = Ear()
    with progress.listening(ear):
        found = run(k=3, seeds=SEEDS.take(np.arange(2)))
    assert len(oracle.fitted) < 3
    assert any("has no seeds" in note for note in ear.notes)
    assert len(found) > 0


def test_batches_that_share_no_seed_give_nothing(oracle: Oracle, monkeypatch: pytest.MonkeyPatch) -> None:
    apart = Assignment(np.zeros(SIZE, np.int32), np.ones(SIZE, np.int32), 2)
    monkeypatch.setattr(channel, "split_into_batches", lambda *_: apart)
    found = run(k=2)
    assert len(found) == len(oracle.fitted) == 0
    assert found.shape == (SIZE, SIZE)


class Cellar:
    """Keeps what jobs make, as a run folder does."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    def __call__(self, name: str, job: channel.Job) -> channel.Arrays:
        if name not in self.kept:
            self.kept[name] = job()
        return dict(self.kept[name])


def test_what_is_kept_is_not_done_again(oracle: Oracle) -> None:
    cellar = Cellar()
    whole = run(k=4, keep=cellar)
    assert list(cellar.kept) == [f"batch-{number}-of-4" for number in (1, 2, 3, 4)]
    seeds = [options.seed for _, options in oracle.fitted]
    oracle.fitted.clear()
    del cellar.kept["batch-3-of-4"]
    again = run(k=4, keep=cellar)
    assert [options.seed for _, options in oracle.fitted] == [seeds[2]]
    for column in ("indptr", "indices", "scores"):
        np.testing.assert_array_equal(getattr(again, column), getattr(whole, column))
        np.testing.assert_array_equal(getattr(run(k=4), column), getattr(whole, column))


def test_a_batch_leaves_its_vectors_and_its_block(oracle: Oracle) -> None:
    cellar = Cellar()
    found = run(k=2, keep=cellar)
    left, fitted = list(cellar.kept.values()), list(oracle.fitted)
    assert sum(len(made["scores"]) for made in left) == len(found)
    for made, (batch, _) in zip(left, fitted, strict=True):
        np.testing.assert_array_equal(made["0/source"], batch.source)
        np.testing.assert_array_equal(made["0/target_vectors"], oracle.fit(batch, TrainingOptions()).target)
        assert set(made["rows"]) == set(batch.source)


def test_a_batch_in_pieces_leaves_the_vectors_of_each(oracle: Oracle) -> None:
    oracle.most_entities = SIZE // 3
    cellar = Cellar()
    found = run(keep=cellar)
    (made,) = cellar.kept.values()
    pieces = [made[f"{piece}/source"] for piece in range(len(oracle.fitted))]
    np.testing.assert_array_equal(np.sort(np.concatenate(pieces)), np.arange(SIZE))
    assert len(made["rows"]) == len(found)


def test_no_seeds_are_refused() -> None:
    with pytest.raises(UsageError, match="data augmentation"):
        run(seeds=Links.none())


def test_wrong_options_are_refused() -> None:
    with pytest.raises(
        UsageError, match="unknown structure model 'magic'; there are: gcn-align, propagation, rrea"
    ):
        run(model="magic")
    with pytest.raises(UsageError, match="top_k = 0"):
        run(top_k=0)
    with pytest.raises(UsageError, match="loss = 'magic'"):
        TrainingOptions(loss="magic")
    with pytest.raises(UsageError, match="epochs = 0"):
        TrainingOptions(epochs=0)


def test_a_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in [name for name in sys.modules if name.startswith("largeea.structure.models.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r"'torch'.*pip install 'largeea\[structure\]'"):
        run()
