"""The front door: what is asked for, what is refused, and the awkward inputs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from largeea.config import load
from largeea.errors import UsageError
from largeea.experiments.bench import split
from largeea.formats import read
from largeea.graph import KnowledgeGraph, Links, Pair, Task
from largeea.structure.partition import Assignment, PartitionConfig, partition
from largeea.structure.partition.quality import report

Twins = Callable[..., tuple[Task, Links, np.ndarray]]
Graph = Callable[..., KnowledgeGraph]


@pytest.mark.parametrize("wrong", ["k=-1", "q=0", "overlap=-1", "virtual_weight=0", "balance=-0.1"])
def test_settings_out_of_range(wrong: str) -> None:
    with pytest.raises(UsageError, match=wrong.replace("=", " = ")):
        load(settings=(f"partition.{wrong}",))


def test_unknown_method_names_the_known(twins: Twins) -> None:
    with pytest.raises(
        UsageError, match="unknown partition method 'metis'; there are: merged, metis-cps, none, vps"
    ):
        partition(twins()[0], PartitionConfig(method="metis"), 0)


def test_more_batches_than_entities(graph: Graph) -> None:
    task = Task(graph(5), graph(3), Links([(0, 0)]))
    with pytest.raises(UsageError, match="k = 4 batches from 3 entities: give at most 3"):
        partition(task, PartitionConfig(k=4), 0)


def test_more_overlap_than_batches(twins: Twins) -> None:
    with pytest.raises(UsageError, match="overlap = 5 of only 4 batches"):
        partition(twins()[0], PartitionConfig(k=4, overlap=5), 0)


@pytest.mark.parametrize("method", ["metis-cps", "merged", "vps"])
def test_no_seeds_names_the_way_out(twins: Twins, method: str) -> None:
    task, _, _ = twins()
    with pytest.raises(UsageError, match=r"data augmentation \(DA\)"):
        partition(Task(task.source, task.target), PartitionConfig(method=method, k=4), 0)


def test_overlap_puts_more_pairs_together(twins: Twins) -> None:
    task, test, _ = twins(communities=6)
    shares = [
        report(task, partition(task, PartitionConfig(method="vps", k=6, overlap=overlap), 0), "vps", 0, test)
        for overlap in (1, 2, 6)
    ]
    met = [found["same_batch"]["test"] for found in shares]
    assert met[0] < met[1] < met[2] == 1
    assert shares[2]["r_ec"] == {"source": 0, "target": 0}


@pytest.mark.parametrize("method", ["metis-cps", "merged"])
def test_hints_place_what_structure_cannot(twins: Twins, graph: Graph, method: str) -> None:
    """Entities without triples and seeds, whose names tell who they are."""
    task, test, _ = twins()
    size = task.source.size
    lonely = [
        KnowledgeGraph(bigger.entities, bigger.names, side.relations, side.triples)
        for side, bigger in ((task.source, graph(size + 8)), (task.target, graph(size)))
    ]
    hints = Links(np.column_stack([np.arange(size, size + 8), test.target[:8]]))
    found = partition(Task(*lonely, task.seeds), PartitionConfig(method=method, k=4), 0, hints)
    np.testing.assert_array_equal(found.source[size:], found.target[test.target[:8]])


def write_pair(folder: Path, task: Task, order: np.random.Generator) -> Path:
    folder.mkdir()
    for side, graph in enumerate((task.source, task.target), 1):
        iris = graph.entities.to_pylist()
        lines = [f"{iris[h]}\turn:r\t{iris[t]}\n" for h, _, t in graph.triples.tolist()]
        (folder / f"rel_triples_{side}").write_text("".join(order.permutation(lines)))
    iris = task.source.entities.to_pylist(), task.target.entities.to_pylist()
    lines = [f"{iris[0][s]}\t{iris[1][t]}\n" for s, t in task.seeds.pairs.tolist()]
    (folder / "ent_links").write_text("".join(order.permutation(lines)))
    return folder


@pytest.mark.parametrize("method", ["metis-cps", "merged", "vps"])
def test_the_order_of_input_lines_does_not_matter(tmp_path: Path, twins: Twins, method: str) -> None:
    task, _, _ = twins()
    found: list[Assignment] = []
    for number in range(2):
        pair = read(write_pair(tmp_path / str(number), task, np.random.default_rng(number)))
        assert isinstance(pair, Pair)
        shuffled = pair.links.take(np.random.default_rng(number).permutation(len(pair.links)))
        found.append(
            partition(Task(pair.source, pair.target, shuffled), PartitionConfig(method=method, k=4), 0)
        )
    np.testing.assert_array_equal(found[0].source, found[1].source)
    np.testing.assert_array_equal(found[0].target, found[1].target)


THRESHOLDS = {"ids15k_en_de_v1": 0.88, "dbp15k_fr_en": 0.93}


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("name", THRESHOLDS)
def test_real_pairs_meet(shared_data: Path, name: str, reverse: bool) -> None:
    pair = read(shared_data / name)
    assert isinstance(pair, Pair)
    pair = pair.reversed() if reverse else pair
    for method, floor in (("metis-cps", THRESHOLDS[name]), ("merged", THRESHOLDS[name]), ("vps", 0.15)):
        train, test = split(pair.links, 0.2, 0)
        task = Task(pair.source, pair.target, train)
        assignment = partition(task, PartitionConfig(method=method, k=5), 0)
        same = report(task, assignment, method, 0, test)["same_batch"]
        assert same["test"] >= floor, method
        assert same["train"] >= 0.99, method
