from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.evaluation import (
    PrecisionRecall,
    accepted_pairs,
    evaluate,
    no_counterpart,
    no_counterpart_reliability,
    pair_reliability,
    protocols,
    ranking,
    realistic_ranks,
)
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.matching.alignment import Alignment
from largeea.similarity import Similarity

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
Pairs = list[tuple[int, int]]


def graph(size: int, blank: int = 0) -> KnowledgeGraph:
    entities = [f"_:{i}" for i in range(blank)] + [f"urn:{i}" for i in range(blank, size)]
    return KnowledgeGraph(strings(entities), strings([None] * size), strings(), np.empty((0, 3)))


def links(pairs: Any) -> Links:
    return Links(np.array(pairs, int).reshape(-1, 2))


@st.composite
def problems(draw: st.DrawFn) -> tuple[Similarity, Links, Links]:
    """Scores with many ties, one-to-one links, some of them seeds."""
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    rows, columns = draw(hnp.arrays(bool, shape)).nonzero()
    scores = draw(hnp.arrays(float, len(rows), elements=st.sampled_from([-0.5, 0, 0.5, 1])))
    targets = draw(st.permutations(range(shape[1])))
    pairs = list(zip(range(shape[0]), targets, strict=False))
    seeds = draw(st.integers(0, len(pairs)))
    return (
        Similarity.from_entries(rows, columns, scores, shape),
        links(pairs[seeds:]),
        links(pairs[:seeds]),
    )


def dense_rank(similarity: Similarity, source: int, target: int, candidates: list[int]) -> float:
    """The mean of the best and the worst rank over all orders of ties; absent targets are not even ranked."""
    kept = {int(t): float(s) for t, s in zip(*similarity.row(source), strict=True) if t in candidates}
    if target not in kept:
        return np.inf
    optimistic = 1 + sum(score > kept[target] for score in kept.values())
    pessimistic = sum(score >= kept[target] for score in kept.values())
    return (optimistic + pessimistic) / 2


def dense_figures(ranks: list[float], worst: int) -> dict[str, float]:
    if not ranks:
        return {"hits@1": 0, "hits@5": 0, "hits@10": 0, "mrr": 0}
    hits = {f"hits@{k}": sum(rank <= k for rank in ranks) / len(ranks) for k in (1, 5, 10)}
    return {**hits, "mrr": sum(1 / min(rank, worst) for rank in ranks) / len(ranks)}


@often
@given(problems(), st.data())
def test_realistic_ranks(problem: tuple[Similarity, Links, Links], data: st.DataObject) -> None:
    similarity, test, _ = problem
    candidates = data.draw(hnp.arrays(bool, similarity.shape[1]))
    open_to = np.flatnonzero(candidates).tolist()
    expected = [dense_rank(similarity, s, t, open_to) for s, t in test.pairs.tolist()]
    assert realistic_ranks(similarity, test, candidates).tolist() == expected


@often
@given(problems())
def test_protocols_differ_in_their_candidates(problem: tuple[Similarity, Links, Links]) -> None:
    similarity, test, seeds = problem
    candidates = {
        "open": [t for t in range(similarity.shape[1]) if t not in seeds.target],
        "paper": test.target.tolist(),
    }
    figures = protocols(similarity, test, seeds)
    for protocol, open_to in candidates.items():
        ranks = [dense_rank(similarity, s, t, open_to) for s, t in test.pairs.tolist()]
        assert figures[protocol] == pytest.approx(dense_figures(ranks, len(open_to)))
    assert figures["open"]["mrr"] <= figures["paper"]["mrr"] + 1e-9


def test_a_known_case() -> None:
    """Source 0: tied first with one rival. Source 1: beaten by a seed's target. Source 2: was not kept."""
    similarity = Similarity.from_entries([0, 0, 1, 1, 2], [0, 3, 1, 4, 0], [0.5, 0.5, 0.2, 0.9, 0.1], (3, 5))
    figures = protocols(similarity, links([[0, 0], [1, 1], [2, 2]]), links([[3, 4]]))
    assert figures["open"] == pytest.approx(
        {"hits@1": 1 / 3, "hits@5": 2 / 3, "hits@10": 2 / 3, "mrr": (1 / 1.5 + 1 + 1 / 4) / 3}
    )
    assert figures["paper"] == pytest.approx(
        {"hits@1": 2 / 3, "hits@5": 2 / 3, "hits@10": 2 / 3, "mrr": (1 + 1 + 1 / 3) / 3}
    )


def test_only_targets_that_can_be_linked_are_ranked() -> None:
    """A blank node with the same score as the true target is no rival."""
    similarity = Similarity.from_entries([0, 0], [0, 1], [0.5, 0.5], (1, 2))
    linkable = np.array([False, True])
    assert protocols(similarity, links([[0, 1]]), Links.none())["open"]["hits@1"] == 0
    assert protocols(similarity, links([[0, 1]]), Links.none(), linkable)["open"]["hits@1"] == 1
    assert linkable.tolist() == [False, True]


def test_a_target_kept_at_the_floor_beats_one_that_was_not_kept() -> None:
    similarity = Similarity.from_entries([0, 1], [0, 1], [-1, -1], (2, 3), floor=-1)
    figures = ranking(similarity, links([[0, 0], [1, 2]]), np.ones(3, bool))
    assert figures == pytest.approx({"hits@1": 0.5, "hits@5": 0.5, "hits@10": 0.5, "mrr": (1 + 1 / 3) / 2})


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (3, 4)])
def test_nothing_to_rank(shape: tuple[int, int]) -> None:
    figures = protocols(Similarity.empty(shape), Links.none(), Links.none())
    assert figures == {p: {"hits@1": 0, "hits@5": 0, "hits@10": 0, "mrr": 0} for p in ("open", "paper")}


def test_nothing_was_kept() -> None:
    figures = protocols(Similarity.empty((2, 4)), links([[0, 0], [1, 1]]), Links.none())
    assert figures["open"] == {"hits@1": 0, "hits@5": 0, "hits@10": 0, "mrr": 1 / 4}
    assert figures["paper"]["mrr"] == 1 / 2


# The emitted alignment


@st.composite
def answers(draw: st.DrawFn) -> tuple[Alignment, Pairs, Pairs]:
    """An alignment, the true links with the seeds among them or not, and the seeds."""
    sizes = draw(st.tuples(st.integers(1, 6), st.integers(1, 6)))
    source, target = (graph(size, draw(st.integers(0, 1))) for size in sizes)
    place = st.tuples(st.integers(0, sizes[0] - 1), st.integers(0, sizes[1] - 1))
    one_to_one = st.lists(place, unique_by=(lambda p: p[0], lambda p: p[1]), max_size=5)
    said, truth = draw(one_to_one), draw(one_to_one)
    seeds = draw(st.lists(st.sampled_from(truth), unique=True)) if truth else []
    test = truth if draw(st.booleans()) else [pair for pair in truth if pair not in seeds]
    accepted = draw(hnp.arrays(bool, len(said)))
    alignment = Alignment(source, target, links(said).pairs, np.ones(len(said)), accepted)
    return alignment, test, seeds


def share(right: int, of: int) -> float:
    return right / of if of else 0.0


@often
@given(answers())
def test_accepted_pairs(answer: tuple[Alignment, Pairs, Pairs]) -> None:
    alignment, test, seeds = answer
    said = {tuple(pair) for pair in alignment.links.pairs.tolist()} - set(seeds)
    true = set(test) - set(seeds)
    found = accepted_pairs(alignment, links(test), links(seeds))
    assert found == PrecisionRecall(share(len(said & true), len(said)), share(len(said & true), len(true)))
    twice = accepted_pairs(alignment, links(test + test), links(seeds))
    assert twice == found


@often
@given(answers())
def test_no_counterpart(answer: tuple[Alignment, Pairs, Pairs]) -> None:
    alignment, test, seeds = answer
    said, true = set(), set()
    for side, known in enumerate((alignment.source, alignment.target)):
        everyone = {(side, i) for i, iri in enumerate(known.entities.to_pylist()) if not iri.startswith("_:")}
        said |= everyone - {(side, pair[side]) for pair in alignment.links.pairs.tolist()}
        true |= everyone - {(side, pair[side]) for pair in [*test, *seeds]}
    found = no_counterpart(alignment, links(test), links(seeds))
    assert found == PrecisionRecall(share(len(said & true), len(said)), share(len(said & true), len(true)))


def test_evaluate_a_known_case() -> None:
    alignment = Alignment(
        graph(4), graph(4), links([[0, 0], [1, 1], [2, 3]]).pairs, np.ones(3), np.array([True, True, True])
    )
    figures = evaluate(alignment, links([[1, 1], [2, 2]]), links([[0, 0]]))
    half = {"precision": 0.5, "recall": 0.5, "f1": 0.5, "ece": 0.5}
    assert figures["alignment"] == figures["linked_ends"] == half
    # Said: source 3, target 2. True: source 3, target 3.
    assert figures["no_counterpart"] == half
    last = {"from": 0.9, "to": 1.0, "count": 2, "confidence": 1.0, "right": 0.5}
    assert figures["reliability"] == {
        "alignment": [last],
        "linked_ends": [last],
        "no_counterpart": [last],
    }
    assert evaluate(alignment, links([[0, 0], [1, 1], [2, 3]]))["alignment"]["f1"] == 1


def test_calibration_is_the_gap_between_confidence_and_truth() -> None:
    """Four pairs said with .75, three of them right: perfect. All right: a gap of a quarter."""
    pairs = links([[0, 0], [1, 1], [2, 2], [3, 4]])
    alignment = Alignment(graph(5), graph(5), pairs.pairs, np.full(4, 0.75), np.ones(4, bool))
    truth = links([[0, 0], [1, 1], [2, 2], [3, 3]])
    assert pair_reliability(alignment, truth, Links.none()).ece == pytest.approx(0)
    assert pair_reliability(alignment, pairs, Links.none()).ece == pytest.approx(0.25)


def test_wrong_pairs_of_entities_without_a_counterpart_count() -> None:
    """Pairs 2 and 3 have no linked end; pair 3 is doubtful."""
    pairs = links([[0, 0], [1, 1], [2, 2], [3, 3]])
    alignment = Alignment(graph(4), graph(4), pairs.pairs, [1, 1, 1, 0.25], [True, True, True, False])
    figures = evaluate(alignment, links([[0, 0], [1, 1]]))
    assert figures["alignment"]["precision"] == pytest.approx(2 / 3)
    assert figures["linked_ends"]["precision"] == 1
    assert figures["alignment"]["ece"] == pytest.approx((1 + 0.25) / 4)
    assert figures["linked_ends"]["ece"] == 0
    assert figures["reliability"]["alignment"] == [
        {"from": 0.2, "to": 0.3, "count": 1, "confidence": 0.25, "right": 0},
        {"from": 0.9, "to": 1.0, "count": 3, "confidence": 1, "right": pytest.approx(2 / 3)},
    ]


def test_seeds_are_not_judged() -> None:
    alignment = Alignment(graph(2), graph(2), links([[0, 0], [1, 1]]).pairs, [1, 1], [True, True])
    assert pair_reliability(alignment, links([[0, 0]]), links([[1, 1]])).count.sum() == 1


def test_confidence_of_no_counterpart() -> None:
    """Entity 0 is accepted. The rest has none with 1 - .25 (entity 1) and 1 (entities in no pair)."""
    alignment = Alignment(graph(3), graph(4), links([[0, 0], [1, 1]]).pairs, [1, 0.25], [True, False])
    found = no_counterpart_reliability(alignment, links([[0, 0], [1, 1]]), Links.none())
    assert found.to_json() == [
        {"from": 0.7, "to": 0.8, "count": 2, "confidence": 0.75, "right": 0},
        {"from": 0.9, "to": 1.0, "count": 3, "confidence": 1, "right": 1},
    ]
    assert found.ece == pytest.approx(2 * 0.75 / 5)


def test_pairs_of_equal_iris_are_known() -> None:
    """Entity 2 is the same by its IRI: it is no missed link and not without a counterpart."""
    alignment = Alignment(graph(3), graph(3), links([[0, 0]]).pairs, [1], [True], same=links([[2, 2]]))
    figures = evaluate(alignment, links([[0, 0], [2, 2]]))
    assert figures["alignment"]["recall"] == figures["linked_ends"]["recall"] == 1
    perfect = {"precision": 1, "recall": 1, "f1": 1, "ece": 0}
    assert figures["no_counterpart"] == perfect
    assert figures["reliability"]["no_counterpart"][0]["count"] == 2


@often
@given(answers())
def test_each_left_over_entity_is_judged_once(answer: tuple[Alignment, Pairs, Pairs]) -> None:
    alignment, test, seeds = answer
    found = no_counterpart_reliability(alignment, links(test), links(seeds))
    shares = no_counterpart(alignment, links(test), links(seeds))
    left = sum(
        not iri.startswith("_:") and place not in alignment.links.pairs[:, side]
        for side, known in enumerate((alignment.source, alignment.target))
        for place, iri in enumerate(known.entities.to_pylist())
    )
    assert found.count.sum() == left
    assert share(found.right.sum(), left) == shares.precision


def test_f1() -> None:
    assert PrecisionRecall(0, 0).f1 == 0
    assert PrecisionRecall(1, 0.5).f1 == pytest.approx(2 / 3)
    assert PrecisionRecall(1, 0).to_json() == {"precision": 1, "recall": 0, "f1": 0}


# Several counterparts


def test_other_counterparts_of_a_source_do_not_count_as_better():
    scores = Similarity.from_entries([0, 0, 0, 1], [0, 1, 2, 2], [0.9, 0.8, 0.7, 0.6], (2, 3))
    links = Links([[0, 0], [0, 1], [1, 2]])
    assert realistic_ranks(scores, links, np.ones(3, bool)).tolist() == [1, 1, 1]
    assert realistic_ranks(scores, Links([[0, 1], [0, 2]]), np.ones(3, bool)).tolist() == [2, 2]


def test_equal_scores_of_other_counterparts_do_not_count_either():
    scores = Similarity.from_entries([0, 0, 0], [0, 1, 2], [0.9, 0.9, 0.9], (1, 3))
    assert realistic_ranks(scores, Links([[0, 0], [0, 1]]), np.ones(3, bool)).tolist() == [1.5, 1.5]


def test_the_target_of_a_seed_is_ranked_where_a_test_link_has_it_too():
    scores = Similarity.from_entries([1], [0], [0.9], (2, 1))
    figures = protocols(scores, Links([[1, 0]]), Links([[0, 0]]))
    assert figures["open"]["hits@1"] == 1
