"""Mini-batch generation: both graphs are split into K pairs of parts so that equivalent entities meet.

>>> assignment = partition(task, PartitionConfig(k=5), seed=0)
>>> for batch in Batches(task, assignment): ...
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from largeea.config import PartitionConfig
from largeea.errors import UsageError
from largeea.graph import Arrays, Int32, KnowledgeGraph, Links, Task
from largeea.plugins import Registry
from largeea.randomness import child_seed
from largeea.structure.partition.batches import Batches
from largeea.structure.partition.overlap import with_overlap
from largeea.structure.partition.parts import Assignment, place_unplaced
from largeea.structure.partition.size import chosen_k

__all__ = [
    "PARTITIONERS",
    "Assignment",
    "Batches",
    "PartitionConfig",
    "Partitioner",
    "partition",
    "partition_graphs",
]

PARTITIONERS = Registry(
    "partition method",
    "largeea.partitioners",
    {
        "metis-cps": "largeea.structure.partition.metis_cps:metis_cps",
        "merged": "largeea.structure.partition.merged:merged",
        "vps": "largeea.structure.partition.vps:vps",
        "none": "largeea.structure.partition:undivided",
    },
)
"""Every partition method by name; a member is a `Partitioner`."""


class Partitioner(Protocol):
    """Splits a task with seeds into k >= 2 pairs of parts."""

    def __call__(self, task: Task, k: int, config: PartitionConfig, seed: int, /) -> tuple[Int32, Int32]:
        """Part of each source entity `[n_s]` and of each target entity `[n_t]`; -1 if any part would do."""


def partition(task: Task, config: PartitionConfig, seed: int, hints: Links | None = None) -> Assignment:
    """Put every entity of both graphs into one of K mini-batches.

    `hints` (best name candidates, for instance) place entities that have neither triples nor seeds.

    Example: `partition(task, PartitionConfig(k=10, overlap=2), seed=0)`.
    """
    PARTITIONERS.find(config.method)
    k = chosen_k(task, config)
    if config.overlap > k > 1:
        raise UsageError(f"overlap = {config.overlap} of only {k} batches: give at most {k}")
    if k == 1:
        return Assignment(*undivided(task, 1, config, seed), 1)
    if not len(task.seeds):
        raise UsageError(
            f"{config.method} needs seeds to find parts that belong together, and there are none: give some, "
            "let data augmentation (DA) make them from names, or do not partition (method none or k = 1)"
        )
    partitioner: Partitioner = PARTITIONERS.load(config.method)
    source, target = partitioner(task, k, config, seed)
    source, target = place_unplaced(source, target, k, task.seeds, hints)
    return with_overlap(task, Assignment(source, target, k), config.overlap)


def partition_graphs(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    seeds: Links,
    config: PartitionConfig,
    seed: int,
    plugin: str = "",
) -> Arrays:
    """A stage: the arrays of an `Assignment` (`source[n_s]`, `target[n_t]` int32, `cover[k, k]` bool).

    `plugin` is the fingerprint of the partitioner: as an argument it is part of the stage's key.
    """
    task = Task(source, target, seeds.canonical())
    return partition(task, config, child_seed(seed, "partition")).to_arrays()


def undivided(task: Task, k: int, config: PartitionConfig, seed: int) -> tuple[Int32, Int32]:
    """No partition: everything is in one batch."""
    return np.zeros(task.source.size, np.int32), np.zeros(task.target.size, np.int32)
