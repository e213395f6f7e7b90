"""METIS-CPS, the METIS-based collaborative partition strategy.

METIS splits the source graph. The target graph is then re-weighted so that METIS splits it in the same way.
The target ends of the seeds of one source part form a *group* (the paper's L_t^i'): phase 1 ties each group
together, phase 2 removes the edges between groups.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from largeea.config import PartitionConfig
from largeea.graph import Float32, Int32, Int64, Links, Task
from largeea.randomness import child_seed, generator
from largeea.structure.partition.adjacency import Adjacency, triple_ends
from largeea.structure.partition.metis import split
from largeea.structure.partition.parts import UNPLACED, strongest_first

HUB_MASS = 2
"""Extra mass of a hub, in average parts. With 1, a part could hold two groups and nothing else."""


def metis_cps(task: Task, k: int, config: PartitionConfig, seed: int) -> tuple[Int32, Int32]:
    """Part of each source entity `[n_s]` and of each target entity `[n_t]`; -1 if it has no edges.

    The cost is linear in entities, triples and seeds.
    """
    seeds = task.seeds.canonical()
    if not config.weigh_by_confidence:
        seeds = Links(seeds.pairs)
    graph = Adjacency.from_edges(task.source.size, triple_ends(task.source))
    source = split(graph, k, seed=child_seed(seed, "partition/source"), balance=config.balance)
    group, confidence = seed_groups(source, seeds, task.target.size)
    target = split_along(group, confidence, triple_ends(task.target), k, config, seed)
    return source, paired(source, target, seeds, k)


def seed_groups(source: Int32, seeds: Links, targets: int) -> tuple[Int32, Float32]:
    """Group (int32) and confidence (float32) of each target entity, `[n_t]` each; -1 and 1 without a seed.

    The group is the source part of the entity's seed, the confidence is the seed's weight. Of several seeds,
    the one with the highest weight counts, then the one with the smallest source.
    """
    group = np.full(targets, UNPLACED, np.int32)
    confidence = np.ones(targets, np.float32)
    best_last = seeds.take(strongest_first(seeds)[::-1])
    group[best_last.target] = source[best_last.source]
    if best_last.weight is not None:
        confidence[best_last.target] = np.clip(best_last.weight, 0, 1)
    return group, confidence


def split_along(
    group: Int32, confidence: Float32, ends: Int32, k: int, config: PartitionConfig, seed: int
) -> Int32:
    """Parts of the target entities, `[n_t]`: each group stays whole and apart from the others.

    `ends[m, 2]` are heads and tails of the triples. Beyond the paper, one hub of each group has the mass of
    two parts. METIS balances masses, so no part holds two groups and loses all seeds of one of them.
    """
    hubs = group_hubs(group, k, config.q, seed)
    graph = Adjacency.from_edges(len(group), ends, virtual_edges(group, hubs))

    from_group, to_group = group[graph.rows], group[graph.columns]
    grouped = (from_group != UNPLACED) & (to_group != UNPLACED)
    graph = graph.keep(~grouped | (from_group == to_group))  # phase 2; METIS allows no weight 0

    connected = graph.degrees() > 0
    heavy = [hub for hub in hubs[0] if hub != UNPLACED and connected[hub]]
    masses = np.ones(graph.size, np.int64)
    masses[heavy] += HUB_MASS * connected.sum() // k
    shares = 1 + HUB_MASS * (np.arange(k) < len(heavy))
    return split(
        graph,
        k,
        seed=child_seed(seed, "partition/target"),
        balance=config.balance / (1 + HUB_MASS),
        weights=edge_weights(graph, group, confidence, config.virtual_weight),
        masses=masses,
        shares=shares / shares.sum(),
    )


def edge_weights(graph: Adjacency, group: Int32, confidence: Float32, virtual_weight: int) -> Int64:
    """Phase 1: `[entries]`, w' times the lower confidence of its ends for an edge inside a group, else 1."""
    inside = (group[graph.rows] != UNPLACED) & (group[graph.columns] != UNPLACED)
    lower = np.minimum(confidence[graph.rows[inside]], confidence[graph.columns[inside]])
    weights = np.ones(len(graph), np.int64)
    weights[inside] = np.maximum(np.rint(virtual_weight * lower), 1)
    return weights


def group_hubs(group: Int32, k: int, q: int, seed: int) -> Int32:
    """q random members of each group, `[q, k]`, padded with -1."""
    members = generator(seed, "partition/hubs").permutation(np.flatnonzero(group != UNPLACED))
    members = members[np.argsort(group[members], kind="stable")]
    groups = group[members]
    rank = np.arange(len(groups)) - np.searchsorted(groups, groups)
    hubs = np.full((q, k), UNPLACED, np.int32)
    chosen = rank < q
    hubs[rank[chosen], groups[chosen]] = members[chosen]
    return hubs


def virtual_edges(group: Int32, hubs: Int32) -> Int32:
    """Phase 1: an edge from each hub to every member of its group, `[m, 2]`."""
    members = np.flatnonzero(group != UNPLACED).astype(np.int32)
    hub = hubs[:, group[members]]
    member = np.broadcast_to(members, hub.shape)
    return np.column_stack([hub[hub != UNPLACED], member[hub != UNPLACED]])


def paired(source: Int32, target: Int32, seeds: Links, k: int) -> Int32:
    """Target parts renumbered so that parts with the same number share most seeds, one to one, `[n_t]`."""
    of_source, of_target = source[seeds.source], target[seeds.target]
    placed = (of_source != UNPLACED) & (of_target != UNPLACED)
    weight = None if seeds.weight is None else seeds.weight[placed]
    shared = np.bincount(of_source[placed] * k + of_target[placed], weight, minlength=k * k).reshape(k, k)
    source_parts, target_parts = linear_sum_assignment(-shared)
    number = np.full(k + 1, UNPLACED, np.int32)
    number[target_parts] = source_parts
    return number[target]  # number[-1] is UNPLACED
