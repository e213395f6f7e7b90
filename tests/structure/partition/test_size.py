"""How many mini-batches there are, and what fits into memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from largeea.config import StructureConfig
from largeea.errors import ResourceError
from largeea.execution import Execution, executing
from largeea.graph import Links, Task
from largeea.structure.models.training_memory import COSTS, bytes_per_entity
from largeea.structure.partition import PartitionConfig, partition, size
from largeea.structure.partition.size import (
    automatic_k,
    batches_at_once,
    check_memory,
    memory_per_batch,
    smallest_k,
)

Twins = Callable[..., tuple[Task, Links, np.ndarray]]


@pytest.mark.parametrize(
    ("a_side", "k"), [(15_000, 5), (100_000, 10), (1_000_000, 20), (10_000_000, 40), (100, 1), (0, 1)]
)
def test_k_grows_with_the_size(a_side: int, k: int) -> None:
    assert automatic_k(2 * a_side) == k


def test_k_never_falls_as_the_graphs_grow() -> None:
    ks = [automatic_k(size) for size in range(0, 3_000_000, 10_007)]
    assert ks == sorted(ks)


def test_automatic_k_is_no_larger_than_the_seeds_allow(twins: Twins) -> None:
    task, _, _ = twins(communities=5, size=1000, train=0.0004)
    assert automatic_k(task.source.size * 2) > len(task.seeds) == partition(task, PartitionConfig(), 0).k == 2


@pytest.mark.parametrize("model", [*COSTS, "of another package"])
@pytest.mark.parametrize("overlap", [1, 2, 5])
@pytest.mark.parametrize("dimension", [0, 400])
def test_the_smallest_k_just_fits(model: str, overlap: int, dimension: int) -> None:
    memory, kind = 200 * 10**6, (overlap, dimension, model)
    k = smallest_k(30_000, memory, *kind)
    assert memory_per_batch(30_000, k, *kind) <= memory < memory_per_batch(30_000, k - 1, *kind)
    assert smallest_k(30_000, memory_per_batch(30_000, 1, *kind), *kind) == 1


def test_memory_grows_with_the_dimension() -> None:
    assert bytes_per_entity("rrea") == bytes_per_entity("rrea", 100) < bytes_per_entity("rrea", 200)


def test_costs_know_the_models_own_dimensions() -> None:
    from largeea.structure.models import propagation

    assert COSTS["propagation"].dimension == propagation.DIMENSION
    pytest.importorskip("torch", reason="networks need the extra structure with torch")
    from largeea.structure.models import gcn_align, rrea

    assert COSTS["gcn-align"].dimension == gcn_align.RECIPE.dimension
    assert COSTS["rrea"].dimension == rrea.RECIPE.dimension


@pytest.mark.parametrize(
    ("k", "overlap", "message"),
    [
        (2, 1, r"K = 2: .* about 1,000 entities needs about 40 MB .* limit is 16 MB; .* 5 or more"),
        (4, 2, r"K = 4: .* about 1,000 entities .* 10 or more"),
        (1, 1, r"K = 1: .* about 2,000 entities needs about 80 MB .* 5 or more"),
    ],
)
def test_batches_too_large_for_the_memory_limit_are_refused(k: int, overlap: int, message: str) -> None:
    rrea = StructureConfig(model="rrea")
    with executing(Execution(memory="16MB", device="cpu")):
        with pytest.raises(ResourceError, match=message):
            check_memory(2000, k, overlap, rrea)
        check_memory(2000, 5 * overlap, overlap, rrea)
    with executing(Execution(memory="1GB", device="cpu")):
        check_memory(2000, k, overlap, rrea)


def test_as_many_batches_at_once_as_threads_and_memory_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size, "resident_bytes", lambda: 10**9)
    how, needed = StructureConfig(model="rrea"), memory_per_batch(30_000, 5)

    def at_once(room: int, threads: int, settings: StructureConfig = how, k: int = 5) -> int:
        with executing(Execution(device="cpu", memory=10**9 + room, threads=threads)):
            return batches_at_once(30_000, k, 1, settings)

    assert at_once(100 * needed, 4) == 4
    assert at_once(100 * needed, 16) == 5
    assert at_once(2 * 3 * needed, 16) == 3
    assert at_once(needed, 16) == 1
    assert at_once(100 * needed, 4, StructureConfig(model="of another package")) == 1
