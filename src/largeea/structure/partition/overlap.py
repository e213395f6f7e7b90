"""Overlapping mini-batches (D_ov): each batch also gets the parts that are most similar to its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from largeea.graph import Bool, Int32, Int64, Task
from largeea.structure.partition.parts import Assignment


def with_overlap(task: Task, assignment: Assignment, overlap: int) -> Assignment:
    """The assignment with every batch made of `overlap` parts: its own and the most similar others.

    The similarity of two parts is the number of seeds and triples between them.
    """
    if overlap == 1:
        return assignment
    return replace(assignment, cover=most_similar(links_between(task, assignment), overlap))


def links_between(task: Task, assignment: Assignment) -> Int64:
    """Number of seeds and triples of both graphs between each two parts, `[k, k]`, symmetric."""
    seeds, k = task.seeds, assignment.k
    counts = _counts(assignment.source[seeds.source], assignment.target[seeds.target], k)
    for part, graph in ((assignment.source, task.source), (assignment.target, task.target)):
        counts += _counts(part[graph.triples[:, 0]], part[graph.triples[:, 2]], k)
    return counts + counts.T


def most_similar(similarity: Int64, count: int) -> Bool:
    """Mask `[k, k]` of each row's own column and its `count - 1` highest others; ties by number."""
    k = len(similarity)
    ranked = similarity.astype(np.float64)
    np.fill_diagonal(ranked, np.inf)
    chosen = np.argsort(-ranked, axis=1, kind="stable")[:, :count]
    cover = np.zeros((k, k), bool)
    np.put_along_axis(cover, chosen, True, axis=1)
    return cover


def _counts(rows: Int32, columns: Int32, k: int) -> Int64:
    return np.bincount(rows.astype(np.int64) * k + columns, minlength=k * k).reshape(k, k)
