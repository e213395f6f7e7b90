"""Partition quality: the share of triples cut, and the share of links whose ends meet."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.graph import Int32, Int64, Links, Task
from largeea.structure.partition.parts import Assignment


def edge_cut(triples: Int32, part: Int32, assignment: Assignment) -> float:
    """R_ec: the share of triples that are in no batch, because their ends are in different ones."""
    if not len(triples):
        return 0.0
    return float(1 - assignment.together[part[triples[:, 0]], part[triples[:, 2]]].mean())


def same_batch(assignment: Assignment, links: Links) -> float:
    """The share of links whose ends are in the same batch."""
    if not len(links):
        return 0.0
    return float(assignment.together[assignment.source[links.source], assignment.target[links.target]].mean())


def seed_overlap(assignment: Assignment, seeds: Links) -> Int64:
    """Number of seeds between each source part (row) and each target part (column), `[k, k]`."""
    k = assignment.k
    cell = assignment.source[seeds.source].astype(np.int64) * k + assignment.target[seeds.target]
    return np.bincount(cell, minlength=k * k).reshape(k, k)


def batch_sizes(task: Task, assignment: Assignment) -> dict[str, list[int]]:
    """Number of source entities, target entities and seeds in each batch."""
    k, cover = assignment.k, assignment.cover.astype(np.int64)
    seeds = cover @ seed_overlap(assignment, task.seeds) @ cover.T
    return {
        "source": (cover @ np.bincount(assignment.source, minlength=k)).tolist(),
        "target": (cover @ np.bincount(assignment.target, minlength=k)).tolist(),
        "seeds": seeds.diagonal().tolist(),
    }


def report(
    task: Task, assignment: Assignment, method: str, seconds: float, test: Links | None = None
) -> dict[str, Any]:
    """The figures of the paper's partition quality table, ready for JSON.

    `test` are links that are not in the task; they are only counted.
    """
    pairs = task.seeds.pairs if test is None else np.concatenate([task.seeds.pairs, test.pairs])
    return {
        "method": method,
        "k": assignment.k,
        "r_ec": {
            "source": edge_cut(task.source.triples, assignment.source, assignment),
            "target": edge_cut(task.target.triples, assignment.target, assignment),
        },
        "same_batch": {
            "total": same_batch(assignment, Links(pairs)),
            "train": same_batch(assignment, task.seeds),
            "test": None if test is None else same_batch(assignment, test),
        },
        "sizes": batch_sizes(task, assignment),
        "seconds": seconds,
    }
