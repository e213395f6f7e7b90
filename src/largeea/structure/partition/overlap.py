"""Overlapping mini-batches (D_ov): each batch is merged with the batches most similar to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from largeea.graph import Bool, Int32, Int64, Task
from largeea.structure.partition.assignment import Assignment


def overlapping(task: Task, assignment: Assignment, overlap: int) -> Assignment:
    """The assignment with every batch made of `overlap` parts: its own and its most similar ones.

    Two parts are the more similar the more seeds and triples run between them.
    """
    if overlap == 1:
        return assignment
    return replace(assignment, cover=most_similar(between(task, assignment), overlap))


def between(task: Task, assignment: Assignment) -> Int64:
    """Seeds and triples of both graphs that run between each two parts, `[k, k]`, symmetric."""
    seeds, k = task.seeds, assignment.k
    counts = _counts(assignment.source[seeds.source], assignment.target[seeds.target], k)
    for part, graph in ((assignment.source, task.source), (assignment.target, task.target)):
        counts += _counts(part[graph.triples[:, 0]], part[graph.triples[:, 2]], k)
    return counts + counts.T


def most_similar(similarity: Int64, count: int) -> Bool:
    """Each row's own column and the `count - 1` highest others, ties to the smaller number, `[k, k]`."""
    k = len(similarity)
    ranked = similarity.astype(np.float64)
    np.fill_diagonal(ranked, np.inf)
    chosen = np.argsort(-ranked, axis=1, kind="stable")[:, :count]
    cover = np.zeros((k, k), bool)
    np.put_along_axis(cover, chosen, True, axis=1)
    return cover


def _counts(rows: Int32, columns: Int32, k: int) -> Int64:
    return np.bincount(rows.astype(np.int64) * k + columns, minlength=k * k).reshape(k, k)
