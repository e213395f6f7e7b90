from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from largeea.structure.partition.adjacency import Adjacency

edge_lists = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


def as_array(edges: list[tuple[int, int]]) -> np.ndarray:
    return np.array(edges, np.int32).reshape(-1, 2)


@given(edge_lists, edge_lists)
def test_every_edge_once_from_both_ends(some: list[tuple[int, int]], more: list[tuple[int, int]]) -> None:
    graph = Adjacency.from_edges(10, as_array(some), as_array(more))
    expected = {pair for a, b in some + more if a != b for pair in ((a, b), (b, a))}
    assert list(zip(graph.rows.tolist(), graph.columns.tolist(), strict=True)) == sorted(expected)
    for vertex in range(10):
        neighbours = graph.columns[graph.indptr[vertex] : graph.indptr[vertex + 1]]
        assert set(neighbours.tolist()) == {b for a, b in expected if a == vertex}


def test_order_and_direction_leave_no_trace() -> None:
    edges = as_array([(0, 1), (1, 2), (2, 2), (3, 1), (0, 1)])
    one = Adjacency.from_edges(4, edges)
    other = Adjacency.from_edges(4, edges[::-1, ::-1])
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.columns, other.columns)


def test_isolated_vertices_go_and_the_others_close_ranks() -> None:
    graph, connected = Adjacency.from_edges(6, as_array([(1, 4), (4, 5), (2, 2)])).without_isolated()
    assert connected.tolist() == [False, True, False, False, True, True]
    assert (graph.size, graph.rows.tolist(), graph.columns.tolist()) == (3, [0, 1, 1, 2], [1, 0, 2, 1])


def test_ids_beyond_32_bits_when_multiplied() -> None:
    size = 3_000_000
    graph = Adjacency.from_edges(size, as_array([(size - 1, size - 2)]))
    assert graph.rows.tolist() == [size - 2, size - 1]
    assert graph.columns.tolist() == [size - 1, size - 2]


def test_no_edges_at_all() -> None:
    graph = Adjacency.from_edges(3, as_array([]))
    assert len(graph) == 0
    assert graph.indptr.tolist() == [0, 0, 0, 0]
