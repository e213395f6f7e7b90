"""What every structure model promises, checked on every registered one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.graph import Links
from largeea.structure.batch import Batch
from largeea.structure.models import MODELS, Embeddings, StructureConfig, load_model

NETWORKS = ["gcn-align", "rrea"]
NAMES = [*NETWORKS, "propagation"]
EPOCHS = 40


def test_every_model_is_covered() -> None:
    assert set(NAMES) == set(MODELS.members())


@pytest.fixture(autouse=True)
def on_one_thread() -> Iterator[None]:
    with executing(Execution(device="cpu", threads=1)):
        yield


def fit(name: str, batch: Batch, seed: int = 0, **settings: Any) -> Embeddings:
    return load_model(name).fit(batch, StructureConfig(**{"epochs": EPOCHS} | settings), seed)


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    if request.param in NETWORKS:
        pytest.importorskip("torch", reason="networks need the extra structure with torch")
    return str(request.param)


def permuted_copy(entities: int = 300, train: float = 0.2, seed: int = 0) -> tuple[Batch, Links]:
    """A random graph under global ids with gaps, its copy under other ids, and the pairs to find."""
    random = np.random.default_rng(seed)
    triples = np.column_stack(
        [random.integers(0, entities, 5 * entities), random.integers(0, 8, 5 * entities),
         random.integers(0, entities, 5 * entities)]
    )  # fmt: skip
    copy, relations = random.permutation(entities), random.permutation(8)
    source, target = 2 * np.arange(entities) + 5, 3 * np.arange(entities) + 1
    head, relation, tail = triples.T
    links = Links(np.column_stack([source, target[copy]]))
    known = random.permutation(entities) < train * entities
    batch = Batch(
        source,
        target,
        np.column_stack([source[head], relation, source[tail]]),
        np.column_stack([target[copy[head]], relations[relation], target[copy[tail]]]),
        links.take(known),
    )
    return batch, links.take(~known)


def hits(batch: Batch, embeddings: Embeddings, test: Links) -> float:
    source, target = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-9) for v in embeddings)
    best = batch.target[(source @ target.T).argmax(axis=1)]
    return float((best[np.searchsorted(batch.source, test.source)] == test.target).mean())


def test_a_permuted_copy_is_recovered(name: str) -> None:
    batch, test = permuted_copy()
    embeddings = fit(name, batch)
    assert hits(batch, embeddings, test) >= 0.95


@pytest.mark.parametrize("negatives", ["nearest", "uniform"])
def test_the_papers_loss_recovers_it_too(name: str, negatives: str) -> None:
    batch, test = permuted_copy()
    assert hits(batch, fit(name, batch, loss="triplet", negatives=negatives), test) >= 0.9


def test_vectors_are_of_the_batch(name: str) -> None:
    batch, _ = permuted_copy(60)
    source, target = fit(name, batch, epochs=1, dimension=100)
    assert source.dtype == target.dtype == np.float32
    assert source.shape == (60, source.shape[1])
    assert target.shape == source.shape
    wider, _ = fit(name, batch, epochs=1, dimension=1000)
    assert wider.shape[1] > source.shape[1]


def test_the_same_seed_gives_the_same_vectors(name: str) -> None:
    batch, _ = permuted_copy(60)
    once, again = (fit(name, batch, epochs=3).source for _ in range(2))
    np.testing.assert_array_equal(once, again)
    other = fit(name, batch, seed=1, epochs=3).source
    assert not np.allclose(once, other)


def test_the_number_of_threads_does_not_change_the_vectors(name: str) -> None:
    batch, _ = permuted_copy(5000)
    found = []
    for threads in (1, 3):
        with executing(Execution(device="cpu", threads=threads)):
            found.append(fit(name, batch, epochs=2))
    for side in (0, 1):
        np.testing.assert_array_equal(found[0][side], found[1][side])


def test_relations_of_one_triple_and_lonely_entities(name: str) -> None:
    batch, test = permuted_copy()
    lonely = np.append(batch.source, 9999), np.append(batch.target, [8888, 9999])
    extra = [np.append(t, [[e[0], 700, e[1]]], axis=0) for t, e in (
        (batch.source_triples, batch.source), (batch.target_triples, batch.target)
    )]  # fmt: skip
    awkward = Batch(*lonely, *extra, batch.seeds)
    embeddings = fit(name, awkward)
    assert np.isfinite(embeddings.source).all()
    assert np.isfinite(embeddings.target).all()
    assert hits(awkward, embeddings, test) >= 0.9


@pytest.mark.parametrize("loss", ["logsumexp", "triplet"])
def test_one_seed_and_no_triples(name: str, loss: str) -> None:
    none = np.empty((0, 3), np.int32)
    batch = Batch([3, 5], [1, 2], none, none, Links([(3, 2)]))
    embeddings = fit(name, batch, epochs=3, loss=loss)
    assert np.isfinite(embeddings.source).all()
    single = Batch([3], [1], none, none, Links([(3, 1)]))
    assert np.isfinite(fit(name, single, epochs=3, loss=loss).target).all()


def test_no_seeds_are_refused(name: str) -> None:
    batch, _ = permuted_copy(60, train=0)
    with pytest.raises(UsageError, match="data augmentation"):
        fit(name, batch)


@pytest.mark.parametrize("name", NETWORKS, indirect=True)
def test_a_missing_device_is_named(name: str) -> None:
    batch, _ = permuted_copy(60)
    with executing(Execution(device="cuda:99")), pytest.raises(UsageError, match="cuda:99"):
        fit(name, batch)
