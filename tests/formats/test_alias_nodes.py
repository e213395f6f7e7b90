"""Nodes that are nothing but another name of an entity are folded into that entity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from largeea.formats import read_graph
from largeea.formats.naming import ALIAS_PREDICATES
from largeea.graph import KnowledgeGraph
from largeea.runs.accounting import account_of

PREFIXES = """
@prefix : <http://e/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
Read = Callable[[str], KnowledgeGraph]


@pytest.fixture
def graph_of(tmp_path: Path) -> Read:
    def read(turtle: str) -> KnowledgeGraph:
        path = tmp_path / "a.ttl"
        path.write_text(PREFIXES + turtle)
        graph = read_graph(path)
        account_of(graph)  # raises if counts do not add up
        return graph

    return read


def entities(graph: KnowledgeGraph) -> set[str]:
    return {iri.rpartition("/")[2] for iri in graph.entities.to_pylist() if iri.startswith("http://e/")}


def aliases(graph: KnowledgeGraph) -> set[tuple[str, str]]:
    words = graph.attributes
    found = set()
    for entity, predicate, value, _ in words.rows.tolist():
        if words.predicates[predicate].as_py() in ALIAS_PREDICATES:
            found.add((graph.entities[entity].as_py().rpartition("/")[2], words.values[value].as_py()))
    return found


UN = ':United_Nations rdfs:label "United Nations" ; :member :France . :France rdfs:label "France" . '


@pytest.mark.parametrize(
    "predicate", ["isAliasOf", "aliasOf", "synonym_of", "acronymOf", "isAbbreviationOf", "alternativeNameOf"]
)
def test_an_alias_with_a_label_is_folded(graph_of: Read, predicate: str) -> None:
    graph = graph_of(UN + f':a1 rdfs:label "UN" ; :{predicate} :United_Nations .')
    assert entities(graph) == {"United_Nations", "France"}
    assert aliases(graph) == {("United_Nations", "UN")}
    assert f"http://e/{predicate}" not in graph.relations.to_pylist()
    assert graph.counts.text_nodes == 1


def test_types_do_not_make_an_alias_an_entity(graph_of: Read) -> None:
    graph = graph_of(UN + ':a1 a :Alias ; rdfs:label "UN" ; :isAliasOf :United_Nations .')
    assert "a1" not in entities(graph)
    assert aliases(graph) == {("United_Nations", "UN")}


def test_without_a_label_the_last_part_of_the_iri_is_the_name(graph_of: Read) -> None:
    graph = graph_of(UN + ":UNO_Organisation :isAliasOf :United_Nations .")
    assert entities(graph) == {"United_Nations", "France"}
    assert aliases(graph) == {("United_Nations", "UNO Organisation")}


def test_several_aliases_with_several_labels(graph_of: Read) -> None:
    graph = graph_of(
        UN + ':a1 rdfs:label "UN", "U.N." ; :isAliasOf :United_Nations . '
        ':a2 skos:altLabel "ONU" ; :isAliasOf :United_Nations . :UNO :isAliasOf :United_Nations . '
        ":Gaul :isAliasOf :France ."
    )
    assert entities(graph) == {"United_Nations", "France"}
    assert aliases(graph) == {
        ("United_Nations", "UN"),
        ("United_Nations", "U.N."),
        ("United_Nations", "ONU"),
        ("United_Nations", "UNO"),
        ("France", "Gaul"),
    }


@pytest.mark.parametrize(
    "more",
    [':a1 :founded "1945" .', ":a1 :seat :Geneva .", ":France :knows :a1 .", ":a1 :isAliasOf :France ."],
    ids=["a literal", "an edge", "an edge to it", "two owners"],
)
def test_a_node_with_other_data_is_kept(graph_of: Read, more: str) -> None:
    graph = graph_of(UN + ':a1 rdfs:label "UN" ; :isAliasOf :United_Nations . ' + more)
    assert "a1" in entities(graph)
    assert aliases(graph) == set()
    assert graph.counts.text_nodes == 0


@pytest.mark.parametrize("predicate", ["partOf", "profOf", "aliasOfficer", "alias"])
def test_other_predicates_fold_nothing(graph_of: Read, predicate: str) -> None:
    graph = graph_of(UN + f':a1 rdfs:label "UN" ; :{predicate} :United_Nations .')
    assert "a1" in entities(graph)


def test_an_alias_of_an_alias_is_kept_because_something_refers_to_it(graph_of: Read) -> None:
    graph = graph_of(
        UN + ':a1 rdfs:label "UN" ; :isAliasOf :United_Nations . :a2 rdfs:label "U.N." ; :isAliasOf :a1 .'
    )
    assert entities(graph) == {"United_Nations", "France", "a1"}
    assert aliases(graph) == {("a1", "U.N.")}
