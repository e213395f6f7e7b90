from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from largeea.graph import KnowledgeGraph, Links, Task
from largeea.structure.partition import PartitionConfig, partition
from largeea.structure.partition.merged import merged, merged_vertices

Twins = Callable[..., tuple[Task, Links, np.ndarray]]


def test_linked_entities_become_one_vertex() -> None:
    vertex = merged_vertices(Links([(0, 1), (2, 1), (1, 0)]), 4, 3)
    groups = {tuple(np.flatnonzero(vertex == number).tolist()) for number in range(vertex.max() + 1)}
    assert groups == {(0, 2, 5), (1, 4), (3,), (6,)}


def test_seeds_always_meet_and_batches_are_balanced(twins: Twins) -> None:
    task, test, _ = twins(communities=5, size=60)
    found = partition(task, PartitionConfig(method="merged", k=5), 0)
    source, target = found.source, found.target
    assert (source[task.seeds.source] == target[task.seeds.target]).all()
    assert (source[test.source] == target[test.target]).mean() > 0.95
    assert np.bincount(np.append(source, target)).max() <= 1.05 * len(source) * 2 / 5


def test_few_seeds_still_hold_the_graphs_together(twins: Twins) -> None:
    """Without the weight on edges at seeds, METIS cuts the source from the target."""
    task, test, _ = twins(communities=8, size=100, train=0.05, inside=0.8)
    source, target = merged(task, 8, PartitionConfig(), 0)
    assert (source[test.source] == target[test.target]).mean() > 0.9


def test_it_has_no_direction(twins: Twins) -> None:
    """Both directions see the same merged graph, so they agree as far as METIS's own randomness goes."""
    task, test, _ = twins(communities=5, size=60)
    back = Task(task.target, task.source, task.seeds.reversed())
    source, target = merged(task, 5, PartitionConfig(), 0)
    back_target, back_source = merged(back, 5, PartitionConfig(), 0)
    shares = [
        (a[test.source] == b[test.target]).mean() for a, b in ((source, target), (back_source, back_target))
    ]
    assert shares[0] == pytest.approx(shares[1], abs=0.03)


def test_an_entity_without_triples_goes_with_its_seed(graph: Callable[..., KnowledgeGraph]) -> None:
    clique = [(a, b) for c in (0, 10) for a in range(c, c + 10) for b in range(a, c + 10)]
    task = Task(graph(21, clique), graph(20, clique), Links([(20, 3), (1, 1), (11, 11), (5, 5), (15, 15)]))
    source, target = merged(task, 2, PartitionConfig(), 0)
    assert source[20] == target[3]
    assert (source[:20] == target).all()
