"""METIS-CPS, the METIS-based collaborative partition strategy.

METIS splits the source graph; then the target graph is re-weighted so that METIS splits it along the same
lines. The target ends of the seeds of one source part form a *group* (the paper's L_t^i'): phase 1 ties each
group together, phase 2 cuts the groups from each other.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from largeea.graph import Float32, Int32, Int64, Links, Task
from largeea.randomness import child_seed, generator
from largeea.structure.partition.adjacency import Adjacency, edges
from largeea.structure.partition.assignment import UNPLACED, strongest_first
from largeea.structure.partition.metis import split
from largeea.structure.partition.options import PartitionOptions

HUB_MASS = 2
"""What a hub weighs, in parts. With 1, two groups and nothing else can still pass for a part."""


def metis_cps(task: Task, k: int, options: PartitionOptions) -> tuple[Int32, Int32]:
    """Part of each source entity `[n_s]` and of each target entity `[n_t]`; -1 where it has no edges.

    Linear in entities, triples and seeds.
    """
    seeds = task.seeds.canonical()
    if not options.weigh_by_confidence:
        seeds = Links(seeds.pairs)
    graph = Adjacency.from_edges(task.source.size, edges(task.source))
    source = split(graph, k, seed=child_seed(options.seed, "partition/source"), balance=options.balance)
    group, confidence = seed_groups(source, seeds, task.target.size)
    target = split_along(group, confidence, edges(task.target), k, options)
    return source, paired(source, target, seeds, k)


def seed_groups(source: Int32, seeds: Links, targets: int) -> tuple[Int32, Float32]:
    """The group of each target entity, `[n_t]`: its seed's source part, -1 without one; and its confidence.

    Of several seeds with the same target the heaviest counts, then the one with the smallest source.
    """
    group = np.full(targets, UNPLACED, np.int32)
    confidence = np.ones(targets, np.float32)
    best_last = seeds.take(strongest_first(seeds)[::-1])
    group[best_last.target] = source[best_last.source]
    if best_last.weight is not None:
        confidence[best_last.target] = np.clip(best_last.weight, 0, 1)
    return group, confidence


def split_along(
    group: Int32, confidence: Float32, triple_ends: Int32, k: int, options: PartitionOptions
) -> Int32:
    """Split the target graph so that each group stays whole and apart from the others, `[n_t]`.

    Beyond the paper, one hub of each group has the mass of two parts. METIS balances masses, so no part can
    hold two groups; where that happened, all seeds of one group were lost.
    """
    hubs = group_hubs(group, k, options)
    graph = Adjacency.from_edges(len(group), triple_ends, virtual_edges(group, hubs))

    from_group, to_group = group[graph.rows], group[graph.columns]
    grouped = (from_group != UNPLACED) & (to_group != UNPLACED)
    graph = graph.keep(~grouped | (from_group == to_group))  # phase 2, as METIS knows no weight 0

    connected = graph.degrees() > 0
    heavy = [hub for hub in hubs[0] if hub != UNPLACED and connected[hub]]
    masses = np.ones(graph.size, np.int64)
    masses[heavy] += HUB_MASS * connected.sum() // k
    shares = 1 + HUB_MASS * (np.arange(k) < len(heavy))
    return split(
        graph,
        k,
        seed=child_seed(options.seed, "partition/target"),
        balance=options.balance / (1 + HUB_MASS),
        weights=edge_weights(graph, group, confidence, options.virtual_weight),
        masses=masses,
        shares=shares / shares.sum(),
    )


def edge_weights(graph: Adjacency, group: Int32, confidence: Float32, virtual_weight: int) -> Int64:
    """Phase 1: w' for every edge inside a group, times the lower confidence of its ends; 1 for all others."""
    inside = (group[graph.rows] != UNPLACED) & (group[graph.columns] != UNPLACED)
    lower = np.minimum(confidence[graph.rows[inside]], confidence[graph.columns[inside]])
    weights = np.ones(len(graph), np.int64)
    weights[inside] = np.maximum(np.rint(virtual_weight * lower), 1)
    return weights


def group_hubs(group: Int32, k: int, options: PartitionOptions) -> Int32:
    """q random members of each group, `[q, k]`, padded with -1."""
    members = generator(options.seed, "partition/hubs").permutation(np.flatnonzero(group != UNPLACED))
    members = members[np.argsort(group[members], kind="stable")]
    groups = group[members]
    rank = np.arange(len(groups)) - np.searchsorted(groups, groups)
    hubs = np.full((options.q, k), UNPLACED, np.int32)
    chosen = rank < options.q
    hubs[rank[chosen], groups[chosen]] = members[chosen]
    return hubs


def virtual_edges(group: Int32, hubs: Int32) -> Int32:
    """Phase 1: an edge from each hub to every member of its group, `[m, 2]`."""
    members = np.flatnonzero(group != UNPLACED).astype(np.int32)
    hub = hubs[:, group[members]]
    member = np.broadcast_to(members, hub.shape)
    return np.column_stack([hub[hub != UNPLACED], member[hub != UNPLACED]])


def paired(source: Int32, target: Int32, seeds: Links, k: int) -> Int32:
    """Number the target parts like the source parts they share most seeds with, one to one, `[n_t]`."""
    of_source, of_target = source[seeds.source], target[seeds.target]
    placed = (of_source != UNPLACED) & (of_target != UNPLACED)
    weight = None if seeds.weight is None else seeds.weight[placed]
    shared = np.bincount(of_source[placed] * k + of_target[placed], weight, minlength=k * k).reshape(k, k)
    source_parts, target_parts = linear_sum_assignment(-shared)
    number = np.full(k + 1, UNPLACED, np.int32)
    number[target_parts] = source_parts
    return number[target]  # an unplaced -1 reads the last entry, which is -1
