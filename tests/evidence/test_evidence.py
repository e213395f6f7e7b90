"""Neighbours, literals and surroundings: against plain Python, and on graphs whose answer is known."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from largeea.config import Config, EvidenceConfig
from largeea.evidence import evidence_edges, learn_agreement, neighbour_evidence, surroundings_evidence
from largeea.evidence.agreement import SMOOTHING, relation_agreement
from largeea.evidence.anchors import Anchors
from largeea.evidence.labels import FIRST_SKETCHES, HEAD_WIDTH, LabelledGraphs
from largeea.evidence.literals import comparable, shared_values
from largeea.evidence.neighbours import MAX_FAN
from largeea.evidence.sketch_kernels import remove_label
from largeea.evidence.sketches import Sketches
from largeea.graph import Attributes, KnowledgeGraph, Links, Task, strings
from largeea.graph.edges import Edges
from largeea.graph.same_iri import matched_kinds
from largeea.material import gather
from largeea.rounds import Rounds, base_weights, self_training
from largeea.runs.folder import Run
from largeea.similarity import Similarity

NODES, RELATIONS = 60, 4


def random_triples(seed: int, count: int = 200) -> np.ndarray:
    random = np.random.default_rng(seed)
    rows = random.integers(0, (NODES, RELATIONS, NODES), (count, 3))
    return np.unique(rows, axis=0).astype(np.int32)


def graph(triples: np.ndarray, nodes: int = NODES, attributes: Attributes | None = None) -> KnowledgeGraph:
    return KnowledgeGraph(
        strings(f"e{i:05d}" for i in range(nodes)),
        strings([None] * nodes),
        strings(f"r{i}" for i in range(RELATIONS)),
        triples,
        attributes or Attributes.none(),
    )


def both_ways(triples: np.ndarray) -> list[tuple[int, int, int]]:
    return [edge for h, r, t in triples.tolist() for edge in ((h, 2 * r, t), (t, 2 * r + 1, h))]


def given(value: object) -> object:
    return value


def self_trained(task: Task, names: Similarity | None, config: EvidenceConfig, seed: int = 0) -> Rounds:
    """What the rounds of self-training end with."""
    run = Run()

    def handle(name: str, value: object) -> object:
        return run.stage.given(name, name, lambda: value, given)

    source, target, seeds = (
        handle("source", task.source),
        handle("target", task.target),
        handle("seeds", task.seeds),
    )
    by_name = None if names is None else handle("names", names)
    settings = Config(evidence=config, seed=seed)
    kinds = handle("kinds", matched_kinds(task.source, task.target, Links.none()))
    return self_training(gather(run.stage, source, target, kinds, seeds, by_name, None, settings), {})


def structure_worth(rounds: Rounds, config: EvidenceConfig) -> float:
    """The share of its weight that structure has kept."""
    return rounds.weights["surroundings"] / base_weights(config)["surroundings"]


def test_inverse_functionality() -> None:
    """Three people born in one town: the town does not tell who, a person tells the town."""
    edges = Edges.of(np.array([[0, 0, 3], [1, 0, 3], [2, 0, 3]], np.int32), 4, 1)
    assert edges.inverse_functionality.tolist() == pytest.approx([1 / 3, 1])
    assert edges.fan[edges.node == 3].tolist() == [3, 3, 3]


def test_evidence_is_what_plain_loops_give() -> None:
    triples = random_triples(0), random_triples(1)
    source, target = (Edges.of(part, NODES, RELATIONS) for part in triples)
    random = np.random.default_rng(2)
    pairs = np.column_stack([random.permutation(NODES)[:40], random.permutation(NODES)[:40]])
    links = Links(pairs, random.uniform(0.5, 1, 40))
    anchors = Anchors.of(links, NODES, NODES)
    trust = {x: (y, float(p)) for (x, y), p in zip(pairs.tolist(), links.weight, strict=True)}

    there = defaultdict(list)
    for x, r, y in both_ways(triples[1]):
        there[x, y].append(r)
    count, seen = defaultdict(float), [defaultdict(float), defaultdict(float)]
    back = {y: (x, p) for x, (y, p) in trust.items()}
    for x, r, y in both_ways(triples[0]):
        if x in trust and y in trust:
            weight = trust[x][1] * trust[y][1]
            seen[0][r] += weight
            for other in there[trust[x][0], trust[y][0]]:
                count[r, other] += weight
    for x, r, y in both_ways(triples[1]):
        if x in back and y in back:
            seen[1][r] += back[x][1] * back[y][1]
    agreement = relation_agreement(source, target, anchors)
    expected = np.zeros((2 * RELATIONS, 2 * RELATIONS))
    for (r, other), weight in count.items():
        expected[r, other] = weight / (min(seen[0][r], seen[1][other]) + SMOOTHING)
    agreement_of = agreement.to_dense()
    np.testing.assert_allclose(agreement_of, np.minimum(expected, 1), rtol=1e-5)

    sums = np.zeros((NODES, NODES))
    for x, r, y in both_ways(triples[0]):
        for candidate, other, counterpart in both_ways(triples[1]):
            if y in trust and counterpart == trust[y][0]:
                told = min(source.inverse_functionality[r], target.inverse_functionality[other])
                strength = trust[y][1] * agreement_of[r, other] * told
                sums[x, candidate] -= np.log(1 - min(strength, 0.99))
    nodes = {"shape": (NODES, NODES), "values": 0, "keys": np.arange(NODES, dtype=np.uint64)}
    edges = {"source": source, "target": target} | nodes
    kinds = {"source": np.zeros(NODES, np.int8), "target": np.zeros(NODES, np.int8)}
    found = neighbour_evidence(edges, links, agreement, kinds, Links.none(), NODES)
    np.testing.assert_allclose(found.to_dense(), 1 - np.exp(-sums), atol=1e-5)

    kinds = {side: random.integers(-1, 2, NODES).astype(np.int8) for side in kinds}
    paired = kinds["source"][:, None] == kinds["target"]
    sums[~paired | (kinds["source"] < 0)[:, None]] = 0
    found = neighbour_evidence(edges, links, agreement, kinds, Links.none(), NODES)
    np.testing.assert_allclose(found.to_dense(), 1 - np.exp(-sums), atol=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_witnesses_does_not_matter(seed: int) -> None:
    count = 300
    first = [[0, place, 2 + place] for place in range(count)]
    second = [[1, place, 2 + count + place] for place in range(count)]
    side = Edges.of(np.array(first + second, np.int32), 2 + 2 * count, count)
    nodes = {"shape": (side.nodes, side.nodes), "values": 0, "keys": np.arange(side.nodes, dtype=np.uint64)}
    kinds = {name: np.zeros(side.nodes, np.int8) for name in ("source", "target")}
    agreement = Similarity.from_entries(range(2 * count), range(2 * count), [1] * 2 * count, (2 * count,) * 2)
    trust = np.random.default_rng(seed).uniform(0.001, 0.01, count)
    anchored = np.arange(2, side.nodes)
    anchors = Links(np.column_stack([anchored, anchored]), np.concatenate([trust, trust[::-1]]))
    found = neighbour_evidence(
        {"source": side, "target": side} | nodes, anchors, agreement, kinds, Links.none(), 5
    )
    one, other = found.to_dense()[[0, 1], [0, 1]]
    assert one == other
    assert one == pytest.approx(1 - np.prod(1 - trust), abs=1e-4)


@pytest.mark.parametrize(("spokes", "found"), [(MAX_FAN, 5 * MAX_FAN), (MAX_FAN + 1, 0)])
def test_the_neighbours_of_a_hub_are_not_compared_with_each_other(spokes: int, found: int) -> None:
    triples = np.array([[0, 0, spoke] for spoke in range(1, spokes + 1)], np.int32)
    side = Edges.of(triples, spokes + 1, 1)
    nodes = {"shape": (spokes + 1,) * 2, "values": 0, "keys": np.arange(spokes + 1, dtype=np.uint64)}
    kinds = {name: np.zeros(spokes + 1, np.int8) for name in ("source", "target")}
    agreement = Similarity.from_entries([0, 1], [0, 1], [1, 1], (2, 2))
    edges = {"source": side, "target": side} | nodes
    hubs = Links(np.array([[0, 0]]), np.ones(1))
    assert len(neighbour_evidence(edges, hubs, agreement, kinds, Links.none(), 5)) == found


def test_surroundings_recover_a_copy() -> None:
    """A graph and its copy with other ids, a third of them known: the rest is found."""
    triples = random_triples(3, 400)
    order = np.random.default_rng(4).permutation(NODES)
    copy = np.column_stack([order[triples[:, 0]], triples[:, 1], order[triples[:, 2]]]).astype(np.int32)
    source, target = Edges.of(triples, NODES, RELATIONS), Edges.of(copy, NODES, RELATIONS)
    known = np.arange(20)
    anchors = Anchors.of(Links(np.column_stack([known, order[known]])), NODES, NODES)
    sketches = Sketches(
        LabelledGraphs.of(source, target, anchors, relation_agreement(source, target, anchors))
    )
    vectors = sketches.vectors(4)
    best = (vectors[0] @ vectors[1].T).argmax(axis=1)
    assert (best == order).mean() > 0.95
    every = Similarity.from_entries(
        *np.indices((NODES, NODES)).reshape(2, -1), np.ones(NODES**2), (NODES, NODES)
    )
    vectors = sketches.vectors(FIRST_SKETCHES)
    cosines = sketches.cosines(every, FIRST_SKETCHES).reshape(NODES, NODES)
    removed = (np.arange(NODES) < 20)[:, None] + np.isin(np.arange(NODES), order[known]).astype(float)
    removed[known, order[known]] = 0
    kept = (1 - 1 / HEAD_WIDTH) ** (removed / 2)
    np.testing.assert_allclose(cosines, np.clip(vectors[0] @ vectors[1].T / kept, 0, 1), atol=1e-4)


def test_values_are_compared_by_what_they_mean() -> None:
    told = comparable(
        strings([" Paris", "PARIS", "1.50", "+1.5", "1999-01-02T00:00:00Z", "1999-01-02", "", None])
    )
    assert told[0] == told[1]
    assert told[2] == told[3]
    assert told[4] == told[5]
    assert told[6].as_py() is None
    assert told[7].as_py() is None


def literals(rows: list[list[int]], values: list[str]) -> Attributes:
    return Attributes(np.array(rows, np.int32), strings(["p"]), strings(values), strings([""]))


def test_only_values_of_both_graphs_count() -> None:
    source = graph(random_triples(0), attributes=literals([[0, 0, 0, 0], [1, 0, 1, 0]], ["A1", "lonely"]))
    target = graph(random_triples(1), attributes=literals([[5, 0, 0, 0]], ["a1 "]))
    ours, theirs, values = shared_values(source, target)
    assert (ours.tolist(), theirs.tolist(), values.to_pylist()) == ([[0, 0, 0]], [[5, 0, 0]], ["a1"])


@pytest.mark.parametrize("seeds", [0, 10])
def test_equal_literals_find_counterparts_without_names(seeds: int) -> None:
    """A code that each entity has on both sides, no names, no triples: rare values are enough."""
    rows = [[i, 0, i, 0] for i in range(NODES)]
    codes = [f"code {i}" for i in range(NODES)]
    nothing = np.empty((0, 3), np.int32)
    order = np.random.default_rng(5).permutation(NODES)
    task = Task(
        graph(nothing, attributes=literals(rows, codes)),
        graph(nothing, attributes=literals(rows, [codes[i] for i in np.argsort(order)])),
        Links(np.column_stack([np.arange(seeds), order[:seeds]])),
    )
    best, _ = self_trained(task, None, EvidenceConfig(rounds=3)).fused.value.best()
    assert (best[seeds:] == order[seeds:]).all()


def test_literals_of_no_weight_are_not_compared() -> None:
    rows, codes = [[i, 0, i, 0] for i in range(NODES)], [f"code {i}" for i in range(NODES)]
    same = graph(random_triples(6, 500), attributes=literals(rows, codes))
    names = name_scores(np.column_stack([np.arange(30), np.arange(30)]))
    for config in (EvidenceConfig(rounds=1, literals=False), EvidenceConfig(rounds=1, literal_weight=0)):
        assert set(self_trained(Task(same, same), names, config).channels) == {
            "name",
            "neighbours",
            "surroundings",
        }
    assert "literals" in self_trained(Task(same, same), names, EvidenceConfig(rounds=1)).channels


def name_scores(pairs: np.ndarray, score: float = 0.9) -> Similarity:
    return Similarity.from_entries(pairs[:, 0], pairs[:, 1], np.full(len(pairs), score), (NODES, NODES))


def test_rounds_find_what_names_do_not() -> None:
    """Half of the entities have a telling name; structure finds the other half, without any label."""
    triples = random_triples(6, 500)
    order = np.random.default_rng(7).permutation(NODES)
    copy = np.column_stack([order[triples[:, 0]], triples[:, 1], order[triples[:, 2]]]).astype(np.int32)
    task = Task(graph(triples), graph(copy))
    half = np.arange(0, NODES, 2)
    names = name_scores(np.column_stack([half, order[half]]))
    config = EvidenceConfig(rounds=4)
    rounds = self_trained(task, names, config)
    best, _ = rounds.fused.value.best()
    assert (best == order).mean() > 0.95
    assert structure_worth(rounds, config) > 0.5


def test_shuffled_names_are_noticed() -> None:
    triples = random_triples(6, 500)
    order = np.random.default_rng(8).permutation(NODES)
    wrong = np.column_stack([np.arange(NODES), np.random.default_rng(9).permutation(NODES)])
    copy = np.column_stack([order[triples[:, 0]], triples[:, 1], order[triples[:, 2]]]).astype(np.int32)
    config = EvidenceConfig(rounds=3)
    rounds = self_trained(Task(graph(triples), graph(copy)), name_scores(wrong), config)
    assert structure_worth(rounds, config) < 0.25


def test_the_same_seed_gives_the_same_bytes() -> None:
    triples = random_triples(6, 500)
    task = Task(graph(triples), graph(triples))
    names = name_scores(np.column_stack([np.arange(30), np.arange(30)]))
    runs = [self_trained(task, names, EvidenceConfig(rounds=2), 3) for _ in range(2)]
    for kind in runs[0].channels:
        one, two = (rounds.channels[kind].value for rounds in runs)
        assert pa.array(one.scores).equals(pa.array(two.scores))
    assert runs[0].weights == runs[1].weights


# An anchor does not confirm itself


def test_labels_belong_to_iris() -> None:
    """A new anchor without edges, in front of all others, changes no cosine of others."""
    triples = random_triples(3, 300)
    order = np.random.default_rng(4).permutation(NODES)
    copy = np.column_stack([order[triples[:, 0]], triples[:, 1], order[triples[:, 2]]]).astype(np.int32)

    def surroundings(new: int) -> np.ndarray:
        """With so many more entities on both sides, which are anchors without edges."""
        nodes = NODES + new
        iris = strings([*(f"a{i}" for i in range(new)), *(f"e{i}" for i in range(NODES))])
        source = replace(graph(np.add(triples, [new, 0, new]).astype(np.int32), nodes), entities=iris)
        edges = evidence_edges(source, graph(copy, nodes), False)
        pairs = [[i, NODES + i] for i in range(new)] + [[new + i, order[i]] for i in range(20)]
        anchors = Links(np.array(pairs), np.ones(len(pairs)))
        every = Similarity.from_scipy(np.ones((nodes, nodes), np.float32))
        agreement = learn_agreement(edges, anchors)
        found = surroundings_evidence(edges, anchors, agreement, [every], nodes, 2, 64, 0)
        return found.to_dense()[new:, :NODES]

    np.testing.assert_allclose(surroundings(2), surroundings(0), atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_wrong_anchor_does_not_confirm_itself(seed: int) -> None:
    """What surroundings say for a wrong pair is the same whether it is an anchor or not."""
    triples = random_triples(10 + seed, 300)
    order = np.random.default_rng(20 + seed).permutation(NODES)
    copy = np.column_stack([order[triples[:, 0]], triples[:, 1], order[triples[:, 2]]]).astype(np.int32)
    edges = evidence_edges(graph(triples), graph(copy), False)
    right = np.column_stack([np.arange(2, 50), order[2:50]])
    wrong = np.array([[0, order[1]], [1, order[0]]])
    every = Similarity.from_scipy(np.ones((NODES, NODES), np.float32))

    def surroundings(pairs: np.ndarray) -> Similarity:
        anchors = Links(pairs, np.ones(len(pairs)))
        agreement = learn_agreement(edges, anchors)
        return surroundings_evidence(edges, anchors, agreement, [every], NODES, 8, 64, 0)

    without = surroundings(right)
    for one in wrong:
        as_anchor = surroundings(np.concatenate([right, [one]]))
        before, after = (float(found.score_of(Links(one[None]))[0]) for found in (without, as_anchor))
        assert after == pytest.approx(before, abs=0.1)
        own = np.array([[one[0], order[one[0]]]])
        assert float(as_anchor.score_of(Links(own))[0]) > after, "the right one still looks better"


def test_labels_are_removed_part_by_part() -> None:
    random = np.random.default_rng(0)
    vector = random.standard_normal(64).astype(np.float32)
    label = random.choice([-1, 1], 32).astype(np.float32)
    before = vector.copy()
    left = remove_label(vector.reshape(-1, 16), label.reshape(-1, 16))
    assert left == pytest.approx(vector @ vector, rel=1e-5)
    for start in range(0, 64, 16):
        part, own = vector[start : start + 16], label[start % 32 : start % 32 + 16]
        assert abs(part @ own) < 1e-4
        removed = before[start : start + 16] - part
        np.testing.assert_allclose(removed, own * (removed @ own) / (own @ own), atol=1e-5)


def test_nothing_is_left_of_a_vector_that_is_little_else_than_the_label() -> None:
    label = np.random.default_rng(0).choice([-1, 1], 32).astype(np.float32)
    vector = np.tile(label, 2)
    vector[0] += 0.01
    assert remove_label(vector.reshape(-1, 16), label.reshape(-1, 16)) == 0
