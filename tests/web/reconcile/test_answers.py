"""Known answers: which candidate comes first, and whether the service is sure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from largeea.graph import KnowledgeGraph, strings
from largeea.matching.alignment import Alignment
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.queries import Query
from largeea.web.reconcile.run_links import RunLinks

EX = "http://example.org/"
Ask = Callable[..., list[dict[str, Any]]]


def ids(candidates: list[dict[str, Any]]) -> list[str]:
    return [candidate["id"].removeprefix(EX) for candidate in candidates]


def test_an_exact_name_comes_first_and_is_a_match(ask: Ask) -> None:
    best, *others = ask(query="thessaloniki")
    assert (best["id"], best["score"], best["match"]) == (EX + "a5", 100, True)
    assert best["type"] == [{"id": EX + "City", "name": "City"}]
    assert all(other["score"] < 87 and not other["match"] for other in others)


@pytest.mark.parametrize("identifier", [EX + "a5", "a5"])
def test_an_identifier_finds_its_entity(ask: Ask, identifier: str) -> None:
    best = ask(query=identifier)[0]
    assert (best["id"], best["score"], best["match"]) == (EX + "a5", 100, True)


def test_an_alias_counts_a_little_less_than_the_name(ask: Ask) -> None:
    best = ask(query="Salonica")[0]
    assert (best["id"], best["match"]) == (EX + "a5", True)
    assert best["score"] == pytest.approx(95, abs=0.1)


def test_another_script_is_no_other_name(ask: Ask) -> None:
    best = ask(query="Θεσσαλονίκη")[0]
    assert (best["id"], best["match"]) == (EX + "a5", True)


@pytest.mark.parametrize(
    ("misspelt", "expected"),
    [
        ("Tessaloniki", "a5"),
        ("Konigsberg, Bayern", "a8"),
        ("Mercury", "a7"),
        ("untied states", "us"),
    ],
)
def test_a_misspelt_name_is_found_but_is_no_match(ask: Ask, misspelt: str, expected: str) -> None:
    best = ask(query=misspelt)[0]
    assert best["id"] == EX + expected
    assert 40 < best["score"] < 87.1
    assert not best["match"]


def test_namesakes_are_not_matched_and_come_in_a_fixed_order(ask: Ask) -> None:
    found = ask(query="Frankfurt")
    assert ids(found)[:2] == ["a1", "a2"]
    assert not any(candidate["match"] for candidate in found)


@pytest.mark.parametrize(
    ("pid", "v", "expected"),
    [
        ("inhabitants", 57015, "a2"),
        ("inhabitants", "753,056", "a1"),
        ("founded", "22 February 1794", "a1"),
        ("mayor", "Wilke, Rene", "a2"),
        ("mayor", ["nobody", "Rene Wilke"], "a2"),
    ],
)
def test_a_property_decides_between_namesakes(ask: Ask, pid: str, v: Any, expected: str) -> None:
    found = ask(query="Frankfurt", properties=[{"pid": EX + pid, "v": v}])
    assert found[0]["id"] == EX + expected
    assert found[0]["score"] > found[1]["score"]
    assert found[0]["match"]


@pytest.mark.parametrize(
    "value", [{"id": EX + "us"}, {"id": EX + "us", "name": "USA"}, "United States", "us"]
)
def test_a_linked_entity_is_compared_by_identifier_or_name(ask: Ask, value: Any) -> None:
    city, river, *_ = ask(query="Washington", properties=[{"pid": EX + "country", "v": value}])
    assert (city["id"], city["score"], city["match"]) == (EX + "a3", 100, True)
    assert (river["id"], river["match"]) == (EX + "a4", False)


def test_a_wrong_value_counts_for_less_than_none(ask: Ask) -> None:
    found = ask(query="Washington", properties=[{"pid": EX + "country", "v": {"id": EX + "de"}}])
    assert ids(found)[:2] == ["a4", "a3"]
    assert not found[1]["match"]


def test_unknown_properties_and_empty_values_change_nothing(ask: Ask) -> None:
    plain = ids(ask(query="Washington"))
    assert ids(ask(query="Washington", properties=[{"pid": EX + "colour", "v": "red"}])) == plain
    assert ids(ask(query="Washington", properties=[{"pid": EX + "country", "v": ""}])) == plain


def test_a_query_without_a_name_finds_by_values(ask: Ask) -> None:
    by_link = ask(properties=[{"pid": EX + "country", "v": {"id": EX + "de"}}])
    assert ids(by_link) == ["a1", "a2"]
    by_value = ask(properties=[{"pid": EX + "inhabitants", "v": "57015"}])
    assert (ids(by_value), by_value[0]["score"]) == (["a2"], 100)


def test_types_filter_and_subclasses_count(ask: Ask) -> None:
    assert ids(ask(query="Washington", type=EX + "River")) == ["a4"]
    city = ask(query="Washington", type=[EX + "Place"])
    assert city[0]["id"] == EX + "a3"
    assert city[0]["match"]
    assert "a4" not in ids(city)
    assert not ask(query="Washington", type=[EX + "River", EX + "City"], type_strict="all")


def test_a_type_that_should_be_there_lowers_the_others(ask: Ask) -> None:
    river, city = ask(query="Washington", type=EX + "River", type_strict="should", limit=2)
    assert (river["id"], river["score"], river["match"]) == (EX + "a4", 100, True)
    assert (city["id"], city["score"], city["match"]) == (EX + "a3", 50, False)


def test_limit_and_empty_queries(ask: Ask) -> None:
    assert len(ask(query="Frankfurt", limit=1)) == 1
    assert ask(query="  ") == []
    assert ask(query="?!") == []
    assert ask(query="xyzzy") == []


def test_queries_do_not_affect_each_other(reconciler: Reconciler) -> None:
    texts = ["Frankfurt", "Washington DC", "Salonica", "Königsberg", "united", EX + "a3"]
    queries = {
        text: Query(query=text, properties=[{"pid": EX + "country", "v": "Germany"}])  # type: ignore[list-item]
        for text in texts
    }
    together = reconciler.answer(queries, 60)
    assert together == {text: reconciler.answer({text: query}, 60)[text] for text, query in queries.items()}


def test_a_run_gives_counterparts_with_its_confidence(graph: KnowledgeGraph) -> None:
    source = KnowledgeGraph(
        strings(["s:1", "s:2", "s:3", "s:4"]),
        strings(["Frankfurt an der Oder", "Washington", "Stadt", "Stadt"]),
        strings(),
        np.empty((0, 3), np.int32),
    )
    target = graph.find(strings([EX + name for name in ("a2", "a4", "a5", "a7")]))
    pairs = np.stack([np.arange(4), target], axis=1)
    alignment = Alignment(source, graph, pairs, np.array([0.9, 0.8, 0.7, 0.3]), np.array([1, 1, 1, 1], bool))
    reconciler = Reconciler(graph, RunLinks(alignment))

    def best(text: str) -> dict[str, Any]:
        result = reconciler.answer({"q": Query(query=text)}, 60)["q"]["result"]
        return result[0] if result else {}

    found = best("Frankfurt an der Oder")
    assert (found["id"], found["score"], found["match"]) == (EX + "a2", 90, True)
    assert best("s:1")["id"] == EX + "a2"
    assert (best("Washington")["id"], best("Washington")["score"]) == (EX + "a4", 80)
    assert best("Thessaloniki")["score"] == 100
    assert not best("Stadt").get("match")


def test_doubtful_links_of_a_run_are_not_used(graph: KnowledgeGraph) -> None:
    source = KnowledgeGraph(strings(["s:1"]), strings(["Oder"]), strings(), np.empty((0, 3), np.int32))
    pairs = np.array([[0, int(graph.find(strings([EX + "a2"]))[0])]])
    alignment = Alignment(source, graph, pairs, np.array([0.4]), np.array([False]))
    assert RunLinks(alignment).find("s:1", "oder") is None
