from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from largeea.config import PartitionConfig
from largeea.graph import KnowledgeGraph, Links, Task
from largeea.structure.partition import metis_cps as room
from largeea.structure.partition.adjacency import Adjacency

Twins = Callable[..., tuple[Task, Links, np.ndarray]]


@pytest.fixture
def what_metis_gets(monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """The re-weighted target graph as METIS gets it: weight by (lower end, higher end), and the masses."""
    seen: dict[str, np.ndarray] = {}

    def watch(graph: Adjacency, k: int, **options: np.ndarray) -> np.ndarray:
        ends = zip(graph.rows.tolist(), graph.columns.tolist(), options["weights"].tolist(), strict=True)
        seen["weight"] = {(a, b): weight for a, b, weight in ends if a < b}
        seen["masses"], seen["shares"] = options["masses"], options["shares"]
        return np.zeros(graph.size, np.int32)

    monkeypatch.setattr(room, "split", watch)
    return seen


def test_the_papers_example(what_metis_gets: dict[str, np.ndarray]) -> None:
    """Seeds 0, 1, 2 of one source part and 3, 4, 5 of the other; 6 is no seed. Edges 0-1, 3-4 are inside the
    groups, 0-3, 2-4, 2-5 between them, 1-6 leaves them."""
    group = np.array([0, 0, 0, 1, 1, 1, -1], np.int32)
    edges = np.array([(0, 1), (4, 3), (0, 3), (2, 4), (5, 2), (1, 6), (6, 6), (6, 1)], np.int32)
    room.split_along(group, np.ones(7, np.float32), edges, 2, PartitionConfig(), 0)

    weight = what_metis_gets["weight"]
    hubs = room.group_hubs(group, 2, 1, 0)[0]
    assert set(hubs[:1]) <= {0, 1, 2}
    assert set(hubs[1:]) <= {3, 4, 5}
    virtual = {
        tuple(sorted((hub, member)))
        for hub, members in zip(hubs.tolist(), ((0, 1, 2), (3, 4, 5)), strict=True)
        for member in members
        if member != hub
    }
    assert weight == dict.fromkeys(virtual | {(0, 1), (3, 4)}, 1000) | {(1, 6): 1}
    masses = np.ones(7)
    masses[hubs] += 2 * 7 // 2
    np.testing.assert_array_equal(what_metis_gets["masses"], masses)
    np.testing.assert_allclose(what_metis_gets["shares"], [0.5, 0.5])


def test_a_group_without_seeds_gets_a_lighter_part(what_metis_gets: dict[str, np.ndarray]) -> None:
    group = np.array([0, 0, 2, 2, -1], np.int32)
    room.split_along(group, np.ones(5, np.float32), np.array([(0, 4)], np.int32), 4, PartitionConfig(), 0)
    np.testing.assert_allclose(what_metis_gets["shares"], np.array([3, 3, 1, 1]) / 8)


def test_confidence_scales_the_pull(what_metis_gets: dict[str, np.ndarray]) -> None:
    group = np.array([0, 0, 0], np.int32)
    confidence = np.array([1, 0.5, 0], np.float32)
    edges = np.array([(0, 1), (1, 2)], np.int32)
    room.split_along(group, confidence, edges, 2, PartitionConfig(virtual_weight=100), 0)
    assert what_metis_gets["weight"][0, 1] == 50
    assert what_metis_gets["weight"][1, 2] == 1


def test_confidence_counts_only_on_request(twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    task, _, _ = twins()
    weighted = Task(task.source, task.target, Links(task.seeds.pairs, np.full(len(task.seeds), 0.25)))
    seen = []
    monkeypatch.setattr(
        room, "edge_weights", lambda *given: seen.append(given[2]) or np.ones(len(given[0]), int)
    )
    room.metis_cps(weighted, 4, PartitionConfig(), 0)
    room.metis_cps(weighted, 4, PartitionConfig(weigh_by_confidence=True), 0)
    assert set(seen[0].tolist()) == {1}
    assert set(seen[1].tolist()) == {1, 0.25}


@pytest.mark.parametrize("q", [1, 3, 50])
def test_q_hubs_reach_their_whole_group(q: int) -> None:
    group = np.array([2, 0, 2, 2, -1, 0, 2, 2], np.int32)
    hubs = room.group_hubs(group, 3, q, 0)
    assert hubs.shape == (q, 3)
    assert (hubs[:, 1] == -1).all()
    for part, members in ((0, {1, 5}), (2, {0, 2, 3, 6, 7})):
        chosen = hubs[:, part][hubs[:, part] >= 0].tolist()
        assert len(set(chosen)) == len(chosen) == min(q, len(members))
        assert set(chosen) <= members
        reached = {(a, b) for a, b in room.virtual_edges(group, hubs).tolist() if a in chosen}
        assert reached == {(hub, member) for hub in chosen for member in members}


def test_virtual_edges_are_linear_in_the_seeds() -> None:
    group = np.arange(10_000, dtype=np.int32) % 20
    assert len(room.virtual_edges(group, room.group_hubs(group, 20, 1, 0))) == 10_000


def test_the_heaviest_seed_of_a_target_counts() -> None:
    source = np.array([3, 1, 2], np.int32)
    seeds = Links([(0, 0), (1, 0), (2, 0), (0, 1), (1, 1)], [0.2, 0.9, 0.9, 0.5, 0.5])
    group, confidence = room.seed_groups(source, seeds, 3)
    assert group.tolist() == [1, 3, -1]
    np.testing.assert_allclose(confidence, [0.9, 0.5, 1])


@given(st.integers(1, 4), st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), max_size=30))
def test_pairing_keeps_most_seeds_of_all_one_to_one_pairings(k: int, places: list[tuple[int, int]]) -> None:
    ends = np.array([(min(a, k - 1), min(b, k - 1)) for a, b in places], np.int32).reshape(-1, 2)
    every = np.arange(len(ends))
    target = room.paired(ends[:, 0], ends[:, 1], Links(np.column_stack([every, every])), k)
    kept = ((target == ends[:, 0]) & (target >= 0)).sum()
    best = max(
        sum(a >= 0 and b >= 0 and order[b] == a for a, b in ends.tolist()) for order in permutations(range(k))
    )
    assert kept == best
    assert ((target == -1) == (ends[:, 1] == -1)).all()
    names = {(new, old) for new, old in zip(target.tolist(), ends[:, 1].tolist(), strict=True)}
    assert len({new for new, _ in names}) == len({old for _, old in names}) == len(names)


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_no_two_groups_share_a_part(twins: Twins, share: float, seed: int) -> None:
    task, _, _ = twins(communities=10, size=40, train=share, seed=seed)
    source, target = room.metis_cps(task, 10, PartitionConfig(), seed)
    assert (source[task.seeds.source] == target[task.seeds.target]).mean() > 0.97


def test_a_part_without_seeds(graph: Callable[..., KnowledgeGraph]) -> None:
    """Three cliques, seeds in two of them only: the third parts still find each other as what is left."""
    clique = [(a, b) for c in (0, 10, 20) for a in range(c, c + 10) for b in range(a, c + 10)]
    seeds = Links([(i, i) for i in (*range(5), *range(10, 15))])
    task = Task(graph(30, clique), graph(30, clique), seeds)
    source, target = room.metis_cps(task, 3, PartitionConfig(), 0)
    np.testing.assert_array_equal(source, target)
    assert np.bincount(source).tolist() == [10, 10, 10]
