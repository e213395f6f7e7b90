"""A run that is killed in training resumes with the batch it was at."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

import largeea
from largeea.config import Config, StructureConfig
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.runs import store
from largeea.structure import batch_training
from largeea.structure.batch import Batch
from largeea.structure.models import MODELS, Embeddings

SIZE, K = 80, 4
EVERY = np.arange(SIZE)


def ring() -> KnowledgeGraph:
    iris = strings([f"urn:{at:03}" for at in EVERY])
    triples = np.column_stack([EVERY, np.zeros(SIZE, int), np.roll(EVERY, -1)])
    return KnowledgeGraph(iris, strings([None] * SIZE), strings(["urn:r"]), triples)


GRAPH = ring()
SEEDS = Links(np.column_stack([EVERY, EVERY])[::2])


@dataclass
class Interrupted:
    """Knows the answer, and is killed after so many batches."""

    batches: int
    fitted: list[tuple[StructureConfig, int]] = field(default_factory=list)

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        if len(self.fitted) == self.batches:
            raise KeyboardInterrupt
        self.fitted.append((settings, seed))
        return Embeddings(*(np.eye(SIZE, dtype=np.float32)[ids] for ids in (batch.source, batch.target)))


def align(model: Interrupted, folder: Path | None, patch: pytest.MonkeyPatch, **structure: object) -> object:
    patch.setattr(batch_training, "load_model", lambda name: model)
    patch.setitem(MODELS.built_in, "it", "nowhere:nothing")
    config = Config.model_validate({"structure": {"model": "it", **structure}, "partition": {"k": K}})
    return largeea.align(GRAPH, GRAPH, seeds=SEEDS, config=config, folder=folder).to_table()


def test_finished_batches_are_not_trained_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "JOBS_AFTER", 0.0)
    whole = Interrupted(K)
    expected = align(whole, None, monkeypatch)
    killed, killed_again, spared = Interrupted(2), Interrupted(1), Interrupted(K)
    for model in (killed, killed_again):
        with pytest.raises(KeyboardInterrupt):
            align(model, tmp_path / "run", monkeypatch)
    assert align(spared, tmp_path / "run", monkeypatch) == expected
    assert [killed.fitted, killed_again.fitted, spared.fitted] == [
        whole.fitted[:2], whole.fitted[2:3], whole.fitted[3:],
    ]  # fmt: skip


def test_another_training_is_not_mixed_with_the_kept_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(KeyboardInterrupt):
        align(Interrupted(2), tmp_path / "run", monkeypatch)
    other = Interrupted(K)
    align(other, tmp_path / "run", monkeypatch, loss="triplet", margin=3.0, dimension=7)
    assert len(other.fitted) == K
    assert {(how.loss, how.margin, how.dimension, how.learning_rate) for how, _ in other.fitted} == {
        ("triplet", 3.0, 7, 0)
    }
