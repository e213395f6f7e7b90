"""What propagation promises beyond the contract of all models."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from largeea.evidence.sketches import sketch_dimension
from largeea.execution import Execution, executing
from largeea.graph import Links
from largeea.structure.batch import Batch
from largeea.structure.models import Embeddings, StructureConfig, load_model
from largeea.structure.models.propagation import DIMENSION
from largeea.structure.models.training_memory import bytes_per_entity

WIDTH = sketch_dimension()


def copies(entities: int, triples: int, seeds: int) -> Batch:
    """A random graph twice; its first entities are the seeds."""
    random = np.random.default_rng(0)
    graph = np.column_stack([random.integers(0, size, triples) for size in (entities, 9, entities)])
    everything, known = np.arange(entities), np.arange(seeds)
    return Batch(everything, everything, graph, graph, Links(np.column_stack([known, known])))


def fit(batch: Batch, **settings: object) -> Embeddings:
    return load_model("propagation").fit(batch, StructureConfig(**settings), 0)  # type: ignore[arg-type]


@pytest.mark.parametrize(("asked", "sketches"), [(1, 1), (WIDTH, 1), (WIDTH + 1, 2), (3 * WIDTH, 3)])
def test_dimensions_come_in_whole_sketches(asked: int, sketches: int) -> None:
    source, target = fit(copies(50, 200, 20), dimension=asked)
    assert source.shape == target.shape == (50, sketches * WIDTH)


def test_dimensions_left_open_are_the_models_choice() -> None:
    batch = copies(50, 200, 20)
    np.testing.assert_array_equal(fit(batch).source, fit(batch, dimension=DIMENSION).source)


def test_vectors_have_length_1_and_lonely_entities_none() -> None:
    batch = copies(50, 200, 20)
    lonely = Batch(np.arange(51), batch.target, batch.source_triples, batch.target_triples, batch.seeds)
    source, target = fit(lonely)
    np.testing.assert_allclose(np.linalg.norm(source[:50], axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(target, axis=1), 1, rtol=1e-5)
    assert not source[50].any()


def test_settings_of_training_change_nothing() -> None:
    batch = copies(50, 200, 20)
    with executing(Execution(device="cuda:99", threads=1)):
        other = fit(batch, epochs=3, loss="triplet", negatives="uniform")
    np.testing.assert_array_equal(fit(batch).source, other.source)


def test_relations_of_both_graphs_have_ids_of_their_own() -> None:
    """The same graph is recovered though its relations are numbered otherwise, with gaps."""
    batch = copies(50, 200, 20)
    renamed = batch.target_triples.copy()
    renamed[:, 1] = 40 - 3 * renamed[:, 1]
    source, target = fit(Batch(batch.source, batch.target, batch.source_triples, renamed, batch.seeds))
    assert ((source @ target.T).argmax(axis=1) == np.arange(50)).mean() >= 0.95


def test_trust_in_seeds_counts() -> None:
    batch = copies(50, 200, 20)
    unsure = Links(batch.seeds.pairs, np.linspace(0.1, 1, 20))
    weighted = Batch(batch.source, batch.target, batch.source_triples, batch.target_triples, unsure)
    assert not np.allclose(fit(batch).source, fit(weighted).source, atol=1e-3)


def test_memory_stays_within_the_plan() -> None:
    entities = 3000
    batch = copies(entities, 5 * entities, entities // 5)
    fit(batch)  # compiles what is compiled
    tracemalloc.start()
    try:
        source, target = fit(batch)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert source.nbytes + target.nbytes < peak < bytes_per_entity("propagation") * 2 * entities


def test_torch_is_not_needed() -> None:
    program = """
import sys
sys.modules["torch"] = None
import numpy as np
from largeea.config import PartitionConfig, StructureConfig
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.structure.channel import partition_graphs, train_batches
nodes = np.arange(20)
ring = np.column_stack([nodes, nodes % 4, (nodes + 1) % 20])
words = strings([f"urn:{i:02}" for i in range(20)]), strings([None] * 20), strings(["a", "b", "c", "d"])
graph = KnowledgeGraph(*words, ring)
seeds = Links(np.column_stack([nodes, nodes])[nodes % 5 > 0])
parts = partition_graphs(graph, graph, seeds, PartitionConfig(method="none"), 0)
scores = train_batches(graph, graph, seeds, parts, StructureConfig(model="propagation"), 0)
print((scores.best()[0] == nodes).mean())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) == 1
