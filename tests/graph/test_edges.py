"""Edges: every triple from both of its ends, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph.edges import Edges
from largeea.graph.triples import functionality

NODES, RELATIONS = 20, 3


@pytest.fixture
def triples() -> np.ndarray:
    rows = np.random.default_rng(0).integers(0, (NODES, RELATIONS, NODES), (80, 3))
    return np.unique(rows, axis=0).astype(np.int32)


def plain(triples: np.ndarray) -> list[tuple[int, int, int]]:
    """Node, directed relation, neighbour."""
    return sorted(edge for h, r, t in triples.tolist() for edge in ((h, 2 * r, t), (t, 2 * r + 1, h)))


def test_edges_are_what_plain_python_gives(triples: np.ndarray) -> None:
    edges, expected = Edges.of(triples, NODES, RELATIONS), plain(triples)
    found = list(zip(edges.node.tolist(), edges.relation.tolist(), edges.neighbour.tolist(), strict=True))
    assert found == expected
    assert edges.nodes == NODES
    assert edges.fan.tolist() == [sum(other[:2] == edge[:2] for other in expected) for edge in expected]
    for relation in range(2 * RELATIONS):
        own = [edge for edge in expected if edge[1] == relation]
        distinct = len({edge[2] for edge in own})
        assert edges.inverse_functionality[relation] == pytest.approx(distinct / len(own))


def test_a_self_loop_is_seen_from_both_ends() -> None:
    edges = Edges.of(np.array([[1, 0, 1]], np.int32), 3, 1)
    assert edges.node.tolist() == [1, 1]
    assert edges.relation.tolist() == [0, 1]
    assert edges.pointers.tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize(("nodes", "relations"), [(0, 0), (3, 0), (3, 2)])
def test_no_triples(nodes: int, relations: int) -> None:
    edges = Edges.of(np.empty((0, 3), np.int32), nodes, relations)
    assert edges.nodes == nodes
    assert len(edges.relation) == 0
    assert edges.inverse_functionality.tolist() == [0.0] * (2 * relations)


def test_they_cannot_be_changed(triples: np.ndarray) -> None:
    edges = Edges.of(triples, NODES, RELATIONS)
    for column in (edges.pointers, edges.relation, edges.neighbour, edges.fan, edges.inverse_functionality):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


def test_functionality_agrees_with_the_edges(triples: np.ndarray) -> None:
    functional, inverse = functionality(triples, RELATIONS)
    seen = Edges.of(triples, NODES, RELATIONS).inverse_functionality
    np.testing.assert_allclose(seen[0::2], inverse, rtol=1e-6)
    np.testing.assert_allclose(seen[1::2], functional, rtol=1e-6)


def test_functionality_by_hand() -> None:
    """Three people born in one town: a person tells the town, the town does not tell the person."""
    functional, inverse = functionality(np.array([[0, 0, 3], [1, 0, 3], [2, 0, 3]], np.int32), 2)
    assert functional.tolist() == [1, 0]
    assert inverse.tolist() == pytest.approx([1 / 3, 0])
