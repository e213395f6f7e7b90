"""From OWL, SKOS and RDF encodings to a plain graph: helper nodes disappear, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from largeea.formats import read_graph
from largeea.graph import KnowledgeGraph
from largeea.runs.accounting import account_of

PREFIXES = """
@prefix : <http://e/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix obo: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix p: <http://wiki/prop/> .
@prefix ps: <http://wiki/prop/statement/> .
"""
SHORT = {line.split()[2].strip("<>"): line.split()[1].strip(":") for line in PREFIXES.strip().splitlines()}


def short(iri: str) -> str:
    """An IRI without its namespace: `subClassOf`, `a`."""
    return max((iri.removeprefix(namespace) for namespace in SHORT), key=lambda rest: len(iri) - len(rest))


@pytest.fixture
def graph_of(tmp_path: Path):
    def read(turtle: str) -> KnowledgeGraph:
        path = tmp_path / "a.ttl"
        path.write_text(PREFIXES + turtle)
        graph = read_graph(path)
        account_of(graph)  # raises if counts do not add up
        return graph

    return read


def edges(graph: KnowledgeGraph) -> set[tuple[str, str, str]]:
    """All triples but types."""
    named = graph.entities.to_pylist(), graph.relations.to_pylist(), graph.entities.to_pylist()
    rows = graph.triples.tolist()
    found = {tuple(short(words[at]) for words, at in zip(named, row, strict=True)) for row in rows}
    return {edge for edge in found if edge[1] != "type"}


def literals(graph: KnowledgeGraph) -> set[tuple[str, str, str, str]]:
    words = graph.attributes
    columns = graph.entities, words.predicates, words.values, words.tags
    found = set()
    for row in words.rows.tolist():
        entity, predicate, *rest = (column[at].as_py() for column, at in zip(columns, row, strict=True))
        found.add((short(entity), short(predicate), *rest))
    return found


# Class expressions


@pytest.mark.parametrize("quantifier", ["someValuesFrom", "allValuesFrom", "hasValue", "onClass"])
@pytest.mark.parametrize("relation", ["rdfs:subClassOf", "owl:equivalentClass"])
def test_a_restriction_is_an_edge(graph_of, quantifier, relation):
    graph = graph_of(
        f":lip a owl:Class ; {relation} "
        f"[ a owl:Restriction ; owl:onProperty :part_of ; owl:{quantifier} :face ] . :face a owl:Class ."
    )
    assert edges(graph) == {("lip", "part_of", "face")}
    assert not graph.anonymous.any()
    assert graph.counts.expressions == 1
    assert "http://www.w3.org/2002/07/owl#Restriction" not in graph.entities.to_pylist()


def test_a_restriction_to_a_literal_is_a_literal(graph_of):
    graph = graph_of(
        ":cat rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :legs ; owl:hasValue 4 ], :pet ."
    )
    assert literals(graph) == {("cat", "legs", "4", "http://www.w3.org/2001/XMLSchema#integer")}
    assert edges(graph) == {("cat", "subClassOf", "pet")}


def test_members_of_an_intersection(graph_of):
    graph = graph_of(
        ":a owl:equivalentClass [ a owl:Class ; owl:intersectionOf "
        "( :b [ owl:onProperty :p ; owl:someValuesFrom :c ] [ owl:intersectionOf ( :d :e ) ] ) ] ."
    )
    assert edges(graph) == {
        ("a", "subClassOf", "b"),
        ("a", "p", "c"),
        ("a", "subClassOf", "d"),
        ("a", "subClassOf", "e"),
    }
    assert (graph.counts.expressions, graph.counts.lists) == (3, 6), "rdf:nil among them"


def test_an_intersection_without_a_node_of_its_own(graph_of):
    graph = graph_of(":a owl:intersectionOf ( :b [ owl:onProperty :p ; owl:allValuesFrom :c ] ) .")
    assert edges(graph) == {("a", "subClassOf", "b"), ("a", "p", "c")}


def test_unions_and_domains(graph_of):
    graph = graph_of(
        ":a rdfs:subClassOf [ owl:unionOf ( :b :c ) ] . "
        ":p a owl:ObjectProperty ; rdfs:domain [ owl:unionOf ( :a :b ) ] ."
    )
    assert edges(graph) == {
        ("a", "unionOf", "b"),
        ("a", "unionOf", "c"),
        ("p", "domain", "a"),
        ("p", "domain", "b"),
    }


def test_what_lies_deeper_is_reached_by_the_outermost_property(graph_of):
    graph = graph_of(
        ":a rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom "
        "[ owl:intersectionOf ( :b [ owl:onProperty :q ; owl:someValuesFrom :c ] ) ] ] ."
    )
    assert edges(graph) == {("a", "p", "b"), ("a", "p", "c")}


def test_axioms_about_many_disappear(graph_of):
    graph = graph_of(":a rdfs:subClassOf :b . [ a owl:AllDisjointClasses ; owl:members ( :a :b ) ] .")
    assert edges(graph) == {("a", "subClassOf", "b")}
    assert not graph.anonymous.any()


# Lists


def test_a_list_is_an_edge_to_each_member(graph_of):
    graph = graph_of(':paper :authors ( :ann :bob "Cy" ( :dan ) ) ; :empty () .')
    assert edges(graph) == {("paper", "authors", name) for name in ("ann", "bob", "dan")}
    assert literals(graph) == {("paper", "authors", "Cy", "")}
    assert graph.entities.to_pylist() == [f"http://e/{name}" for name in ("ann", "bob", "dan", "paper")]


def test_a_long_list(graph_of):
    members = " ".join(f":m{i}" for i in range(3000))
    graph = graph_of(f":a :has ( {members} ) .")
    assert edges(graph) == {("a", "has", f"m{i}") for i in range(3000)}


def test_a_list_without_end_does_not_hang(graph_of):
    graph = graph_of(":a :has _:x . _:x rdf:first :b ; rdf:rest _:y . _:y rdf:first :c ; rdf:rest _:x .")
    assert edges(graph) <= {("a", "has", "b"), ("a", "has", "c")}


def test_a_container(graph_of):
    graph = graph_of(":paper :authors [ a rdf:Seq ; rdf:_1 :ann ; rdf:_2 :bob ] .")
    assert edges(graph) == {("paper", "authors", "ann"), ("paper", "authors", "bob")}


# Reified statements


@pytest.mark.parametrize(
    "terms",
    [
        "a rdf:Statement ; rdf:subject :a ; rdf:predicate :p ; rdf:object {}",
        "a owl:Axiom ; owl:annotatedSource :a ; owl:annotatedProperty :p ; owl:annotatedTarget {}",
    ],
)
def test_a_reified_statement_is_the_statement(graph_of, terms):
    graph = graph_of(
        f"[ {terms.format(':b')} ; :source :me ] . <urn:s> {terms.format('3')} . :me :is :here ."
    )
    assert edges(graph) == {("a", "p", "b"), ("me", "is", "here")}
    assert literals(graph) == {("a", "p", "3", "http://www.w3.org/2001/XMLSchema#integer")}
    assert graph.counts.reified == 2


def test_an_annotated_axiom_about_a_restriction(graph_of):
    graph = graph_of(
        ":a rdfs:subClassOf _:r . _:r owl:onProperty :p ; owl:someValuesFrom :b . "
        "[ a owl:Axiom ; owl:annotatedSource :a ; owl:annotatedProperty rdfs:subClassOf ; "
        'owl:annotatedTarget _:r ; rdfs:comment "why" ] .'
    )
    assert edges(graph) == {("a", "p", "b")}
    assert not literals(graph)


def test_a_wikibase_statement_is_an_edge(graph_of):
    graph = graph_of(
        ":Q1 p:P31 :s1 ; p:P18 :s2 . :s1 ps:P31 :Q5 ; :qualifier :Q7 . :s2 ps:P18 'x.png' . :Q7 :p :Q5 ."
    )
    assert edges(graph) == {("Q1", "direct/P31", "Q5"), ("Q7", "p", "Q5")}
    assert {row[:3] for row in literals(graph)} == {("Q1", "direct/P18", "x.png")}


# Nodes that only carry a text


def test_labels_of_skos_xl(graph_of):
    graph = graph_of(
        ':c xl:prefLabel :l1 ; xl:altLabel [ xl:literalForm "kitty"@en ; dct:created "2001" ] . '
        ':l1 a xl:Label ; xl:literalForm "cat"@en, "chat"@fr ; xl:labelRelation :l2 . :l2 :p :c .'
    )
    assert literals(graph) == {
        ("c", "prefLabel", "cat", "@en"),
        ("c", "prefLabel", "chat", "@fr"),
        ("c", "altLabel", "kitty", "@en"),
    }
    assert graph.names.to_pylist()[0] == "cat"
    assert graph.counts.text_nodes == 2


@pytest.mark.parametrize("kind", ["hasExactSynonym", "hasRelatedSynonym", "hasBroadSynonym", "hasDefinition"])
@pytest.mark.parametrize("text", ["rdfs:label", "rdf:value"])
def test_synonyms_and_definitions_of_obo(graph_of, kind, text):
    graph = graph_of(f':lip a owl:Class ; obo:{kind} :genid1 . :genid1 a obo:Synonym ; {text} "labium" .')
    assert literals(graph) == {("lip", kind, "labium", "")}
    assert "http://e/genid1" not in graph.entities.to_pylist()
    assert graph.counts.text_nodes == 1


def test_a_node_with_one_text_under_a_note(graph_of):
    graph = graph_of(
        ':a :someNote [ rdf:value "one" ] ; skos:definition [ rdf:value "two" ; dct:creator :me ] . '
        ":me :is :here ."
    )
    assert literals(graph) == {("a", "someNote", "one", ""), ("a", "definition", "two", "")}
    assert edges(graph) == {("me", "is", "here")}


@pytest.mark.parametrize(
    "turtle",
    [
        ':a :address :b . :b rdfs:label "Main Street 1" .',
        ':a dct:creator :b . :b a :Person ; rdfs:label "Ann" . dct:creator a owl:AnnotationProperty .',
        ':a :someNote :b . :b rdfs:label "x" ; :by :c .',
        ':a :someNote :b . :c :someNote :b . :b rdfs:label "x" .',
        ':a :someNote :b . :b rdfs:label "x" ; :year 1999 .',
        ':a obo:hasRelatedSynonym :b . :b a owl:Class ; rdfs:label "b" .',
    ],
)
def test_nodes_with_data_of_their_own_stay(graph_of, turtle):
    graph = graph_of(turtle)
    assert "http://e/b" in graph.entities.to_pylist()
    assert graph.counts.folded == 0


def test_plain_data_is_left_as_it_is(graph_of):
    graph = graph_of(':a :knows :b, [ :knows :c ] ; rdfs:label "A" .')
    assert graph.counts.folded == graph.counts.derived == 0
    assert graph.anonymous.sum() == 1


def test_empty_nodes_of_a_vocabulary_disappear(graph_of):
    graph = graph_of(":a :p :b . [] a obo:Synonym . [] a :Thing .")
    assert graph.anonymous.sum() == 1
    assert graph.counts.empty_nodes == 1


def test_the_order_of_lines_does_not_matter(tmp_path: Path):
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    lines = [
        "<urn:a> <http://www.w3.org/2002/07/owl#intersectionOf> _:x .",
        f"_:x <{rdf}first> <urn:b> .",
        f"_:x <{rdf}rest> _:y .",
        f"_:y <{rdf}first> <urn:c> .",
        f"_:y <{rdf}rest> <{rdf}nil> .",
        "<urn:a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:b> .",
    ]
    found = []
    for order in (lines, lines[::-1], [*lines, *lines]):
        (tmp_path / "a.nt").write_text("\n".join(order) + "\n")
        graph = read_graph(tmp_path / "a.nt")
        account_of(graph)
        found.append((graph.entities.to_pylist(), graph.triples.tolist(), graph.roles.tolist()))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == ["urn:a", "urn:b", "urn:c"]


# Nodes that are only another name of an entity


def test_a_node_that_is_only_an_alias_is_a_name(graph_of) -> None:
    graph = graph_of(
        ':United_Nations rdfs:label "United Nations" ; :p :x . :UN a :Alias ; :isAliasOf :United_Nations .'
        ':ONU a :Alias ; rdfs:label "Nations Unies"@fr ; :isAliasOf :United_Nations .'
    )
    assert literals(graph) == {
        ("United_Nations", "label", "United Nations", ""),
        ("United_Nations", "altLabel", "UN", ""),
        ("United_Nations", "altLabel", "Nations Unies", "@fr"),
    }
    assert edges(graph) == {("United_Nations", "p", "x")}
    assert graph.counts.text_nodes == 2


@pytest.mark.parametrize("more", [":UN :p :x .", ":x :p :UN .", ":UN :founded 1945 .", ":UN :isAliasOf :x ."])
def test_an_alias_of_which_more_is_said_stays_an_entity(graph_of, more: str) -> None:
    graph = graph_of(f":UN :isAliasOf :United_Nations . {more}")
    assert ("UN", "isAliasOf", "United_Nations") in edges(graph)
    assert graph.counts.folded == 0
