"""A partition without direction: both graphs are merged at their seeds, split together, and separated again.

Beyond the paper. Seeds meet by construction, and since only the size of a whole batch is balanced, a region
that one graph covers better than the other still stays together.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from largeea.graph import Int32, Links, Task
from largeea.randomness import child_seed
from largeea.structure.partition.adjacency import Adjacency, edges
from largeea.structure.partition.metis import split
from largeea.structure.partition.options import PartitionOptions

COUPLING = 0.4
"""Edges at seeds hold the two graphs together, so they weigh as much as if this share of entities were seeds:
with less, METIS finds it cheaper to cut the graphs apart than to cut through both."""
LEAST_BOOST = 2


def merged(task: Task, k: int, options: PartitionOptions) -> tuple[Int32, Int32]:
    """Part of each source entity `[n_s]` and of each target entity `[n_t]`; -1 where it has no edges."""
    sources, targets = task.source.size, task.target.size
    vertex = merged_vertices(task.seeds, sources, targets)
    masses = np.bincount(vertex)
    graph = Adjacency.from_edges(
        len(masses), vertex[edges(task.source)], vertex[sources + edges(task.target)]
    )
    at_seeds = (masses[graph.rows] > 1) | (masses[graph.columns] > 1)
    boost = max(LEAST_BOOST, round(COUPLING * (sources + targets) / 2 / len(task.seeds)))
    part = split(
        graph,
        k,
        seed=child_seed(options.seed, "partition/merged"),
        balance=options.balance,
        weights=np.where(at_seeds, boost, 1),
        masses=masses,
    )
    return part[vertex[:sources]], part[vertex[sources:]]


def merged_vertices(seeds: Links, sources: int, targets: int) -> Int32:
    """The vertex each entity becomes, `[n_s + n_t]`: one for all that seeds connect, one for each other."""
    size = sources + targets
    ones = np.ones(len(seeds), np.int8)
    linked = sp.coo_array((ones, (seeds.source, seeds.target.astype(np.int64) + sources)), shape=(size, size))
    _, vertex = connected_components(linked, directed=False)
    return np.asarray(vertex, np.int32)
