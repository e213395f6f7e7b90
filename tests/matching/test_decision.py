from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import LargeEAWarning
from largeea.graph import KnowledgeGraph, Links, Role, Task, strings
from largeea.matching.alignment import Alignment
from largeea.matching.assignment import exact_one_to_one
from largeea.matching.decision import (
    LEAST_BALANCED,
    balanced,
    decide,
    decided_arrays,
    greedy_one_to_one,
)
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


def decision(
    task: Task, fused: Similarity, channels: dict[str, Similarity], **settings: Any
) -> tuple[Alignment, list[str]]:
    """The answer, and the warnings that came with it."""
    chosen = {"features": {}, "likelihood": None, "threshold": 0.5, "doubtful": 0.0} | settings
    same = chosen.pop("same", Links.none())
    with warnings.catch_warnings(record=True, category=LargeEAWarning) as told:
        warnings.simplefilter("always")
        answer = decide(
            task.source, task.target, task.seeds, same, fused, channels, **{"assignment": "mutual"} | chosen
        )
    return answer, [str(warning.message) for warning in told]


@st.composite
def decided(draw: st.DrawFn) -> tuple[Task, Similarity, Similarity, dict[str, Any], Alignment]:
    task = draw(tasks())
    fused, names = (draw(similarities((task.source.size, task.target.size))) for _ in range(2))
    threshold, assignment = draw(st.sampled_from([0, 0.5, 1])), draw(st.sampled_from(["mutual", "exact"]))
    how = {"threshold": threshold, "doubtful": draw(st.sampled_from([0, 0.25])), "assignment": assignment}
    return task, fused, names, how, decision(task, fused, {"name": names}, **how)[0]


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
def test_what_is_accepted(case: tuple[Task, Similarity, Similarity, dict[str, Any], Alignment]) -> None:
    task, fused, names, how, alignment = case
    seeds = set(map(tuple, task.seeds.pairs.tolist()))
    taken = [pair for pair in map(tuple, alignment.links.pairs.tolist()) if pair in seeds]
    sources, targets = ~task.source.anonymous, ~task.target.anonymous
    sources[[s for s, _ in taken]], targets[[t for _, t in taken]] = False, False
    choose = exact_one_to_one if how["assignment"] == "exact" else Similarity.mutual_best
    chosen = set(map(tuple, choose(fused.restrict(sources, targets)).pairs.tolist()))
    evidence = np.clip(names.score_of(Links(alignment.pairs)), 0, 1)
    np.testing.assert_array_equal(alignment.evidence["name"], evidence)
    for pair, confidence, accepted, name in zip(
        map(tuple, alignment.pairs.tolist()), alignment.confidence, alignment.accepted, evidence, strict=True
    ):
        if pair in taken:
            continue
        assert confidence == name
        assert accepted == (pair in chosen and confidence >= (how["threshold"] or 0.5))
        assert accepted or confidence >= how["doubtful"]
    pairs = np.array(sorted(chosen)).reshape(-1, 2)
    shown = np.clip(names.score_of(Links(pairs)), 0, 1) >= min(how["threshold"] or 0.5, how["doubtful"])
    assert set(map(tuple, pairs[shown].tolist())) <= set(map(tuple, alignment.pairs.tolist()))


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
    """A pair that is nobody's best is still shown as doubtful when both ends have nothing else."""
    fused = similarity({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.7, (1, 1): 0.1}, (2, 2))
    alignment, _ = decision(Task(graph([False] * 2), graph([False] * 2)), fused, {"name": fused})
    assert alignment.pairs.tolist() == [[0, 0], [1, 1]]
    assert alignment.accepted.tolist() == [True, False]


@pytest.mark.parametrize(
    ("assignment", "pairs", "accepted"),
    [("mutual", [[0, 0], [1, 1]], [True, False]), ("exact", [[0, 1], [1, 0]], [True, True])],
)
def test_the_assignment_can_be_chosen(assignment: str, pairs: list[list[int]], accepted: list[bool]) -> None:
    """Exact pairs need not be each other's best to be accepted; the highest sum of scores speaks for them."""
    fused = similarity({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.7, (1, 1): 0.1}, (2, 2))
    task = Task(graph([False] * 2), graph([False] * 2))
    alignment, _ = decision(task, fused, {"name": fused}, assignment=assignment)
    assert alignment.pairs.tolist() == pairs
    assert alignment.accepted.tolist() == accepted


def test_exact_pairs_of_little_confidence_are_doubtful() -> None:
    fused = similarity({(0, 0): 0.9, (0, 1): 0.8, (1, 0): 0.4, (1, 1): 0.1}, (2, 2))
    task = Task(graph([False] * 2), graph([False] * 2))
    alignment, _ = decision(task, fused, {"name": fused}, assignment="exact")
    assert alignment.pairs.tolist() == [[0, 1], [1, 0]]
    assert alignment.accepted.tolist() == [True, False]


def test_confidence_is_the_mean_of_the_evidence() -> None:
    task = Task(graph([False]), graph([False]))
    fused = similarity({(0, 0): -3}, (1, 1))
    evidence = {"name": similarity({(0, 0): 1.5}, (1, 1)), "structure": similarity({(0, 0): 0.25}, (1, 1))}
    alignment, _ = decision(task, fused, evidence)
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
    answer, _ = decision(task, nothing, {"name": nothing})
    assert answer.links.pairs.tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("seeds", "left_out"), [([[0, 0], [0, 0]], 0), ([[0, 0], [0, 1], [2, 1]], 2), ([[1, 1]], 0)]
)
def test_seeds_left_out_are_told(seeds: list[list[int]], left_out: int) -> None:
    task = Task(graph([False, False, True]), graph([False] * 3), Links(np.array(seeds)))
    nothing = Similarity.empty((3, 3))
    _, told = decision(task, nothing, {"name": nothing})
    assert len(told) == bool(left_out)
    assert all(warning.startswith(f"{left_out} seeds are left out") for warning in told)


def test_features_are_shown_but_do_not_decide() -> None:
    task = Task(graph([False]), graph([False]))
    fused = similarity({(0, 0): 0.8}, (1, 1))
    features = {"strings": similarity({(0, 0): 0.125}, (1, 1))}
    alignment, _ = decision(task, fused, {"name": fused}, features=features)
    assert alignment.confidence.tolist() == [np.float32(0.8)]
    assert alignment.evidence["strings"].tolist() == [0.125]


# Likelihood


def diagonal(values: list[float]) -> Similarity:
    return similarity({(place, place): value for place, value in enumerate(values)}, (len(values),) * 2)


def judged(likely: list[float], **settings: Any) -> tuple[list[bool], list[str]]:
    """Which of the pairs on a diagonal are accepted, given how likely each is."""
    task = Task(graph([False] * len(likely)), graph([False] * len(likely)))
    names = diagonal([1.0] * len(likely))
    alignment, told = decision(task, names, {"name": names}, likelihood=diagonal(likely), **settings)
    assert sorted(alignment.confidence.tolist(), reverse=True) == alignment.confidence.tolist()
    linked = alignment.links.source.tolist()
    return [place in linked for place in range(len(likely))], told


def test_a_likelihood_is_the_confidence() -> None:
    assert judged([0.95, 0.4, 0.99]) == ([True, False, True], [])
    assert judged([0.95, 0.4, 0.99], threshold=0.98) == ([False, False, True], [])


def test_a_pair_is_accepted_from_the_threshold_on() -> None:
    below = float(np.nextafter(np.float32(0.5), np.float32(0)))
    assert judged([0.5, below]) == ([True, False], [])
    assert judged([0.5, below], threshold=0.75)[0] == [False, False]


def test_doubtful_pairs_are_kept_and_those_below_have_no_counterpart() -> None:
    task = Task(graph([False] * 4), graph([False] * 4))
    names, likely = diagonal([1.0] * 4), diagonal([0.25, 0.9, 0.125, 0.0625])
    alignment, _ = decision(task, names, {"name": names}, likelihood=likely, doubtful=0.125)
    assert alignment.pairs.tolist() == [[1, 1], [0, 0], [2, 2]]
    assert alignment.accepted.tolist() == [True, False, False]
    assert alignment.unmatched_source_ids.tolist() == alignment.unmatched_target_ids.tolist() == [3]


def test_the_doubtful_limit_does_not_hold_for_accepted_pairs() -> None:
    """A threshold below the limit wins: what is accepted is shown."""
    task = Task(graph([False] * 2), graph([False] * 2))
    names = diagonal([1.0] * 2)
    alignment, _ = decision(
        task, names, {"name": names}, likelihood=diagonal([0.25, 0.125]), threshold=0.25, doubtful=0.75
    )
    assert alignment.pairs.tolist() == alignment.links.pairs.tolist() == [[0, 0]]


def test_an_answer_of_which_nothing_is_accepted_is_told() -> None:
    accepted, told = judged([0.4, 0.45])
    assert accepted == [False, False]
    assert told == [
        "no pair reaches the confidence 0.50; the highest is 0.45: names, attributes and structure do not "
        "tell right pairs from wrong ones here; check the names (largeea inspect), give seeds, or lower "
        "the threshold"
    ]
    assert judged([])[1] == [], "where there is nothing to accept, nothing is wrong"


def test_seeds_do_not_count_as_accepted_for_the_warning() -> None:
    task = Task(graph([False] * 2), graph([False] * 2), Links(np.array([[0, 0]])))
    names = diagonal([1.0, 1.0])
    alignment, told = decision(task, names, {"name": names}, likelihood=diagonal([1.0, 0.2]))
    assert alignment.links.pairs.tolist() == [[0, 0]]
    assert alignment.confidence.tolist() == [1, np.float32(0.2)]
    assert len(told) == 1
    assert "the highest is 0.20" in told[0]


@pytest.mark.parametrize(
    ("left", "told"),
    [
        (0, []),
        (1, []),
        (3, ["besides the 40 given pairs, no pair reaches the confidence 0.50; the highest is 0.20"]),
    ],
)
def test_where_most_pairs_are_given_doubt_about_the_others_is_told_plainly(
    left: int, told: list[str]
) -> None:
    """As when the answer of a run is given back as seeds: names do tell right pairs from wrong ones."""
    given, size = 40, 40 + left
    plain = graph([False] * size)
    task = Task(plain, plain, Links(np.column_stack([np.arange(given)] * 2)))
    likely = diagonal([1.0] * given + [0.2] * left)
    alignment, heard = decision(task, diagonal([1.0] * size), {"name": likely}, likelihood=likely)
    assert len(alignment) == given
    assert heard == told


def test_a_few_seeds_do_not_excuse_an_answer_without_pairs() -> None:
    task = Task(graph([False] * 4), graph([False] * 4), Links(np.array([[0, 0]])))
    names = diagonal([1.0] * 4)
    _, told = decision(task, names, {"name": names}, likelihood=diagonal([1.0, 0.2, 0.1, 0.1]))
    assert len(told) == 1
    assert told[0].startswith("no pair reaches the confidence 0.50; the highest is 0.20: names")


def test_seeds_are_accepted_whatever_their_likelihood() -> None:
    task = Task(graph([False] * 2), graph([False] * 2), Links(np.array([[0, 0]])))
    names = diagonal([1.0, 1.0])
    alignment, told = decision(task, names, {"name": names}, likelihood=diagonal([0.0, 0.9]), doubtful=0.5)
    assert alignment.links.pairs.tolist() == [[0, 0], [1, 1]]
    assert alignment.confidence.tolist() == [1, np.float32(0.9)]
    assert told == []


# Threshold by expected F1


@often
@given(st.lists(st.floats(0, 1, width=32), max_size=12))
def test_the_balanced_threshold_has_about_the_highest_expected_f1(chances: list[float]) -> None:
    confidence = np.array(chances, np.float32)
    threshold = balanced(confidence)
    error = np.sqrt((confidence * (1 - confidence)).sum(dtype=np.float64))

    def counted(limit: float) -> float:
        return (confidence >= limit).sum() + confidence.sum(dtype=np.float64) or 1

    def expected_f1(limit: float) -> float:
        return 2 * float(confidence[confidence >= limit].sum(dtype=np.float64)) / counted(limit)

    assert LEAST_BALANCED <= threshold <= max(chances, default=0) or threshold == LEAST_BALANCED
    best = max((expected_f1(limit) for limit in confidence), default=0)
    if threshold > LEAST_BALANCED:
        assert expected_f1(threshold) >= best - 2 * error / counted(threshold) - 1e-6
        for lower in confidence[confidence < threshold]:
            assert expected_f1(lower) < best - 2 * error / counted(lower) + 1e-6


def test_more_pairs_are_accepted_where_few_can_tell_the_best_threshold() -> None:
    """The same chances: of 10 pairs nobody can tell, of 10,000 one can."""
    few = np.repeat([0.95, 0.36], 5).astype(np.float32)
    assert balanced(few) == pytest.approx(0.36)
    assert balanced(np.tile(few, 1000)) == pytest.approx(0.95)


def test_pairs_that_are_hardly_likely_are_not_accepted_where_nothing_is_better() -> None:
    accepted, told = judged([0.9 * LEAST_BALANCED] * 5, threshold=0.0)
    assert not any(accepted)
    assert f"no pair reaches the confidence {LEAST_BALANCED:.2f}" in told[0]


def test_a_threshold_of_0_is_balanced_by_likelihood() -> None:
    """0.45 is accepted beside sure pairs because it is more likely right than half of the F1."""
    assert judged([1.0, 0.9, 0.45, 0.2], threshold=0.0)[0] == [True, True, True, False]
    assert judged([1.0, 0.9, 0.45, 0.2], threshold=0.5)[0] == [True, True, False, False]


def test_the_answer_as_arrays() -> None:
    names = diagonal([1.0, 0.7])
    plain = graph([False] * 2)
    seeds = same = Links.none()
    arguments = plain, plain, seeds, same, names, {"name": names}, {}, None, 0.5, 0.1, "mutual"
    arrays = decided_arrays(*arguments)
    assert Alignment.from_arrays(plain, plain, arrays).to_table() == decide(*arguments).to_table()


@pytest.mark.parametrize("seed", range(5))
def test_greedy_pairs_are_those_of_a_full_sort(seed: int) -> None:
    """Scores are few, so that there are ties everywhere."""
    random = np.random.default_rng(seed)
    scores = random.integers(0, 4, (60, 50)).astype(np.float32)
    some = random.random(scores.shape) < 0.4
    everything = Similarity.from_entries(*np.nonzero(some), scores[some], scores.shape)
    sources, targets, expected = set[int](), set[int](), []
    for entry in np.argsort(-everything.scores, kind="stable"):
        pair = int(everything.rows[entry]), int(everything.indices[entry])
        if pair[0] not in sources and pair[1] not in targets:
            sources.add(pair[0])
            targets.add(pair[1])
            expected.append(list(pair))
    assert greedy_one_to_one(everything).pairs.tolist() == expected


# Scope


def with_roles(*roles: Role, kinds: tuple[int, ...] = (0, 1, 2, -1, -1)) -> KnowledgeGraph:
    plain = graph([False] * len(roles))
    return replace(plain, roles=np.array(roles, np.int8), kind_of_role=kinds)


def test_only_entities_of_equal_kind_are_paired() -> None:
    individual, a_class, term = Role.INDIVIDUAL, Role.CLASS, Role.VOCABULARY
    source, target = with_roles(individual, a_class, term), with_roles(a_class, individual, term)
    scores = similarity({(0, 0): 1, (0, 1): 0.6, (1, 0): 0.7, (1, 1): 1, (2, 2): 1}, (3, 3))
    alignment, _ = decision(Task(source, target), scores, {"name": scores})
    assert sorted(alignment.pairs.tolist()) == [[0, 1], [1, 0]]
    assert alignment.unmatched_source_ids.tolist() == []


def test_classes_are_paired_with_individuals_if_both_are_of_one_kind() -> None:
    source = with_roles(Role.INDIVIDUAL, kinds=(0, -1, -1, -1, -1))
    target = with_roles(Role.CLASS, kinds=(-1, 0, -1, -1, -1))
    alignment, _ = decision(Task(source, target), diagonal([1.0]), {"name": diagonal([1.0])})
    assert alignment.links.pairs.tolist() == [[0, 0]]


def test_entities_with_equal_iris_are_in_no_pair() -> None:
    task = Task(graph([False] * 3), graph([False] * 3), Links(np.array([[0, 1]])))
    scores = similarity({(0, 0): 1, (0, 1): 1, (1, 1): 1, (2, 2): 1}, (3, 3))
    same = Links(np.array([[0, 0]]))
    alignment, told = decision(task, scores, {"name": scores}, same=same)
    assert alignment.links.pairs.tolist() == [[1, 1], [2, 2]]
    assert alignment.same.pairs.tolist() == [[0, 0]]
    assert alignment.unmatched_source_ids.tolist() == []
    assert told[0].startswith("1 seeds are left out: they contradict other seeds or equal IRIs")
    again = Alignment.from_arrays(task.source, task.target, alignment.to_arrays())
    assert again.same.pairs.tolist() == [[0, 0]]


def test_equal_iris_of_terms_that_are_not_matched_are_not_told() -> None:
    source = target = with_roles(Role.VOCABULARY, Role.INDIVIDUAL)
    same = Links(np.array([[0, 0], [1, 1]]))
    nothing = similarity({}, (2, 2))
    alignment, _ = decision(Task(source, target), nothing, {"name": nothing}, same=same)
    assert alignment.same.pairs.tolist() == [[1, 1]]
    assert alignment.summary["same_iri"] == 1
