from __future__ import annotations

import json
from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pytest

from largeea.graph import KnowledgeGraph, Links, Task
from largeea.structure.partition import Assignment, Batches, PartitionConfig, partition
from largeea.structure.partition.picture import picture
from largeea.structure.partition.quality import batch_sizes, edge_cut, report, same_batch, seed_overlap

Twins = Callable[..., tuple[Task, Links, np.ndarray]]


@pytest.fixture
def task(graph: Callable[..., KnowledgeGraph]) -> Task:
    source = graph(4, [(0, 1), (1, 2), (2, 3), (0, 3)])
    return Task(source, graph(3, [(0, 1), (1, 1)]), Links([(0, 0), (1, 2)]))


ASSIGNMENT = Assignment(np.array([0, 0, 1, 1]), np.array([0, 1, 1]), 2)


def test_figures_counted_by_hand(task: Task) -> None:
    found = report(task, ASSIGNMENT, "by hand", 1.5, Links([(2, 1), (3, 0)]))
    assert found == {
        "method": "by hand",
        "k": 2,
        "r_ec": {"source": 0.5, "target": 0.5},
        "same_batch": {"total": 0.5, "train": 0.5, "test": 0.5},
        "sizes": {"source": [2, 2], "target": [1, 2], "seeds": [1, 0]},
        "seconds": 1.5,
    }
    assert json.loads(json.dumps(found)) == found


def test_without_test_links_there_is_no_test_figure(task: Task) -> None:
    same = report(task, ASSIGNMENT, "by hand", 0)["same_batch"]
    assert same == {"total": 0.5, "train": 0.5, "test": None}


def test_seed_overlap_has_source_parts_in_rows(task: Task) -> None:
    assert seed_overlap(ASSIGNMENT, task.seeds).tolist() == [[1, 1], [0, 0]]


def test_nothing_to_cut_and_nothing_to_meet(graph: Callable[..., KnowledgeGraph]) -> None:
    assert edge_cut(graph(4).triples, ASSIGNMENT.source, ASSIGNMENT) == 0
    assert same_batch(ASSIGNMENT, Links.none()) == 0


@pytest.mark.parametrize("overlap", [1, 2, 3])
def test_figures_agree_with_the_batches_themselves(twins: Twins, overlap: int) -> None:
    task, test, _ = twins()
    assignment = partition(task, PartitionConfig(method="vps", k=5, overlap=overlap), 0)
    batches = list(Batches(task, assignment))
    met = np.zeros(len(test), bool)
    kept: set[int] = set()
    key = task.source.triples.astype(np.int64) @ [task.source.size, 0, 1]
    for batch in batches:
        met |= np.isin(test.source, batch.source) & np.isin(test.target, batch.target)
        kept |= set((batch.source_triples.astype(np.int64) @ [task.source.size, 0, 1]).tolist())
    found = report(task, assignment, "vps", 0, test)
    assert found["same_batch"]["test"] == pytest.approx(met.mean())
    assert found["r_ec"]["source"] == pytest.approx(1 - np.isin(key, list(kept)).mean())
    assert found["sizes"]["source"] == [len(batch.source) for batch in batches]
    assert found["sizes"]["target"] == [len(batch.target) for batch in batches]
    assert found["sizes"]["seeds"] == [len(batch.seeds) for batch in batches]


@pytest.mark.parametrize("k", [1, 3, 30])
def test_the_picture_has_a_cell_for_each_pair_of_parts_and_three_bars_a_batch(twins: Twins, k: int) -> None:
    task, _, _ = twins()
    assignment = partition(task, PartitionConfig(k=k), 0)
    root = ElementTree.fromstring(picture(task, assignment))
    titles = [title.text or "" for title in root.iter("{http://www.w3.org/2000/svg}title")]
    assert sum(title.startswith("source part") for title in titles) == k * k
    assert sum(title.startswith("batch") for title in titles) == 3 * k
    sizes = batch_sizes(task, assignment)
    assert f"batch 0: {sizes['source'][0]} source" in titles
    count = seed_overlap(assignment, task.seeds)[0, 0]
    assert f"source part 0, target part 0: {count} seeds" in titles


def test_the_picture_of_nothing(graph: Callable[..., KnowledgeGraph]) -> None:
    empty = Task(graph(0), graph(0))
    ElementTree.fromstring(picture(empty, partition(empty, PartitionConfig(method="none"), 0)))
