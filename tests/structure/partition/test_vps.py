from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from largeea.config import PartitionConfig
from largeea.graph import KnowledgeGraph, Links, Task
from largeea.structure.partition.vps import vps

Twins = Callable[..., tuple[Task, Links, np.ndarray]]


@pytest.mark.parametrize("k", [2, 3, 7])
def test_seeds_and_entities_are_dealt_equally_and_seeds_meet(twins: Twins, k: int) -> None:
    task, _, _ = twins()
    source, target = vps(task, k, PartitionConfig(), 0)
    assert (source[task.seeds.source] == target[task.seeds.target]).all()
    for counts in (source[task.seeds.source], source, target):
        assert np.ptp(np.bincount(counts, minlength=k)) <= 1


def test_other_pairs_meet_by_chance_alone(twins: Twins) -> None:
    task, test, _ = twins(communities=4, size=500)
    source, target = vps(task, 5, PartitionConfig(), 0)
    assert (source[test.source] == target[test.target]).mean() == pytest.approx(0.2, abs=0.03)


def test_the_seed_decides(twins: Twins) -> None:
    task, _, _ = twins()
    assert (vps(task, 4, PartitionConfig(), 1)[0] != vps(task, 4, PartitionConfig(), 2)[0]).any()


def test_fewer_seeds_than_parts(graph: Callable[..., KnowledgeGraph]) -> None:
    task = Task(graph(10), graph(10), Links([(1, 2), (3, 4)]))
    source, target = vps(task, 5, PartitionConfig(), 0)
    assert source[1] == target[2] != source[3] == target[4]
    assert np.bincount(source).tolist() == np.bincount(target).tolist() == [2] * 5
