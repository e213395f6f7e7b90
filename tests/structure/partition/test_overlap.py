from __future__ import annotations

from collections.abc import Callable

import numpy as np

from largeea.graph import KnowledgeGraph, Links, Task
from largeea.structure.partition.overlap import links_between, most_similar, with_overlap
from largeea.structure.partition.parts import Assignment


def chain(graph: Callable[..., KnowledgeGraph]) -> tuple[Task, Assignment]:
    """Three parts of two entities: two triples between 0 and 1, one between 1 and 2, a seed from 0 to 2."""
    source = graph(6, [(0, 1), (0, 2), (3, 1)])
    target = graph(6, [(4, 3), (0, 1)])
    part = np.array([0, 0, 1, 1, 2, 2], np.int32)
    return Task(source, target, Links([(0, 5), (2, 2)])), Assignment(part, part, 3)


def test_similarity_counts_seeds_and_triples_between_parts(graph: Callable[..., KnowledgeGraph]) -> None:
    counts = links_between(*chain(graph))
    assert counts[~np.eye(3, dtype=bool)].reshape(3, 2).tolist() == [[2, 1], [2, 1], [1, 1]]
    np.testing.assert_array_equal(counts, counts.T)


def test_each_batch_takes_its_most_similar_parts(graph: Callable[..., KnowledgeGraph]) -> None:
    task, assignment = chain(graph)
    cover = with_overlap(task, assignment, 2).cover
    np.testing.assert_array_equal(cover, [[1, 1, 0], [1, 1, 0], [1, 0, 1]])


def test_one_part_a_batch_changes_nothing(graph: Callable[..., KnowledgeGraph]) -> None:
    task, assignment = chain(graph)
    assert with_overlap(task, assignment, 1) is assignment


def test_all_parts_in_every_batch() -> None:
    assert most_similar(np.zeros((4, 4), np.int64), 4).all()


def test_a_batch_always_holds_its_own_part() -> None:
    similarity = np.full((5, 5), 1000)
    np.fill_diagonal(similarity, 0)
    cover = most_similar(similarity, 2)
    assert cover.diagonal().all()
    assert (cover.sum(axis=1) == 2).all()
    assert cover[3].tolist() == [True, False, False, True, False]
