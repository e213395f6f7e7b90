"""What an entity is, and what is matched with what."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.formats import ReadOptions, read_graph
from largeea.formats.scope import in_scope
from largeea.formats.vocabularies import IDENTITIES
from largeea.graph import KnowledgeGraph, Links, Role, strings
from largeea.graph.same_iri import equal_iris, matched_kinds, stated_links

PREFIXES = """
@prefix : <http://e/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix obo: <http://www.geneontology.org/formats/oboInOwl#> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix schema: <http://schema.org/> .
"""
INDIVIDUAL, CLASS, PROPERTY, VOCABULARY, DEPRECATED, REFERENCE = Role


@pytest.fixture
def roles_of(tmp_path: Path):
    def read(turtle: str) -> dict[str, Role]:
        path = tmp_path / "a.ttl"
        path.write_text(PREFIXES + turtle)
        graph = read_graph(path)
        return dict(zip(graph.entities.to_pylist(), map(Role, graph.roles.tolist()), strict=True))

    return read


@pytest.mark.parametrize(
    ("turtle", "role"),
    [
        (":x a owl:Class .", CLASS),
        (":x a rdfs:Class .", CLASS),
        (":x rdfs:subClassOf :y .", CLASS),
        (":y rdfs:subClassOf :x .", CLASS),
        (":tom a :x .", CLASS),
        (":y rdfs:subClassOf [ owl:onProperty :p ; owl:someValuesFrom :x ] .", CLASS),
        (":x a owl:Class, owl:NamedIndividual .", CLASS),
        (":x a :Cat .", INDIVIDUAL),
        (":tom a :x . :x a :Species .", INDIVIDUAL),
        (":x a skos:Concept .", INDIVIDUAL),
        (":x :p :y .", INDIVIDUAL),
        (":x a owl:ObjectProperty .", PROPERTY),
        (":x a rdf:Property .", PROPERTY),
        (":x rdfs:subPropertyOf :y .", PROPERTY),
        (':a :x :b . :x rdfs:label "knows" .', PROPERTY),
        (":x rdfs:domain :y .", PROPERTY),
        (":x a owl:Ontology .", VOCABULARY),
        (":x a skos:ConceptScheme .", VOCABULARY),
        (":x a rdfs:Datatype .", VOCABULARY),
        (":x a owl:Class ; owl:deprecated true .", DEPRECATED),
        (":x a owl:Class ; owl:deprecated false .", CLASS),
        (":x a owl:DeprecatedClass .", DEPRECATED),
        (":x rdfs:subClassOf obo:ObsoleteClass .", DEPRECATED),
        (":a owl:sameAs :x .", REFERENCE),
        (":a a owl:Class ; owl:equivalentClass :x .", REFERENCE),
        (":a skos:exactMatch :x . :b rdfs:seeAlso :x .", REFERENCE),
        (":a <http://xmlns.com/foaf/0.1/isPrimaryTopicOf> :x .", REFERENCE),
        (':a foaf:isPrimaryTopicOf :x . :x a foaf:Document ; dc:language "en" .', REFERENCE),
        (':x schema:about :a ; schema:name "A" ; schema:isPartOf :wiki .', REFERENCE),
        (':x schema:about :a ; schema:name "A" ; schema:author :b .', INDIVIDUAL),
        (":x foaf:primaryTopic :a . :b :cites :x .", INDIVIDUAL),
        (':a foaf:page :x . :x rdfs:label "x" .', INDIVIDUAL),
        (':a owl:sameAs :x . :x rdfs:label "x" .', INDIVIDUAL),
        (":a owl:sameAs :x . :b :knows :x .", INDIVIDUAL),
        (":a a owl:Class ; owl:equivalentClass :x . :x rdfs:subClassOf :b .", CLASS),
    ],
)
def test_roles(roles_of, turtle, role):
    assert roles_of(turtle)["http://e/x"] == role


@pytest.mark.parametrize(
    "iri",
    [
        "http://www.w3.org/2002/07/owl#Thing",
        "http://xmlns.com/foaf/0.1/Person",
        "http://schema.org/Person",
        "http://www.w3.org/ns/prov#Entity",
        "http://www.w3.org/2004/02/skos/core#Concept",
    ],
)
def test_terms_of_vocabularies(roles_of, iri):
    data = " ".join(f':a{i} rdfs:label "{i}" ; a <{iri}> .' for i in range(3))
    assert roles_of(data)[iri] == VOCABULARY


def test_data_below_a_vocabulary_is_data(roles_of):
    assert (
        roles_of(":a :p <https://schema.org/data/people/7> .")["https://schema.org/data/people/7"]
        == INDIVIDUAL
    )


def test_a_vocabulary_that_a_graph_is_about_is_its_subject(roles_of):
    found = roles_of(
        "foaf:Person a owl:Class ; rdfs:subClassOf foaf:Agent . "
        "foaf:Agent a owl:Class . foaf:knows a owl:ObjectProperty . "
        "<http://xmlns.com/foaf/0.1/> a owl:Ontology ."
    )
    assert found["http://xmlns.com/foaf/0.1/Person"] == CLASS
    assert found["http://xmlns.com/foaf/0.1/knows"] == PROPERTY
    assert found["http://www.w3.org/2002/07/owl#Class"] == VOCABULARY
    assert found["http://xmlns.com/foaf/0.1/"] == VOCABULARY


# Scope


def graph(individuals: int = 0, classes: int = 0, properties: int = 0, blank: int = 0) -> KnowledgeGraph:
    """So many entities of each role, all of them subject of a triple."""
    roles = [Role.INDIVIDUAL] * (individuals + blank) + [Role.CLASS] * classes + [Role.PROPERTY] * properties
    size = len(roles)
    iris = [f"{'_:' if i < blank else 'urn:'}{i:04}" for i in range(size)]
    triples = np.array([[i, 0, 0] for i in range(size)]).reshape(-1, 3)
    relations = strings(["urn:r"] if size else [])
    return KnowledgeGraph(strings(iris), strings(iris), relations, triples, roles=np.array(roles, np.int8))


def scope(source: KnowledgeGraph, target: KnowledgeGraph, match: str = "auto") -> tuple[set[str], set[str]]:
    """The roles of both sides that are matched."""
    return tuple(
        {Role(role).name for role in side.roles[side.linkable]}
        for side in in_scope(source, target, match)  # type: ignore[return-value]
    )


@pytest.mark.parametrize(
    ("source", "target", "ours", "theirs"),
    [
        (graph(90, 10), graph(50, 50), {"INDIVIDUAL", "CLASS"}, {"INDIVIDUAL", "CLASS"}),
        (graph(91, 9), graph(50, 50), {"INDIVIDUAL"}, {"INDIVIDUAL"}),
        (graph(0, 50, 200), graph(0, 50), {"CLASS"}, {"CLASS"}),
        (graph(95, 5), graph(0, 40), {"INDIVIDUAL"}, {"CLASS"}),
        (graph(0, 40), graph(95, 5), {"CLASS"}, {"INDIVIDUAL"}),
        (graph(60, 40), graph(40, 60), {"INDIVIDUAL", "CLASS"}, {"INDIVIDUAL", "CLASS"}),
        (graph(0, 0, 5), graph(0, 0, 5), {"PROPERTY"}, {"PROPERTY"}),
        (graph(5, blank=50), graph(5), {"INDIVIDUAL"}, {"INDIVIDUAL"}),
    ],
)
def test_what_graphs_are_about_is_matched(source, target, ours, theirs):
    assert scope(source, target) == (ours, theirs)


def test_a_thesaurus_and_an_ontology_are_of_one_kind():
    source, target = in_scope(graph(95, 5), graph(0, 40))
    assert set(source.kinds[source.linkable]) == set(target.kinds[target.linkable])


def test_each_kind_has_its_own():
    source, _ = in_scope(graph(5, 5, 5), graph(5, 5, 5), "all")
    assert source.kinds.tolist() == [0] * 5 + [1] * 5 + [2] * 5


@pytest.mark.parametrize(
    ("match", "roles"), [("individuals", "INDIVIDUAL"), ("classes", "CLASS"), ("properties", "PROPERTY")]
)
def test_one_role_on_request(match, roles):
    assert scope(graph(5, 5, 5), graph(5, 5, 5), match) == ({roles}, {roles})


def test_a_role_that_is_not_there_is_an_error():
    with pytest.raises(UsageError, match="'classes', but the target graph has none of them; it has 5 indiv"):
        in_scope(graph(5, 5), graph(5), "classes")
    with pytest.raises(UsageError, match="allowed: auto, individuals, classes, properties, all"):
        in_scope(graph(5), graph(5), "everything")  # type: ignore[arg-type]


def test_vocabulary_and_deprecated_terms_are_never_matched():
    roles = np.array([Role.VOCABULARY, Role.DEPRECATED, Role.INDIVIDUAL], np.int8)
    iris = strings(["urn:a", "urn:b", "urn:c"])
    plain = KnowledgeGraph(iris, iris, strings(), np.empty((0, 3)), roles=roles)
    for match in ("auto", "all", "individuals"):
        assert in_scope(plain, plain, match)[0].linkable.tolist() == [False, False, True]


# Equal IRIs


@pytest.fixture
def two(tmp_path: Path):
    def read(ours: str, theirs: str, suffix: str = "nt", **options: object):
        graphs = []
        for name, text in (("a", ours), ("b", theirs)):
            (tmp_path / f"{name}.{suffix}").write_text(text)
            graphs.append(read_graph(tmp_path / f"{name}.{suffix}", ReadOptions(**options)))
        return graphs

    return read


def shared(source: KnowledgeGraph, target: KnowledgeGraph) -> list[str]:
    same = equal_iris(source, target)
    assert source.entities.take(same.source).equals(target.entities.take(same.target))
    return source.entities.take(same.source).to_pylist()


def test_equal_iris_of_rdf_are_the_same(two):
    ours = "<http://a/x> <http://p> <urn:y> .\n_:b <http://p> <http://a/z> .\n"
    theirs = "<http://a/x> <http://p> <http://a/w> .\n_:b <http://p> <urn:y> .\n"
    assert shared(*two(ours, theirs)) == ["http://a/x", "urn:y"]
    assert shared(*two(ours, theirs, same_iri=False)) == []


def test_an_iri_that_one_graph_only_points_to_is_free_to_be_matched(two):
    same_as = "http://www.w3.org/2002/07/owl#sameAs"
    ours = f"<http://a/x> <{same_as}> <http://b/x> .\n<http://a/x> <{same_as}> <http://c/x> .\n"
    theirs = f"<http://b/x> <http://p> <http://b/y> .\n<http://b/x> <{same_as}> <http://c/x> .\n"
    assert shared(*two(ours, theirs)) == ["http://c/x"], "what both point to is the same"


def stated(source: KnowledgeGraph, target: KnowledgeGraph) -> list[tuple[str, str]]:
    links = stated_links(*in_scope(source, target), IDENTITIES)
    ends = source.entities.take(links.source), target.entities.take(links.target)
    return list(zip(*(side.to_pylist() for side in ends), strict=True))


def test_links_that_either_graph_states(two):
    same_as, see = "http://www.w3.org/2002/07/owl#sameAs", "http://www.w3.org/2000/01/rdf-schema#seeAlso"
    ours = (
        f"<http://a/x> <{same_as}> <http://b/x> .\n<http://a/x> <{same_as}> <http://b/y> .\n"
        f"<http://a/z> <{see}> <http://b/z> .\n<http://a/w> <http://p> <http://a/z> .\n"
    )
    theirs = "".join(f"<http://b/{name}> <http://p> <http://b/x> .\n" for name in "xyzw")
    theirs += f"<http://b/w> <{same_as}> <http://a/w> .\n<http://b/w> <{same_as}> <http://a/gone> .\n"
    links = [("http://a/w", "http://b/w"), ("http://a/x", "http://b/x")]
    assert stated(*two(ours, theirs)) == links
    assert stated(*two(ours, theirs, same_iri=False)) == []


def test_keys_of_tables_are_not_iris(two):
    rows = "http://a/x\tp\thttp://a/y\n"
    assert shared(*two(rows, rows, "tsv")) == []


def test_entities_with_equal_iris_are_not_matched_with_others():
    side = graph(3)
    kinds = matched_kinds(side, side, Links(np.array([[0, 2]])))
    assert {name: column.tolist() for name, column in kinds.items()} == {
        "source": [-1, 0, 0],
        "target": [0, 0, -1],
    }
