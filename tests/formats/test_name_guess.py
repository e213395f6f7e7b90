"""Entities without a well-known label are named by predicates that read like one."""

from __future__ import annotations

from pathlib import Path

import pytest

import largeea
from largeea.formats import ReadOptions, read, read_graph
from largeea.formats.naming import Naming
from largeea.graph import KnowledgeGraph

EX = "http://example.org/"
PLACES = ["Oslo", "Bergen", "Trondheim", "Stavanger"]


def graph_of(tmp_path: Path, turtle: str, *label: str) -> KnowledgeGraph:
    path = tmp_path / "graph.ttl"
    prefixes = f"@prefix : <{EX}> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
    path.write_text(prefixes + turtle, "utf-8")
    return read_graph(path, ReadOptions(naming=Naming(label) if label else Naming()))


def names(graph: KnowledgeGraph) -> dict[str, str | None]:
    iris = (iri.removeprefix(EX) for iri in graph.entities.to_pylist())
    return dict(zip(iris, graph.names.to_pylist(), strict=True))


def described(predicate: str, values: list[str]) -> str:
    return "".join(f':x{at} {predicate} "{value}" ; :near :x0 .\n' for at, value in enumerate(values, 1))


@pytest.mark.parametrize(
    "predicate",
    [
        ":name",
        ":title",
        ":hasName",
        ":boat_name",
        ":has_label",
        ":naam",
        ":preferredNameForTheBoat",
        ":fullName",
    ],
)
def test_predicates_that_are_called_names(tmp_path: Path, predicate: str) -> None:
    turtle = described(predicate, PLACES) + described(":country", ["Norway", "norsk", "Norge", "NO"])
    graph = graph_of(tmp_path, turtle)
    assert [names(graph)[f"x{at}"] for at in range(1, 5)] == PLACES
    assert graph.label_predicates[-1] == EX + predicate[1:]


@pytest.mark.parametrize("predicate", [":city", ":cityName", ":description", ":homepage"])
def test_predicates_that_are_called_something_else(tmp_path: Path, predicate: str) -> None:
    graph = graph_of(tmp_path, described(predicate, PLACES))
    assert names(graph)["x1"] is None
    assert not graph.label_predicates


@pytest.mark.parametrize(
    "value", ['"{at}"^^xsd:integer', '"{at}"', '"2020-01-0{at}"', '"http://a.example/{at}"']
)
def test_names_are_texts(tmp_path: Path, value: str) -> None:
    turtle = "".join(f":x{at} :name {value.format(at=at)} ; :near :x0 .\n" for at in range(1, 5))
    assert names(graph_of(tmp_path, turtle))["x1"] is None


def test_a_name_that_many_share_is_a_category(tmp_path: Path) -> None:
    turtle = described(":className", ["town"] * 20)
    assert names(graph_of(tmp_path, turtle))["x1"] is None


def test_the_only_predicate_with_short_and_different_texts(tmp_path: Path) -> None:
    assert names(graph_of(tmp_path, described(":navn", PLACES)))["x1"] == "Oslo"
    two = described(":navn", PLACES) + described(":tilnavn", PLACES[::-1])
    assert names(graph_of(tmp_path, two))["x1"] is None


def test_main_names_come_before_other_names(tmp_path: Path) -> None:
    turtle = described(":variantName", PLACES) + described(
        ":variantName", [f"{place} by" for place in PLACES]
    )
    turtle += ':x2 :preferredName "Bergen i Hordaland" .'
    found = names(graph_of(tmp_path, turtle))
    assert found["x2"] == "Bergen i Hordaland"
    assert found["x3"] in ("Trondheim", "Trondheim by")


def test_given_name_and_family_name_make_a_name(tmp_path: Path) -> None:
    turtle = """
        :x1 :firstName "Ada" ; :lastName "Lovelace" . :x2 :firstName "Plato" .
        :x3 :familyName "Hopper" ; :givenName "Grace" .
        :x4 :givenName "Alan" ; :familyName "Turing" ; :name "A. M. Turing" ."""
    found = names(graph_of(tmp_path, turtle))
    assert [found[f"x{at}"] for at in range(1, 5)] == ["Ada Lovelace", None, "Grace Hopper", "A. M. Turing"]


def test_a_name_may_have_a_node_of_its_own(tmp_path: Path) -> None:
    turtle = """
        @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
        :x1 :title [ a :Title ; :mainTitle "Moby Dick" ; :subtitle "or, The Whale" ] ; :by :x3 .
        :x2 :has_title [ rdf:value "Walden" ] ; :by [ :name "somebody" ] .
        :x3 :by [ :name "nobody" ] ."""
    found = names(graph_of(tmp_path, turtle))
    assert [found[f"x{at}"] for at in range(1, 4)] == ["Moby Dick", "Walden", None]


def test_labels_and_readable_iris_come_first(tmp_path: Path) -> None:
    turtle = """
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :x1 rdfs:label "Paris" ; :name "Lutetia" . :Rome :name "Roma" ; :near :x1 . :x2 :name "Athens" .
        :x3 :near :x2 . :x4 :near :x3 . _:b :name "nowhere" ; :near :x1 ."""
    found = names(graph_of(tmp_path, turtle))
    assert found["x1"] == "Paris"
    assert found["x2"] == "Athens"
    assert found["x3"] is None
    assert None in {name for iri, name in found.items() if iri.startswith("_:")}


def test_what_a_user_gives_is_not_added_to(tmp_path: Path) -> None:
    turtle = described(":name", PLACES) + ':x1 :code "Oslo kommune" .'
    found = names(graph_of(tmp_path, turtle, EX + "code"))
    assert (found["x1"], found["x2"]) == ("Oslo kommune", None)


@pytest.mark.parametrize(
    "predicate", ["http://purl.org/dc/terms/title", "http://www.geonames.org/ontology#name"]
)
def test_titles_and_names_of_well_known_vocabularies(tmp_path: Path, predicate: str) -> None:
    graph = graph_of(tmp_path, described(f"<{predicate}>", PLACES))
    assert names(graph)["x1"] == "Oslo"
    assert not graph.label_predicates, "no guess was needed"


def test_a_note_says_what_names_entities(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for side, predicate in (("a", ":boatName"), ("b", ":name")):
        turtle = described(predicate, PLACES) + described(":size", ["small", "large", "small", "small"])
        (tmp_path / f"{side}.ttl").write_text(f"@prefix : <http://{side}.example/> .\n{turtle}", "utf-8")
    with caplog.at_level("INFO", logger="largeea"):
        alignment = largeea.align(tmp_path / "a.ttl", tmp_path / "b.ttl")
    assert (
        f"{tmp_path / 'a.ttl'}: entities without a label are named by http://a.example/boatName"
        in caplog.text
    )
    assert len(alignment.links) == len(PLACES) + 1, "and :x0, which is near all of them"


def test_benchmark_folders_are_read_as_they_are(shared_data: Path) -> None:
    pair = read(shared_data / "dbp15k_fr_en", ReadOptions())
    assert not pair.source.label_predicates
