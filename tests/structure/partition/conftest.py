"""Graphs whose best partition is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from largeea.graph import KnowledgeGraph, Links, Task, strings


def make_graph(size: int, edges: Any = ()) -> KnowledgeGraph:
    """A graph with one relation from (head, tail) pairs."""
    ends = np.array(edges, np.int32).reshape(-1, 2)
    triples = np.column_stack([ends[:, 0], np.zeros(len(ends), np.int32), ends[:, 1]])
    iris = strings([f"urn:e{number:05}" for number in range(size)])
    return KnowledgeGraph(iris, strings([None] * size), strings(["urn:r"]), triples)


def make_twins(
    communities: int = 4, size: int = 50, train: float = 0.2, seed: int = 0, inside: float = 0.97
) -> tuple[Task, Links, np.ndarray]:
    """A graph of dense communities and a copy with permuted ids: task, test links, source communities.

    `inside` is the share of edges that stay in their community.
    """
    random = np.random.default_rng(seed)
    entities = communities * size
    head = random.integers(0, entities, 4 * entities)
    near = head % communities + communities * random.integers(0, size, len(head))
    tail = np.where(random.random(len(head)) < inside, near, random.integers(0, entities, len(head)))
    edges = np.column_stack([head, tail])
    copy = random.permutation(entities)
    links = Links(np.column_stack([np.arange(entities), copy]))
    known = random.permutation(entities) < train * entities
    task = Task(make_graph(entities, edges), make_graph(entities, copy[edges]), links.take(known))
    return task, links.take(~known), np.arange(entities) % communities


@pytest.fixture
def graph() -> Callable[..., KnowledgeGraph]:
    return make_graph


@pytest.fixture
def twins() -> Callable[..., tuple[Task, Links, np.ndarray]]:
    return make_twins
