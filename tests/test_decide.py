from __future__ import annotations

from typing import Literal

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.alignment import Alignment
from largeea.assignment import exact_one_to_one
from largeea.config import DecisionConfig
from largeea.decide import decide, greedy_one_to_one
from largeea.graph import KnowledgeGraph, Links, Task, strings
from largeea.progress import listening
from largeea.similarity import Similarity

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
quarters = st.integers(-2, 4).map(lambda n: n / 4)


def graph(anonymous: list[bool]) -> KnowledgeGraph:
    entities = [f"_:{i}" if blank else f"urn:{i}" for i, blank in enumerate(anonymous)]
    return KnowledgeGraph(strings(entities), strings([None] * len(entities)), strings(), np.empty((0, 3)))


def similarity(entries: dict[tuple[int, int], float], shape: tuple[int, int]) -> Similarity:
    rows, columns = [r for r, _ in entries], [c for _, c in entries]
    return Similarity.from_entries(rows, columns, list(entries.values()), shape)


@st.composite
def similarities(draw: st.DrawFn, shape: tuple[int, int] | None = None) -> Similarity:
    shape = shape or draw(st.tuples(st.integers(0, 6), st.integers(0, 6)))
    rows, columns = draw(hnp.arrays(bool, shape)).nonzero()
    return Similarity.from_entries(
        rows, columns, draw(hnp.arrays(float, len(rows), elements=quarters)), shape
    )


@st.composite
def tasks(draw: st.DrawFn) -> Task:
    """Graphs with blank nodes, and seeds that repeat, contradict each other and name blank nodes."""
    source, target = (graph(draw(st.lists(st.booleans(), max_size=6))) for _ in range(2))
    ends = st.tuples(st.integers(0, max(source.size - 1, 0)), st.integers(0, max(target.size - 1, 0)))
    seeds = draw(st.lists(ends, max_size=4)) if source.size and target.size else []
    weight = draw(st.none() | st.just(np.linspace(0.5, 1, len(seeds))))
    return Task(source, target, Links(np.array(seeds).reshape(-1, 2), weight))


@st.composite
def decided(draw: st.DrawFn) -> tuple[Task, Similarity, Similarity, DecisionConfig, Alignment]:
    task = draw(tasks())
    fused, names = (draw(similarities((task.source.size, task.target.size))) for _ in range(2))
    accept, assignment = draw(st.sampled_from([0, 0.5, 1])), draw(st.sampled_from(["mutual", "exact"]))
    config = DecisionConfig(accept=accept, assignment=assignment)
    return task, fused, names, config, decide(task, fused, {"name": names}, config)


# Greedy


@often
@given(similarities())
def test_greedy_is_the_best_of_what_is_left_again_and_again(scores: Similarity) -> None:
    left = {
        (int(r), int(c)): float(s) for r, c, s in zip(scores.rows, scores.indices, scores.scores, strict=True)
    }
    expected = []
    while left:
        best = min(left, key=lambda place: (-left[place], place))
        expected.append(list(best))
        left = {place: s for place, s in left.items() if place[0] != best[0] and place[1] != best[1]}
    assert greedy_one_to_one(scores).pairs.tolist() == expected


def test_greedy_takes_a_long_chain_in_one_go() -> None:
    """Each pair is the best only after the one before it has gone: n rounds, were it done in rounds."""
    n = 50_000
    step = np.arange(2 * n - 1)
    chain = Similarity.from_entries((step + 1) // 2, step // 2, 1 - step / (2 * n), (n, n))
    taken = greedy_one_to_one(chain)
    assert taken.pairs.tolist() == [[i, i] for i in range(n)]


# Decide


@often
@given(decided())
def test_every_answer_is_one_to_one_and_leaves_blank_nodes_alone(
    case: tuple[Task, object, object, object, Alignment],
) -> None:
    task, *_, alignment = case
    source, target = alignment.pairs.T
    assert len(set(source)) == len(set(target)) == len(alignment.pairs)
    assert not task.source.anonymous[source].any()
    assert not task.target.anonymous[target].any()


@often
@given(decided())
def test_seeds_come_first_and_are_certain(case: tuple[Task, object, object, object, Alignment]) -> None:
    task, *_, alignment = case
    confidence = dict(zip(map(tuple, alignment.pairs.tolist()), alignment.confidence.tolist(), strict=True))
    linked = set(map(tuple, alignment.links.pairs.tolist()))
    usable = [
        (s, t)
        for s, t in task.seeds.pairs.tolist()
        if not (task.source.anonymous[s] or task.target.anonymous[t])
    ]
    for seed in usable:
        rivals = [other for other in usable if other != seed and (other[0] == seed[0] or other[1] == seed[1])]
        if not rivals:
            assert seed in linked
            assert confidence[seed] == 1
        assert seed in linked or any(rival in linked for rival in rivals)


@often
@given(decided())
def test_what_is_accepted(case: tuple[Task, Similarity, Similarity, DecisionConfig, Alignment]) -> None:
    task, fused, names, config, alignment = case
    seeds = set(map(tuple, task.seeds.pairs.tolist()))
    taken = [pair for pair in map(tuple, alignment.links.pairs.tolist()) if pair in seeds]
    sources, targets = ~task.source.anonymous, ~task.target.anonymous
    sources[[s for s, _ in taken]], targets[[t for _, t in taken]] = False, False
    choose = exact_one_to_one if config.assignment == "exact" else Similarity.mutual_best
    chosen = set(map(tuple, choose(fused.restrict(sources, targets)).pairs.tolist()))
    evidence = np.clip(names.score_of(Links(alignment.pairs)), 0, 1)
    np.testing.assert_array_equal(alignment.evidence["name"], evidence)
    for pair, confidence, accepted, name in zip(
        map(tuple, alignment.pairs.tolist()), alignment.confidence, alignment.accepted, evidence, strict=True
    ):
        if pair in taken:
            continue
        assert confidence == name
        assert accepted == (pair in chosen and confidence >= config.accept)
    assert chosen <= set(map(tuple, alignment.pairs.tolist()))


@often
@given(decided())
def test_best_first(case: tuple[object, object, object, object, Alignment]) -> None:
    alignment = case[-1]
    keys = [
        (not accepted, -confidence, *pair)
        for accepted, confidence, pair in zip(
            alignment.accepted, alignment.confidence, alignment.pairs.tolist(), strict=True
        )
    ]
    assert keys == sorted(keys)


def test_no_candidate_is_wasted() -> None:
    """A pair that is nobody's best is still shown for review when both ends have nothing else."""
    fused = similarity({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.7, (1, 1): 0.1}, (2, 2))
    alignment = decide(Task(graph([False] * 2), graph([False] * 2)), fused, {"name": fused}, DecisionConfig())
    assert alignment.pairs.tolist() == [[0, 0], [1, 1]]
    assert alignment.accepted.tolist() == [True, False]


@pytest.mark.parametrize(
    ("assignment", "pairs", "accepted"),
    [("mutual", [[0, 0], [1, 1]], [True, False]), ("exact", [[0, 1], [1, 0]], [True, True])],
)
def test_the_assignment_can_be_chosen(
    assignment: Literal["mutual", "exact"], pairs: list[list[int]], accepted: list[bool]
) -> None:
    """Exact pairs need not be each other's best to be accepted; the highest sum of scores speaks for them."""
    fused = similarity({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.7, (1, 1): 0.1}, (2, 2))
    task, config = Task(graph([False] * 2), graph([False] * 2)), DecisionConfig(assignment=assignment)
    alignment = decide(task, fused, {"name": fused}, config)
    assert alignment.pairs.tolist() == pairs
    assert alignment.accepted.tolist() == accepted


def test_exact_pairs_of_little_confidence_are_for_review() -> None:
    fused = similarity({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.4, (1, 1): 0.1}, (2, 2))
    config = DecisionConfig(assignment="exact")
    alignment = decide(Task(graph([False] * 2), graph([False] * 2)), fused, {"name": fused}, config)
    assert alignment.pairs.tolist() == [[0, 1], [1, 0]]
    assert alignment.accepted.tolist() == [True, False]


def test_confidence_is_the_mean_of_the_evidence() -> None:
    task = Task(graph([False]), graph([False]))
    fused = similarity({(0, 0): -3}, (1, 1))
    evidence = {"name": similarity({(0, 0): 1.5}, (1, 1)), "structure": similarity({(0, 0): 0.25}, (1, 1))}
    alignment = decide(task, fused, evidence, DecisionConfig())
    assert alignment.confidence.tolist() == [0.625]
    assert {name: column.tolist() for name, column in alignment.evidence.items()} == {
        "name": [1.0],
        "structure": [0.25],
    }


def test_the_weightier_of_two_seeds_wins() -> None:
    task = Task(
        graph([False] * 2), graph([False] * 2), Links(np.array([[0, 0], [0, 1]]), np.array([0.5, 0.9]))
    )
    nothing = Similarity.empty((2, 2))
    assert decide(task, nothing, {"name": nothing}, DecisionConfig()).links.pairs.tolist() == [[0, 1]]


class Notes:
    def __init__(self) -> None:
        self.said: list[str] = []

    def note(self, message: str) -> None:
        self.said.append(message)


@pytest.mark.parametrize(
    ("seeds", "left_out"), [([[0, 0], [0, 0]], 0), ([[0, 0], [0, 1], [2, 1]], 2), ([[1, 1]], 0)]
)
def test_seeds_left_out_are_told(seeds: list[list[int]], left_out: int) -> None:
    task = Task(graph([False, False, True]), graph([False] * 3), Links(np.array(seeds)))
    nothing, notes = Similarity.empty((3, 3)), Notes()
    with listening(notes):  # type: ignore[arg-type]
        decide(task, nothing, {"name": nothing}, DecisionConfig())
    assert len(notes.said) == bool(left_out)
    assert all(note.startswith(f"{left_out} seeds are left out") for note in notes.said)


def test_greedy_pairs_do_not_depend_on_how_many_are_looked_at_together(monkeypatch):
    random = np.random.default_rng(0)
    scores = random.integers(0, 4, (30, 40)).astype(np.float32)
    everything = Similarity.from_entries(
        *np.indices(scores.shape).reshape(2, -1), scores.ravel(), scores.shape
    )
    at_once = greedy_one_to_one(everything).pairs.tolist()
    assert len(at_once) == 30
    monkeypatch.setattr("largeea.decide.AT_ONCE", 7)
    assert greedy_one_to_one(everything).pairs.tolist() == at_once
