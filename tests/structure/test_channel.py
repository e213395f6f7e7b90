"""The structure channel with models whose answer is known."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from largeea import progress
from largeea.config import PartitionConfig, StructureConfig
from largeea.errors import ResourceError, UsageError
from largeea.execution import Execution, executing
from largeea.execution.jobs import storing_jobs
from largeea.graph import Arrays, KnowledgeGraph, Links, Task, strings
from largeea.randomness import child_seed
from largeea.similarity import Similarity
from largeea.structure import batch_training
from largeea.structure.batch import Batch
from largeea.structure.channel import partition_graphs, train_batches
from largeea.structure.models import Embeddings
from largeea.structure.partition import Assignment, partition

SIZE = 60


def ring(order: np.ndarray) -> KnowledgeGraph:
    names = strings([f"urn:{at:03}" for at in range(SIZE)])
    triples = np.column_stack([order, np.zeros(SIZE, int), np.roll(order, -1)])
    return KnowledgeGraph(names, names, strings(["urn:r"]), triples)


COPY = np.random.default_rng(0).permutation(SIZE)
LINKS = Links(np.column_stack([np.arange(SIZE), COPY]))
SEEDS = LINKS.take(np.arange(SIZE) % 3 == 0)
SOURCE, TARGET = ring(np.arange(SIZE)), ring(COPY)


@dataclass
class Oracle:
    """Knows the answer, and can fail: entities get the angle of their place on the ring."""

    most_entities: int = 10**9
    error: Exception = field(default_factory=lambda: MemoryError("no room"))
    fitted: list[tuple[Batch, int]] = field(default_factory=list)
    unknown_source: tuple[int, ...] = ()
    unknown_target: tuple[int, ...] = ()

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        if len(batch.source) > self.most_entities:
            raise self.error
        self.fitted.append((batch, seed))
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

    def warn(self, message: str) -> None: ...


@pytest.fixture
def oracle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Oracle]:
    """On one thread, so that batches are fitted in their order."""
    oracle = Oracle()
    monkeypatch.setattr(batch_training, "load_model", lambda name: oracle)
    with executing(Execution(device="cpu", threads=1)):
        yield oracle


def run(k: int = 1, overlap: int = 1, seeds: Links = SEEDS, **settings: Any) -> Similarity:
    parts = partition_graphs(SOURCE, TARGET, seeds, PartitionConfig(k=k, overlap=overlap), 0)
    return train_batches(
        SOURCE, TARGET, seeds, parts, StructureConfig(**{"model": "rrea"} | settings), 0, "fingerprint"
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
    assert [seed for _, seed in oracle.fitted] == [child_seed(0, f"batch {n}") for n in (1, 2, 3, 4)]


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


def test_batches_that_share_no_seed_give_nothing(oracle: Oracle) -> None:
    apart = Assignment(np.zeros(SIZE, np.int32), np.ones(SIZE, np.int32), 2).to_arrays()
    found = train_batches(SOURCE, TARGET, SEEDS, apart, StructureConfig(model="rrea"), 0)
    assert len(found) == len(oracle.fitted) == 0
    assert found.shape == (SIZE, SIZE)


class Memory:
    """Keeps the results of jobs, as a run folder does."""

    def __init__(self) -> None:
        self.kept: dict[str, Arrays] = {}

    def load(self, job: str) -> Arrays | None:
        return self.kept.get(job)

    def save(self, job: str, result: Arrays) -> None:
        self.kept[job] = result


def test_stored_batches_are_not_trained_again(oracle: Oracle) -> None:
    memory = Memory()
    with storing_jobs(memory):
        whole = run(k=4)
    assert len(memory.kept) == 4
    seeds = [seed for _, seed in oracle.fitted]
    oracle.fitted.clear()
    del memory.kept[list(memory.kept)[2]]
    with storing_jobs(memory):
        again = run(k=4)
    assert [seed for _, seed in oracle.fitted] == [seeds[2]]
    for column in ("indptr", "indices", "scores"):
        np.testing.assert_array_equal(getattr(again, column), getattr(whole, column))
        np.testing.assert_array_equal(getattr(run(k=4), column), getattr(whole, column))


def test_a_job_returns_its_block(oracle: Oracle) -> None:
    memory = Memory()
    with storing_jobs(memory):
        found = run(k=2)
    blocks = list(memory.kept.values())
    assert sum(np.count_nonzero(block["ids"] >= 0) for block in blocks) == len(found)
    for block, (batch, _) in zip(blocks, oracle.fitted, strict=True):
        assert list(block) == ["rows", "ids", "scores"]
        assert set(block["rows"]) == set(batch.source)
        assert set(block["ids"].ravel()) <= {-1, *batch.target}


@pytest.mark.parametrize("overlap", [1, 2])
def test_the_parts_are_storable(overlap: int) -> None:
    config = PartitionConfig(k=4, overlap=overlap)
    parts = partition_graphs(SOURCE, TARGET, SEEDS, config, 7, "fingerprint")
    assert {name: (array.shape, array.dtype) for name, array in parts.items()} == {
        "source": ((SIZE,), np.int32), "target": ((SIZE,), np.int32), "cover": ((4, 4), np.bool_),
    }  # fmt: skip
    assignment = partition(Task(SOURCE, TARGET, SEEDS), config, child_seed(7, "partition"))
    np.testing.assert_array_equal(parts["source"], assignment.source)
    np.testing.assert_array_equal(parts["target"], assignment.target)
    assert Assignment.from_arrays(parts).overlap == overlap


def test_batches_too_large_for_the_memory_limit_are_refused(oracle: Oracle) -> None:
    with executing(Execution(memory="2MB", device="cpu")):
        with pytest.raises(ResourceError, match=r"K = 1: .* about 120 entities .* partition.k to 3 or more"):
            run(k=1)
        run(k=3)
    assert len(oracle.fitted) == 3


def test_no_seeds_are_refused() -> None:
    with pytest.raises(UsageError, match="data augmentation"):
        run(seeds=Links.none())


def test_an_unknown_model_is_refused() -> None:
    with pytest.raises(
        UsageError, match="unknown structure model 'magic'; there are: gcn-align, propagation, rrea"
    ):
        run(model="magic")


def test_a_missing_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith("largeea.structure.models.")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UsageError, match=r"'torch'.*pip install 'largeea\[structure\]'"):
        run()


def test_batches_that_are_trained_at_the_same_time_give_the_same(oracle: Oracle) -> None:
    one_by_one = run(k=4)
    with executing(Execution(device="cpu", threads=3)):
        together = run(k=4)
    for column in ("indptr", "indices", "scores"):
        np.testing.assert_array_equal(getattr(together, column), getattr(one_by_one, column))
