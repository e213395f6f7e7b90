"""A symmetric partition: both graphs are merged at their seeds, split as one graph, and separated again.

Beyond the paper. The ends of a seed meet by construction. Only the size of a whole batch is balanced, so a
region that one graph covers better than the other stays together.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from largeea.config import PartitionConfig
from largeea.graph import Int32, Links, Task
from largeea.randomness import child_seed
from largeea.structure.partition.adjacency import Adjacency, triple_ends
from largeea.structure.partition.metis import split

COUPLING = 0.4
"""Edges at seeds hold the graphs together. They weigh as much as if this share of the entities were seeds;
with a lower weight, METIS cuts the graphs from each other instead of cutting through both."""
LEAST_BOOST = 2
"""Lowest weight of an edge at a seed."""


def merged(task: Task, k: int, config: PartitionConfig, seed: int) -> tuple[Int32, Int32]:
    """Part of each source entity `[n_s]` and of each target entity `[n_t]`; -1 if it has no edges."""
    sources, targets = task.source.size, task.target.size
    vertex = merged_vertices(task.seeds, sources, targets)
    masses = np.bincount(vertex)
    graph = Adjacency.from_edges(
        len(masses), vertex[triple_ends(task.source)], vertex[sources + triple_ends(task.target)]
    )
    at_seeds = (masses[graph.rows] > 1) | (masses[graph.columns] > 1)
    boost = max(LEAST_BOOST, round(COUPLING * (sources + targets) / 2 / len(task.seeds)))
    part = split(
        graph,
        k,
        seed=child_seed(seed, "partition/merged"),
        balance=config.balance,
        weights=np.where(at_seeds, boost, 1),
        masses=masses,
    )
    return part[vertex[:sources]], part[vertex[sources:]]


def merged_vertices(seeds: Links, sources: int, targets: int) -> Int32:
    """The vertex of each entity, `[n_s + n_t]`: entities that seeds connect share one."""
    size = sources + targets
    ones = np.ones(len(seeds), np.int8)
    linked = sp.coo_array((ones, (seeds.source, seeds.target.astype(np.int64) + sources)), shape=(size, size))
    _, vertex = connected_components(linked, directed=False)
    return np.asarray(vertex, np.int32)
