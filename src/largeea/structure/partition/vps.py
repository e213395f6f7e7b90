"""VPS, the vanilla partition strategy: seeds are distributed equally, all other entities at random."""

from __future__ import annotations

import numpy as np

from largeea.config import PartitionConfig
from largeea.graph import Int32, Task
from largeea.randomness import generator
from largeea.structure.partition.parts import UNPLACED, fill_evenly, part_sizes


def vps(task: Task, k: int, config: PartitionConfig, seed: int) -> tuple[Int32, Int32]:
    """Part of each source entity `[n_s]` and of each target entity `[n_t]`.

    The parts have the same number of seeds and of entities, give or take one. Neighbours are separated.
    """
    random = generator(seed, "partition/vps")
    seeds = task.seeds.canonical()
    source = np.full(task.source.size, UNPLACED, np.int32)
    target = np.full(task.target.size, UNPLACED, np.int32)
    shuffled = random.permutation(np.unique(seeds.source))
    source[shuffled] = np.arange(len(shuffled)) % k
    target[seeds.target] = source[seeds.source]
    for part in (source, target):
        left = random.permutation(np.flatnonzero(part == UNPLACED))
        part[left] = fill_evenly(part_sizes(k, part), len(left))
    return source, target
