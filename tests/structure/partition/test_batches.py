from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from largeea.graph import Links, Task
from largeea.structure.batch import Batch
from largeea.structure.partition import Assignment, Batches, PartitionConfig, partition

Twins = Callable[..., tuple[Task, Links, np.ndarray]]


def rows(array: np.ndarray) -> list[tuple[int, ...]]:
    return [tuple(row) for row in array.tolist()]


@pytest.mark.parametrize("overlap", [1, 2, 4])
def test_batches_hold_exactly_what_is_inside(twins: Twins, overlap: int) -> None:
    task, _, _ = twins()
    assignment = partition(task, PartitionConfig(method="vps", k=4, overlap=overlap), 0)
    batches = Batches(task, assignment)
    assert len(batches) == 4
    for number, batch in enumerate(batches):
        inside = set(np.flatnonzero(assignment.cover[number]).tolist())
        source = [e for e, part in enumerate(assignment.source.tolist()) if part in inside]
        target = [e for e, part in enumerate(assignment.target.tolist()) if part in inside]
        assert batch.source.tolist() == source
        assert batch.target.tolist() == target
        sources, targets = set(source), set(target)
        for triples, graph, members in (
            (batch.source_triples, task.source, sources),
            (batch.target_triples, task.target, targets),
        ):
            assert rows(triples) == [t for t in rows(graph.triples) if t[0] in members and t[2] in members]
        seeds = [pair for pair in rows(task.seeds.pairs) if pair[0] in sources and pair[1] in targets]
        assert rows(batch.seeds.pairs) == seeds


def test_seeds_keep_their_weights(twins: Twins) -> None:
    task, _, _ = twins()
    weight = np.linspace(0, 1, len(task.seeds), dtype=np.float32)
    task = Task(task.source, task.target, Links(task.seeds.pairs, weight))
    known = dict(zip(rows(task.seeds.pairs), weight.tolist(), strict=True))
    for batch in Batches(task, partition(task, PartitionConfig(k=4), 0)):
        assert batch.seeds.weight is not None
        assert [known[pair] for pair in rows(batch.seeds.pairs)] == batch.seeds.weight.tolist()


def test_batches_are_a_sequence(twins: Twins) -> None:
    task, _, _ = twins()
    batches = Batches(task, partition(task, PartitionConfig(method="vps", k=3), 0))
    np.testing.assert_array_equal(batches[-1].source, batches[2].source)
    assert [len(batch.source) for batch in batches[1:]] == [len(batches[1].source), len(batches[2].source)]
    with pytest.raises(IndexError):
        batches[3]


def test_an_empty_batch_is_still_a_batch(graph: Callable[..., object]) -> None:
    task = Task(graph(3, [(0, 1)]), graph(2), Links([(0, 0)]))  # type: ignore[arg-type]
    zeros = Assignment(np.zeros(3, np.int32), np.zeros(2, np.int32), 2)
    empty = Batches(task, zeros)[1]
    assert [len(empty.source), len(empty.target), len(empty.source_triples), len(empty.seeds)] == [0, 0, 0, 0]
    assert empty.source_triples.shape == (0, 3)


def test_local_numbers_point_back_to_the_same_things() -> None:
    batch = Batch(
        np.array([3, 7, 9]),
        np.array([2, 8]),
        np.array([(7, 5, 3), (9, 1, 9)]),
        np.array([(8, 0, 2)]),
        Links([(9, 2), (3, 8)], [0.5, 1.0]),
    )
    local = batch.local()
    assert local.source.tolist() == [0, 1, 2]
    assert rows(local.source_triples) == [(1, 5, 0), (2, 1, 2)]
    assert rows(local.target_triples) == [(1, 0, 0)]
    assert rows(local.seeds.pairs) == [(2, 0), (0, 1)]
    assert local.seeds.weight is batch.seeds.weight or local.seeds.weight.tolist() == [0.5, 1.0]
    np.testing.assert_array_equal(batch.source[local.seeds.source], batch.seeds.source)
    back = local.inside(batch)
    for name in ("source", "target", "source_triples", "target_triples"):
        np.testing.assert_array_equal(getattr(back, name), getattr(batch, name))
    assert rows(back.seeds.pairs) == rows(batch.seeds.pairs)


def test_batches_cannot_be_changed(twins: Twins) -> None:
    task, _, _ = twins()
    batch = Batches(task, partition(task, PartitionConfig(method="vps", k=2), 0))[0]
    with pytest.raises(ValueError, match="read-only"):
        batch.source[0] = 1
