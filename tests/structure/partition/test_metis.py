from __future__ import annotations

import ctypes
import threading
from itertools import combinations

import numpy as np
import pytest

from largeea.structure.partition.adjacency import Adjacency
from largeea.structure.partition.metis import split


def cliques(count: int, size: int, bridge: bool = True) -> np.ndarray:
    """Cliques in a chain, one edge between neighbours."""
    inner = [(c * size + a, c * size + b) for c in range(count) for a, b in combinations(range(size), 2)]
    bridges = [(c * size, (c + 1) * size) for c in range(count - 1)] if bridge else []
    return np.array(inner + bridges, np.int32)


@pytest.mark.parametrize("bridge", [True, False])
@pytest.mark.parametrize("count", [2, 5, 12])
def test_finds_the_cliques(count: int, bridge: bool) -> None:
    graph = Adjacency.from_edges(count * 8, cliques(count, 8, bridge))
    part = split(graph, count, seed=1, balance=0.03).reshape(count, 8)
    assert (part == part[:, :1]).all()
    assert sorted(part[:, 0].tolist()) == list(range(count))


def test_vertices_without_edges_are_left_to_the_caller() -> None:
    graph = Adjacency.from_edges(20, cliques(2, 8))
    part = split(graph, 2, seed=1, balance=0.03)
    assert part[16:].tolist() == [-1] * 4
    assert (part[:16] >= 0).all()


def test_too_few_to_split_are_left_to_the_caller(capfd: pytest.CaptureFixture[str]) -> None:
    graph = Adjacency.from_edges(6, np.array([(0, 1), (2, 3), (4, 5)], np.int32))
    assert split(graph, 3, seed=0, balance=0.03).tolist() == [-1] * 6
    assert capfd.readouterr().out == ""


def test_heavy_vertices_go_apart() -> None:
    """What keeps two groups of seeds out of one part."""
    masses = np.ones(32, np.int64)
    masses[[0, 1]] += 32
    graph = Adjacency.from_edges(32, cliques(4, 8))
    part = split(graph, 2, seed=0, balance=0.01, masses=masses)
    assert part[0] != part[1]


def test_heavy_edges_are_not_cut() -> None:
    graph = Adjacency.from_edges(32, cliques(4, 8))
    ends = np.sort(np.column_stack([graph.rows, graph.columns]), axis=1)
    bridges = (ends % 8 == 0).all(axis=1)
    part = split(graph, 2, seed=0, balance=0.03, weights=np.where(bridges, 1, 5))
    assert (part.reshape(4, 8) == part.reshape(4, 8)[:, :1]).all()
    pulled = split(graph, 4, seed=0, balance=0.03, weights=np.where(bridges, 10**6, 1))
    assert len(set(pulled[[0, 8, 16, 24]].tolist())) == 1


def test_shares_of_the_mass() -> None:
    graph = Adjacency.from_edges(64, cliques(8, 8))
    part = split(graph, 2, seed=0, balance=0.03, shares=np.array([0.75, 0.25]))
    assert np.bincount(part).tolist() == [48, 16]


@pytest.mark.parametrize("k", [5, 12])
def test_the_seed_decides(k: int) -> None:
    random = np.random.default_rng(0)
    graph = Adjacency.from_edges(600, random.integers(0, 600, (2000, 2)).astype(np.int32))
    once, other, again = (split(graph, k, seed=seed, balance=0.03) for seed in (7, 2**40 + 8, 7))
    np.testing.assert_array_equal(once, again)
    assert (once != other).any()


def test_balance_bounds_the_largest_part() -> None:
    random = np.random.default_rng(0)
    graph = Adjacency.from_edges(3000, random.integers(0, 3000, (9000, 2)).astype(np.int32))
    part = split(graph, 12, seed=0, balance=0.02)
    placed = part[part >= 0]
    assert np.bincount(placed).max() <= 1.02 * len(placed) / 12 + 1


def test_another_process_finds_the_same_parts_whoever_draws_random_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """METIS draws from `rand` of the C library, which other threads of a process draw from, too."""
    random = np.random.default_rng(0)
    graph = Adjacency.from_edges(600, random.integers(0, 600, (2400, 2)).astype(np.int32))
    masses, shares = random.integers(1, 9, 600), np.array([0.5, 0.3, 0.2])
    how = {"seed": 3, "balance": 0.03, "masses": masses, "shares": shares}
    expected = split(graph, 3, **how)
    stop = threading.Event()

    def draw() -> None:
        rand = ctypes.CDLL(None).rand
        while not stop.is_set():
            rand()

    drawing = threading.Thread(target=draw)
    drawing.start()
    try:
        monkeypatch.setattr("largeea.execution.settings.Execution.is_local", False)
        found = split(graph, 3, **how)
    finally:
        stop.set()
        drawing.join()
    np.testing.assert_array_equal(found, expected)
