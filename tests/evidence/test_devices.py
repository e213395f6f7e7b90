"""Label propagation and neighbour evidence give the same scores on every device."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.evidence import (
    evidence_edges,
    find_candidates,
    neighbour_evidence,
    neighbours_by_rows,
    surroundings_evidence,
)
from largeea.evidence.agreement import relation_agreement
from largeea.evidence.anchors import Anchors
from largeea.evidence.graphs import GraphPair
from largeea.evidence.labels import SCORED_BY_ALL, LabelledGraphs
from largeea.evidence.neighbours import MAX_STRENGTH
from largeea.evidence.propagation import surroundings_of
from largeea.evidence.sketches import Sketches
from largeea.execution import Execution, executing
from largeea.execution.devices import cuda_is_chosen
from largeea.graph import Attributes, KnowledgeGraph, Links, strings
from largeea.graph.edges import Edges
from largeea.similarity import Similarity

torch = pytest.importorskip("torch", reason="needs largeea[structure]")

NODES, RELATIONS, VALUES = 300, 5, 40
COSINE_BOUND, EVIDENCE_BOUND = 0.005, 1e-5
"""How far scores may differ between devices."""


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> object:
    if request.param == "cuda" and not cuda_is_chosen():
        pytest.skip("no CUDA device here")
    return torch.device(request.param)


def random_graph(seed: int) -> KnowledgeGraph:
    """A node in five has no triple, and one is a hub of more edges than are added up in a row."""
    random = np.random.default_rng(seed)
    triples = random.integers(0, (NODES * 4 // 5, RELATIONS, NODES * 4 // 5), (1500, 3))
    hub = np.column_stack([np.arange(200), np.full(200, 1), np.full(200, 7)])
    literals = np.column_stack([random.integers(0, (NODES, 1, VALUES), (400, 3)), np.zeros(400, int)])
    return KnowledgeGraph(
        strings(f"e{i:05d}" for i in range(NODES)),
        strings([None] * NODES),
        strings(f"r{i}" for i in range(RELATIONS)),
        np.unique(np.concatenate([triples, hub]), axis=0).astype(np.int32),
        Attributes(
            np.unique(literals, axis=0).astype(np.int32),
            strings(["a"]),
            strings(f"v{i}" for i in range(VALUES)),
            strings([""]),
        ),
    )


@pytest.fixture(scope="module")
def pair() -> tuple[dict, Links, Similarity]:
    """Edges, anchors and the agreement of relations; the target graph is another version of the source."""
    edges = evidence_edges(random_graph(0), random_graph(1), True)
    random = np.random.default_rng(2)
    pairs = np.column_stack([random.permutation(NODES)[:120], random.permutation(NODES)[:120]])
    links = Links(pairs, random.uniform(0.5, 1, 120))
    graphs = GraphPair.of(edges)
    anchors = Anchors.of(links, *graphs.shape, graphs.values)
    return edges, links, relation_agreement(graphs.source, graphs.target, anchors)


def every_pair() -> Similarity:
    return Similarity.from_scipy(np.ones((NODES, NODES), np.float32))


def on_both(pair: tuple, device: object, label_width: int) -> tuple:
    from largeea.evidence.cuda import CudaSketches

    edges, links, agreement = pair
    graphs = GraphPair.of(edges)
    given = graphs.source, graphs.target, Anchors.of(links, *graphs.shape, graphs.values), agreement
    settings = {"label_width": label_width, "seed": 3}
    graphs = LabelledGraphs.of(*given, **settings)
    return Sketches(graphs), CudaSketches(graphs, device)


@pytest.mark.parametrize("label_width", [16, 64])
def test_cosines_agree(pair: tuple, device: object, label_width: int) -> None:
    cpu, gpu = on_both(pair, device, label_width)
    expected = cpu.cosines(every_pair(), 2)
    assert expected.max() > 0.3
    np.testing.assert_allclose(gpu.cosines(every_pair(), 2), expected, atol=COSINE_BOUND)


def test_all_sketches_score_the_most_promising_pairs(pair: tuple, device: object) -> None:
    for made in on_both(pair, device, 32):
        first, fewer = (made.cosines(every_pair(), sketches).reshape(NODES, NODES) for sketches in (2, 5))
        changed = (first != fewer).sum(axis=1)
        assert changed.max() == SCORED_BY_ALL
        rank = np.argsort(np.argsort(-first, axis=1, kind="stable"), axis=1)
        assert (first == fewer)[rank >= SCORED_BY_ALL].all()
        few = Similarity.from_scipy(np.ones((NODES, SCORED_BY_ALL), np.float32))
        few = Similarity((NODES, NODES), few.indptr, few.indices, few.scores)
        whole = made.cosines(few, 5).reshape(NODES, SCORED_BY_ALL)
        chosen = rank[:, :SCORED_BY_ALL] < SCORED_BY_ALL
        np.testing.assert_allclose(fewer[:, :SCORED_BY_ALL][chosen], whole[chosen], atol=2e-5)


def test_devices_choose_almost_the_same_pairs(pair: tuple, device: object) -> None:
    one, other = (made.cosines(every_pair(), 8) for made in on_both(pair, device, 64))
    assert (np.abs(one - other) > COSINE_BOUND).mean() < 0.001


def test_cosines_do_not_depend_on_blocks(
    pair: tuple, device: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of different lengths, some without entries, in blocks of any size."""
    random = np.random.default_rng(4)
    kept = random.random((NODES, NODES)) < random.random(NODES)[:, None] ** 4
    rows, columns = np.nonzero(kept)
    some = Similarity.from_entries(rows, columns, np.ones(len(rows)), kept.shape)
    _, gpu = on_both(pair, device, 32)
    whole = gpu.cosines(some, 2)
    monkeypatch.setattr("largeea.evidence.cuda_pairs._MOST_BYTES", 200_000)
    np.testing.assert_array_equal(gpu.cosines(some, 2), whole)
    np.testing.assert_allclose(whole, gpu.cosines(every_pair(), 2)[kept.ravel()], atol=1e-5)


def test_nearest_agree(pair: tuple, device: object) -> None:
    cpu, gpu = on_both(pair, device, 64)
    nodes = np.arange(0, NODES, 2, dtype=np.int32), np.arange(1, NODES, 2, dtype=np.int32)
    (ids, scores), (_, others) = (made.nearest(nodes, 10, 3) for made in (cpu, gpu))
    assert ids.shape == scores.shape == others.shape == (150, 10)
    assert (np.unique(ids[ids >= 0]) % 2 == 1).all()
    differ = np.abs(np.sort(scores, axis=1) - np.sort(others, axis=1)) > COSINE_BOUND
    assert differ.mean() < 0.005, "but for pairs that the first sketch finds on one device only"


def test_what_is_found_has_the_scores_of_candidates(pair: tuple, device: object) -> None:
    nodes = np.arange(0, NODES, 2, dtype=np.int32), np.arange(1, NODES, 2, dtype=np.int32)
    for made in on_both(pair, device, 64):
        ids, scores = made.nearest(nodes, 10, 2)
        rows = np.repeat(nodes[0], 10).reshape(ids.shape)
        found = made.cosines(every_pair(), 2).reshape(NODES, NODES)[rows, ids]
        np.testing.assert_allclose(scores[ids >= 0], found[ids >= 0], atol=5e-4)


@pytest.mark.parametrize("rows", [(0, NODES), (40, 170)])
@pytest.mark.parametrize("max_fan", [3, 1000])
def test_neighbours_agree(
    pair: tuple, device: object, max_fan: int, rows: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from largeea.evidence import cuda_neighbours

    edges, links, agreement = pair
    random = np.random.default_rng(5)
    kinds = {side: random.integers(-1, 2, NODES).astype(np.int8) for side in ("source", "target")}
    monkeypatch.setattr("largeea.evidence.neighbours.MAX_FAN", max_fan)
    with executing(Execution(device="cpu")):
        expected = neighbours_by_rows(edges, links, agreement, kinds, Links.none(), 6)(*rows)
    assert len(expected) > 100
    graphs = GraphPair.of(edges)
    anchors = Anchors.of(links, *graphs.shape, graphs.values)
    for most in (cuda_neighbours._MOST_BYTES, 5000):
        monkeypatch.setattr(cuda_neighbours, "_MOST_BYTES", most)
        joins = cuda_neighbours.Joins(graphs, anchors, agreement, kinds, max_fan, MAX_STRENGTH, device)
        found = joins.best(6, *rows)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_array_equal(found.indptr, expected.indptr)
        np.testing.assert_allclose(found.scores, expected.scores, atol=EVIDENCE_BOUND)


def test_some_rows_are_those_of_all(pair: tuple) -> None:
    edges, links, agreement = pair
    kinds = {side: np.zeros(NODES, np.int8) for side in ("source", "target")}
    with executing(Execution(device="cpu")):
        whole = neighbour_evidence(edges, links, agreement, kinds, Links.none(), 6).to_dense()
        some = neighbours_by_rows(edges, links, agreement, kinds, Links.none(), 6)(40, 170).to_dense()
    assert whole[:40].any()
    assert whole[170:].any()
    whole[:40] = whole[170:] = 0
    np.testing.assert_array_equal(some, whole)


def test_stages_take_the_gpu_where_one_is_chosen(pair: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch device that is the CPU stands in for the GPU."""
    edges, links, agreement = pair
    kinds = {side: np.zeros(NODES, np.int8) for side in ("source", "target")}

    def results() -> list[Similarity]:
        given = edges, links, agreement
        near = neighbour_evidence(*given, kinds, Links.none(), 6)
        found = find_candidates(*given, kinds, near, 5, 2, 16, 0)
        return [near, found, surroundings_evidence(*given, [near, found], 20, 2, 16, 0)]

    with executing(Execution(device="cpu")):
        expected = results()
        for module in ("neighbours", "propagation"):
            monkeypatch.setattr(f"largeea.evidence.{module}.cuda_is_chosen", lambda: True)
        for one, other in zip(results(), expected, strict=True):
            assert len(one) == pytest.approx(len(other), rel=0.01)
            differ = np.abs(one.to_dense() - other.to_dense()) > COSINE_BOUND
            assert differ.sum() < 0.005 * len(other), "but for pairs that are as similar as others"


def test_candidates_are_free_and_of_equal_kind(pair: tuple) -> None:
    edges, links, agreement = pair
    kinds = {side: (np.arange(NODES) % 3 - 1).astype(np.int8) for side in ("source", "target")}
    near = neighbour_evidence(edges, links, agreement, kinds, Links.none(), 6)
    found = find_candidates(edges, links, agreement, kinds, near, 5, 2, 64, 0)
    assert len(found) > 100
    assert (np.diff(near.indptr)[found.rows] < 5).all(), "others have enough"
    assert np.diff(found.indptr).max() <= 5
    assert (kinds["source"][found.rows] == kinds["target"][found.indices]).all()
    assert (kinds["source"][found.rows] >= 0).all()
    assert not np.isin(found.rows, links.source).any()
    assert not np.isin(found.indices, links.target).any()


def test_graphs_without_edges_have_no_surroundings(device: object) -> None:
    from largeea.evidence.cuda import CudaSketches

    nothing = Edges.of(np.empty((0, 3), np.int32), 4, 1)
    anchors = Anchors.of(Links(np.array([[0, 1]])), 4, 4)
    given = nothing, nothing, anchors, relation_agreement(nothing, nothing, anchors)
    every = Similarity.from_scipy(np.ones((4, 4), np.float32))
    graphs = LabelledGraphs.of(*given)
    for made in (Sketches(graphs), CudaSketches(graphs, device)):
        assert not made.cosines(every, 2).any()


@pytest.mark.parametrize(("gpu_memory", "name"), [("1KB", "Sketches"), ("1GB", "CudaSketches")])
def test_what_does_not_fit_on_the_gpu_is_compared_on_the_cpu(
    pair: tuple, gpu_memory: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges, links, agreement = pair
    monkeypatch.setattr("largeea.evidence.propagation.cuda_is_chosen", lambda: True)
    with executing(Execution(device="cpu", gpu_memory=gpu_memory)):
        made = surroundings_of(GraphPair.of(edges), links, agreement, 16, 0)
    assert type(made).__name__ == name
