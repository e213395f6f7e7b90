"""What every partitioner promises, checked on every registered one."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import KnowledgeGraph, Links, Task, strings
from largeea.structure.partition import PARTITIONERS, Batches, PartitionConfig, partition

LEAST_TOGETHER = {"metis-cps": 0.95, "merged": 0.95, "vps": 0.1, "none": 1.0}
"""The share of unknown pairs of a graph and its permuted copy that each method must bring together."""


def test_every_partitioner_is_covered() -> None:
    assert set(LEAST_TOGETHER) == set(PARTITIONERS.members())


@pytest.fixture(params=sorted(LEAST_TOGETHER))
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def graph(size: int, edges: np.ndarray) -> KnowledgeGraph:
    ends = np.asarray(edges).reshape(-1, 2)
    triples = np.column_stack([ends[:, 0], np.zeros(len(ends), int), ends[:, 1]])
    iris = strings([f"urn:{number:04}" for number in range(size)])
    return KnowledgeGraph(iris, iris, strings(["urn:r"]), triples)


def permuted_copy(seed: int = 0, share: float = 0.25) -> tuple[Task, Links]:
    """Five communities of 40 on a ring, and the same graph under other ids."""
    random = np.random.default_rng(seed)
    head = random.integers(0, 200, 1000)
    edges = np.column_stack([head, head // 40 * 40 + random.integers(0, 40, 1000)])
    edges = np.concatenate([edges, [(at, (at + 40) % 200) for at in range(0, 200, 40)]])
    copy = random.permutation(200)
    links = Links(np.column_stack([np.arange(200), copy]))
    known = random.permutation(200) < share * 200
    return Task(graph(200, edges), graph(200, copy[edges]), links.take(known)), links.take(~known)


def check_is_partition(task: Task, method: str, k: int) -> None:
    assignment = partition(task, PartitionConfig(method=method, k=k), 0)
    assert assignment.k == (1 if method == "none" else k)
    assert assignment.source.dtype == assignment.target.dtype == np.int32
    batches = list(Batches(task, assignment))
    sources = np.concatenate([batch.source for batch in batches])
    targets = np.concatenate([batch.target for batch in batches])
    np.testing.assert_array_equal(np.sort(sources), np.arange(task.source.size))
    np.testing.assert_array_equal(np.sort(targets), np.arange(task.target.size))


def test_a_permuted_copy_is_recovered(method: str) -> None:
    task, test = permuted_copy()
    found = partition(task, PartitionConfig(method=method, k=5), 0)
    assert (found.source[test.source] == found.target[test.target]).mean() >= LEAST_TOGETHER[method]
    assert (found.source[task.seeds.source] == found.target[task.seeds.target]).mean() >= 0.99


@pytest.mark.parametrize("k", [1, 2, 5, 13])
def test_every_entity_is_in_exactly_one_batch(method: str, k: int) -> None:
    check_is_partition(permuted_copy()[0], method, k)


def test_the_same_seed_gives_the_same_batches(method: str) -> None:
    task, _ = permuted_copy()
    config = PartitionConfig(method=method, k=5)
    once = partition(task, config, 3)
    partition(permuted_copy(seed=9)[0], config, 3)
    again = partition(task, config, 3)
    np.testing.assert_array_equal(once.source, again.source)
    np.testing.assert_array_equal(once.target, again.target)


def test_the_order_of_seeds_and_triples_does_not_matter(method: str) -> None:
    task, _ = permuted_copy()
    random = np.random.default_rng(1)
    shuffled = Task(
        *(
            KnowledgeGraph(side.entities, side.names, side.relations, random.permutation(side.triples))
            for side in (task.source, task.target)
        ),
        task.seeds.take(random.permutation(len(task.seeds))),
    )
    one, other = (partition(given, PartitionConfig(method=method, k=5), 0) for given in (task, shuffled))
    np.testing.assert_array_equal(one.source, other.source)
    np.testing.assert_array_equal(one.target, other.target)


@pytest.mark.parametrize("share", [0.01, 0.02])
def test_fewer_seeds_than_batches(method: str, share: float) -> None:
    task, _ = permuted_copy(share=share)
    assert len(task.seeds) < 8
    check_is_partition(task, method, 8)


AWKWARD = {
    "empty relations": np.empty((0, 2), int),
    "a single triple": np.array([(0, 1)]),
    "only self-loops": np.array([(at, at) for at in range(60)]),
    "self-loops and multiple edges": np.array([(at, at // 2) for at in range(60)] * 3 + [(5, 5), (2, 1)]),
    "many small components": np.array([(at, at + 1) for at in range(0, 60, 2)]),
    "one hub": np.array([(0, at) for at in range(60)]),
    "two islands": np.array(
        [(at, (at + 1) % 30) for at in range(30)] + [(at, at - 1) for at in range(31, 60)]
    ),
}


@pytest.mark.parametrize("source", AWKWARD)
@pytest.mark.parametrize("target", AWKWARD)
def test_awkward_graphs(method: str, source: str, target: str, capfd: pytest.CaptureFixture[str]) -> None:
    seeds = Links([(at, (7 * at) % 60) for at in range(0, 60, 5)])
    check_is_partition(Task(graph(60, AWKWARD[source]), graph(60, AWKWARD[target]), seeds), method, 4)
    assert capfd.readouterr().out == "", "standard output belongs to results"


def test_entities_in_several_seeds(method: str) -> None:
    task, _ = permuted_copy()
    many = Links(np.concatenate([task.seeds.pairs, [(0, 1), (0, 2), (3, 1), (4, 1)]]))
    check_is_partition(Task(task.source, task.target, many), method, 5)


def test_sides_of_different_size(method: str) -> None:
    task, _ = permuted_copy()
    small = Task(task.source, graph(20, np.array([(0, 1), (2, 3)])), Links([(0, 0), (50, 1), (100, 19)]))
    check_is_partition(small, method, 5)
