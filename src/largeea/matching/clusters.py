"""Clusters: entities that pairs join, directly or through others; and how far two clusterings agree."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from largeea.graph import Float64, Int64, Links


def cluster_numbers(links: Links, sources: int, targets: int, within: bool = False) -> Int64:
    """Return the cluster of each entity, -1 if no link has it: sources first, then targets, `[entities]`.

    Clusters are numbered from 0 in the order of their first entities. `within` one graph, both ends of a link
    are sources.
    """
    from scipy.sparse.csgraph import connected_components  # imported lazily: slow

    count = sources if within else sources + targets
    ends = links.source, links.target + (0 if within else sources)
    graph = sp.coo_array((np.ones(len(links), bool), ends), shape=(count, count))
    component = connected_components(graph, directed=False)[1].astype(np.int64)
    linked = np.zeros(count, bool)
    linked[ends[0]] = linked[ends[1]] = True
    _, first, number = np.unique(component[linked], return_index=True, return_inverse=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    found = np.full(count, -1, np.int64)
    found[linked] = place[number]
    return found


def clusters_by_side(links: Links, sources: int, targets: int, within: bool = False) -> tuple[Int64, Int64]:
    """Return `cluster_numbers` of the sources `[sources]` and of the targets `[targets]`."""
    numbers = cluster_numbers(links, sources, targets, within)
    return (numbers, numbers) if within else (numbers[:sources], numbers[sources:])


def pairwise_agreement(found: Int64, true: Int64) -> tuple[float, float]:
    """Return precision and recall over all pairs of entities in the same cluster; clusters as above."""
    shared, ours, theirs = (float((sizes - 1).sum()) for sizes in _sizes(found, true))
    return shared / ours if ours else 0.0, shared / theirs if theirs else 0.0


def b_cubed_agreement(found: Int64, true: Int64) -> tuple[float, float]:
    """Return B-cubed precision and recall (Bagga and Baldwin, 1998).

    The share of an entity's cluster that is in the same cluster of the other clustering, on average over all
    entities that are in a cluster of either.
    """
    shared, ours, theirs = _sizes(found, true)
    return (float((shared / ours).mean()), float((shared / theirs).mean())) if len(ours) else (0.0, 0.0)


def _sizes(found: Int64, true: Int64) -> list[Float64]:
    """How many entities share both clusters of each entity, its found one, its true one, `[entities]` each.

    An entity that only one clustering has is alone in the other.
    """
    known = (found >= 0) | (true >= 0)
    alone = -1 - np.arange(len(found))
    ours, theirs = (np.where(side >= 0, side, alone)[known] for side in (found, true))
    sizes = []
    for key in (np.column_stack([ours, theirs]), ours, theirs):
        _, place, counts = np.unique(key, axis=0, return_inverse=True, return_counts=True)
        sizes.append(counts[place.ravel()].astype(np.float64))
    return sizes
