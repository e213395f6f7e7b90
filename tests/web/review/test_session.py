"""What is reviewed, in which order, and what is said about a pair."""

from __future__ import annotations

from collections import OrderedDict
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.finished import FinishedRun
from largeea.formats.prefixes import last_part
from largeea.graph import Attributes, KnowledgeGraph, strings
from largeea.reviews import Reviews, read_reviews
from largeea.web.review import literals
from largeea.web.review.estimate import estimate_precision, wilson
from largeea.web.review.literals import Comparison, Value, aligned, names_and_literals
from largeea.web.review.neighbours import Neighbour, Neighbourhood, Neighbourhoods
from largeea.web.review.pairs import PairTable, Selection
from largeea.web.review.picture import draw
from largeea.web.review.session import Session

from .conftest import SCRIPT, TOWNS


@pytest.fixture
def session(run_folder: Path) -> Session:
    return Session(run_folder, "ada")


@pytest.fixture
def table(finished_run: Path) -> PairTable:
    return PairTable(FinishedRun(finished_run))


def nobody(decisions: int) -> list[tuple[str, str]]:
    return []


def seen(session: Session, pair: int) -> tuple[str, str]:
    detail = session.detail(pair, scores=False)
    return detail["source"]["iri"], detail["target"]["iri"]


def decide(session: Session, pair: int, kind, instead: int | None = None):
    return session.decide(pair, kind, instead, seen(session, pair))


# Order and filters


def test_pairs_next_to_the_threshold_come_first(table: PairTable) -> None:
    distance = table.distance[table.queue(Selection(), nobody)]
    assert len(distance) == len(table) == len(TOWNS)
    assert (np.diff(distance) >= 0).all()
    assert distance[0] == 0, "the pair that was accepted last"


def test_by_confidence(table: PairTable) -> None:
    rising = table.confidence[table.queue(Selection(order="lowest"), nobody)]
    falling = table.confidence[table.queue(Selection(order="highest"), nobody)]
    assert rising.tolist() == sorted(rising.tolist()) == falling.tolist()[::-1]


def test_the_sample_is_random_accepted_and_always_the_same(finished_run: Path, table: PairTable) -> None:
    sample = table.queue(Selection(order="sample", text="no such text"), nobody)
    assert sorted(sample) == np.flatnonzero(table.accepted).tolist()
    assert sample.tolist() != sorted(sample)
    assert PairTable(FinishedRun(finished_run)).sample.tolist() == sample.tolist()


def test_filters(table: PairTable) -> None:
    middle = float(np.median(table.confidence))
    low = table.queue(Selection(highest=middle), nobody)
    assert set(low) == set(np.flatnonzero(table.confidence <= np.float32(middle)))
    for status, mask in (("accepted", table.accepted), ("doubtful", ~table.accepted)):
        assert set(table.queue(Selection(status=status), nobody)) == set(np.flatnonzero(mask))
    by_kind = [table.queue(Selection(evidence=kind), nobody) for kind in table.kinds]
    assert sum(map(len, by_kind)) == len(table)
    assert len(table.queue(Selection(role="individual"), nobody)) == len(table)
    assert len(table.queue(Selection(role="class"), nobody)) == 0


@pytest.mark.parametrize(("text", "found"), [("tOkYo", ["Tokyo"]), ("http://b/5", ["Oslo"]), ("(.*", [])])
def test_search_in_names_and_iris(table: PairTable, text: str, found: list[str]) -> None:
    assert [table.names(pair)[0] for pair in table.queue(Selection(text=text), nobody)] == found


def test_pairs_stay_in_the_queue_after_their_decision(session: Session) -> None:
    selection = Selection(unreviewed=True)
    before = [row["pair"] for row in session.rows(selection, 0, 50)["rows"]]
    decide(session, before[0], "same")
    rows = session.rows(selection, 0, 50)["rows"]
    assert [row["pair"] for row in rows] == before
    assert rows[0]["decision"] == "same"
    later = session.rows(replace(selection, since=1), 0, 50)["rows"]
    assert [row["pair"] for row in later] == before[1:]
    assert session.start(Selection()) == {"first": 1, "total": len(before)}


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": "x"},
        {"status": "x"},
        {"role": "x"},
        {"lowest": 0.5, "highest": 0.2},
        {"lowest": float("nan")},
    ],
)
def test_a_wrong_selection_is_told(wrong) -> None:
    with pytest.raises(UsageError):
        Selection(**wrong)


def test_an_unknown_kind_of_evidence_is_told(table: PairTable) -> None:
    with pytest.raises(UsageError, match="there are: "):
        table.queue(Selection(evidence="rumour"), nobody)


def test_a_run_without_pairs(table: PairTable, session: Session, monkeypatch) -> None:
    decide(session, 0, "same")
    monkeypatch.setattr(session, "_table", empty := copy(table))
    empty.pairs, empty.confidence, empty.accepted = table.pairs[:0], table.confidence[:0], table.accepted[:0]
    empty.evidence, empty._queues = (
        {kind: column[:0] for kind, column in table.evidence.items()},
        OrderedDict(),
    )
    assert session.start(Selection(unreviewed=True, since=1, text="x", evidence="name"))["total"] == 0
    assert session.overview()["pairs"] == session.overview()["sample"] == 0


# One pair


def test_a_pair_side_by_side(session: Session, table: PairTable) -> None:
    pair = int(table.queue(Selection(text="Tokyo"), nobody)[0])
    detail = session.detail(pair, scores=False)
    assert [(name["text"], name["language"]) for name in detail["source"]["names"]] == [
        ("Tokyo", "en"), ("Tokyo in another language", "fr"),
    ]  # fmt: skip
    fields = {(last_part(one["source"]), last_part(one["target"])): one["mark"] for one in detail["fields"]}
    assert fields == {
        ("founded", "founded"): "equal", ("motto", "motto"): "similar", ("aonly", "bonly"): "equal",
    }  # fmt: skip
    assert detail["neighbours"]["matched_count"] == 2
    assert {one["name"] for pair in detail["neighbours"]["matched"] for one in pair} >= {"Paris", "Parisa"}
    assert (detail["scores"], detail["others"]) == (None, {})
    assert {rival["score"] for rival in detail["rivals"]} == {None}
    assert len(detail["rivals"]) <= 9
    assert seen(session, pair)[1] not in {rival["iri"] for rival in detail["rivals"]}
    shown = session.detail(pair, scores=True)
    assert shown["scores"]["confidence"] == pytest.approx(float(table.confidence[pair]))
    assert [rival["score"] for rival in shown["rivals"]] == sorted(
        (rival["score"] for rival in shown["rivals"]), reverse=True
    )


def test_values_without_a_partner_stand_alone() -> None:
    left = {"http://a/height": [Value("12")], "http://a/name": [Value("x")]}
    right = {"http://b/height": [Value("500")], "http://b/colour": [Value("red")]}
    rows = [(one.source, one.target, one.mark) for one in aligned(left, right)]
    assert rows == [
        ("http://a/height", "http://b/height", "different"),
        ("http://a/name", "", "only"),
        ("", "http://b/colour", "only"),
    ]


@pytest.mark.parametrize(
    ("one", "other", "mark"),
    [
        ("Berlin", " berlin", "equal"),
        ("1,5", "1.5", "different"),
        ("7", "7.0", "equal"),
        ("1000", "1005", "similar"),
        ("1000", "1200", "different"),
        ("Main Street 5", "Main Street 5a", "similar"),
        ("red", "blue", "different"),
        ("", "", "different"),
        ("nan", "nan", "equal"),
        ("infinity", "5", "different"),
    ],
)
def test_values_are_compared(one: str, other: str, mark: str) -> None:
    assert Comparison([one, other])(one, other) == mark


def test_neighbours_without_stored_edges_are_the_same(finished_run: Path, monkeypatch) -> None:
    run, bare = FinishedRun(finished_run), FinishedRun(finished_run)
    bare.stages = tuple(stage for stage in bare.stages if stage != "edges")
    for source in range(len(TOWNS)):
        assert Neighbourhoods(run).of(source, 3) == Neighbourhoods(bare).of(source, 3)


def test_the_picture_holds_text_only(session: Session) -> None:
    import xml.etree.ElementTree as ET

    strange = Neighbour(1, SCRIPT + "\x00\x1b\ufffe", "http://a/1", "<b>&\"'", True)
    around = Neighbourhood(((strange, strange),), (strange,), (), 1, 1, 0)
    for width in (1, 320, 900, 10**9):
        for theme in ("light", "dark"):
            drawn = ET.fromstring(draw((SCRIPT, "日本" * 90), around, width, theme))
            tags = {node.tag.rpartition("}")[2] for node in drawn.iter()}
            assert tags == {"svg", "rect", "text", "path"}
            assert 280 <= int(drawn.attrib["width"]) <= 1100


def test_a_name_that_reorders_text_is_spelt_out_in_the_picture() -> None:
    name = "invoice\u202egpj.exe"
    drawn = draw((name, name), Neighbourhood((), (), (), 0, 0, 0), 900, "light")
    assert "invoice\u2039U+202E\u203agpj.exe" in drawn
    assert "\u202e" not in drawn


# Decisions


def test_another_candidate_instead(session: Session, run_folder: Path) -> None:
    pair = session.rows(Selection(), 0, 1)["rows"][0]["pair"]
    rival = session.detail(pair, scores=False)["rivals"][0]
    source, target = seen(session, pair)
    decide(session, pair, "same", rival["target"])
    reviews = read_reviews(run_folder)
    assert (reviews.confirmed, reviews.rejected) == ([(source, rival["iri"])], [(source, target)])
    assert session.detail(pair, scores=False)["rivals"][0]["decision"] == "same"
    undone = session.undo()
    assert (undone["pair"], undone["undone"]) == (pair, 2)
    assert read_reviews(run_folder).pairs == []


def test_a_decision_about_another_run_is_refused(session: Session, run_folder: Path) -> None:
    with pytest.raises(UsageError, match="has changed"):
        session.decide(0, "same", None, ("http://a/elsewhere", "http://b/1"))
    with pytest.raises(UsageError, match="no such candidate"):
        decide(session, 0, "same", 10**6)
    with pytest.raises(UsageError, match="no pair"):
        session.decide(len(TOWNS), "same", None, ("", ""))
    assert read_reviews(run_folder).decisions == []


def test_two_reviewers_see_each_other_once_they_have_decided(run_folder: Path) -> None:
    ada, bob = Session(run_folder, "ada"), Session(run_folder, "bob")
    decide(ada, 0, "same")
    assert bob.detail(0, scores=False)["others"] == {}
    decide(bob, 0, "different")
    assert bob.detail(0, scores=True)["others"] == {"ada": "same"}
    assert ada.progress()["verdicts"]["conflict"] == 1
    assert ada.undo()["pair"] == 0
    assert read_reviews(run_folder).rejected == [seen(bob, 0)]


# Precision


def test_precision_is_estimated_from_the_beginning_of_the_random_order(
    session: Session, table: PairTable
) -> None:
    order = table.sample.tolist()
    for place in (0, 1, 2, 4, 5):
        decide(session, order[place], "different" if place == 1 else "same")
    found = session.progress()["estimate"]
    assert (found["right"], found["judged"], found["population"]) == (2, 3, len(order))
    assert (found["low"], found["high"]) == wilson(2, 3)
    decide(session, order[3], "unsure")
    found = session.progress()["estimate"]
    assert (found["right"], found["judged"], found["undecided"]) == (4, 5, 1)


def test_without_a_sample_nothing_is_estimated(table: PairTable) -> None:
    found = estimate_precision(table, Reviews())
    assert (found.precision, found.low, found.high) == (None, 0, 1)


@pytest.mark.parametrize(
    ("right", "judged", "interval"), [(9, 10, (0.5958, 0.9821)), (0, 5, (0, 0.4345)), (50, 50, (0.9287, 1))]
)
def test_wilson_interval(right: int, judged: int, interval: tuple[float, float]) -> None:
    """Figures of R's `binom::binom.wilson`."""
    assert wilson(right, judged) == pytest.approx(interval, abs=1e-4)


def test_all_literals_of_a_hub_were_looked_at_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.array([[0, 0, value, 0] for value in range(50)], np.int32)
    values = strings(f"value {value:02}" for value in range(50))
    attributes = Attributes(rows, strings(["urn:p"]), values, strings([""]))
    graph = KnowledgeGraph(
        strings(["urn:hub"]), strings(["Hub"]), strings(), np.empty((0, 3), np.int32), attributes
    )
    assert len(names_and_literals(graph, 0)[1]["urn:p"]) == 50
    monkeypatch.setattr(literals, "MOST_LITERALS", 7)
    assert len(names_and_literals(graph, 0)[1]["urn:p"]) == 7
