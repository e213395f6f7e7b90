"""VPS, the vanilla partition strategy: seeds are dealt out equally, everything else at random."""

from __future__ import annotations

import numpy as np

from largeea.graph import Int32, Task
from largeea.randomness import generator
from largeea.structure.partition.assignment import UNPLACED, part_sizes, spread
from largeea.structure.partition.options import PartitionOptions


def vps(task: Task, k: int, options: PartitionOptions) -> tuple[Int32, Int32]:
    """Part of each source entity `[n_s]` and of each target entity `[n_t]`.

    Every part has the same number of seeds and of entities, give or take one, but neighbours are torn apart.
    """
    random = generator(options.seed, "partition/vps")
    seeds = task.seeds.canonical()
    source = np.full(task.source.size, UNPLACED, np.int32)
    target = np.full(task.target.size, UNPLACED, np.int32)
    dealt = random.permutation(np.unique(seeds.source))
    source[dealt] = np.arange(len(dealt)) % k
    target[seeds.target] = source[seeds.source]
    for part in (source, target):
        left = random.permutation(np.flatnonzero(part == UNPLACED))
        part[left] = spread(part_sizes(k, part), len(left))
    return source, target
