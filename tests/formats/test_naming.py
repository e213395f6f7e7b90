from __future__ import annotations

import numpy as np
import pytest

from largeea.formats import ReadOptions, read_graph
from largeea.formats.naming import LABEL_PREDICATES, Naming, local_names
from largeea.graph import Role, strings

RDFS, SKOS, FOAF, SCHEMA, SCHEMA_S = LABEL_PREDICATES[:5]


def names(*iris: str) -> list[str | None]:
    return local_names(strings(iris)).to_pylist()


WORDS = [f"http://dbpedia.org/resource/Word_{word}" for word in ("one", "two", "three", "four", "five")]


def named_as(iri: str, *others: str) -> str | None:
    return names(iri, *others)[0]


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://dbpedia.org/resource/New_York_City", "New York City"),
        ("http://fr.dbpedia.org/resource/Ch%C3%A2teau_d%27If", "Château d'If"),
        ("http://dbpedia.org/resource/AC/DC", "AC/DC"),
        ("http://dbpedia.org/resource/Category:Rock/Pop", "Category:Rock/Pop"),
        ("https://en.wikipedia.org/wiki/C#", "C#"),
        ("http://example.org/onto#Person", "Person"),
        ("http://example.org/a/b/Leaf/", "Leaf"),
        ("urn:isbn:Moby_Dick", "Moby Dick"),
        ("plain words", "plain words"),
        ("http://example.org/100%", "100%"),
        ("http://example.org/%E4%B8%AD%E5%9B%BD", "中国"),
        ("http://example.org/中国", "中国"),
        ("http://example.org/_a__b_", "a  b"),
        ("http://example.org/onto#", None),
        ("http://example.org/___", None),
        ("_:b0", None),
        ("_:Berlin", None),
        ("", None),
    ],
)
def test_the_last_part_of_an_iri_is_its_name(iri, name):
    assert named_as(iri) == name


@pytest.mark.parametrize(
    "iri",
    [
        "http://www.wikidata.org/entity/Q42",
        "urn:entity:17",
        "urn:relation:3",
        "http://example.org/12345",
        "http://linkedgeodata.org/triplify/node254749496",
        "http://rdf.freebase.com/ns/m.0k8z",
        "http://rdf.freebase.com/ns/g.11b6jb",
        "http://example.org/GO_0008150".replace("_", ":"),
        "http://example.org/ABC-12.3",
        "urn:uuid:123e4567-e89b-12d3-a456-426614174000",
        "http://example.org/{123E4567-E89B-12D3-A456-426614174000}",
        "http://example.org/da39a3ee5e6b4b0d3255bfef95601890afd80709",
    ],
)
def test_a_code_is_no_name(iri):
    assert named_as(iri) is None


def test_in_a_namespace_of_words_a_short_name_is_a_name():
    for name in ("U2", "1984", "Boeing-747", "B-52"):
        assert named_as(f"http://dbpedia.org/resource/{name}", *WORDS) == name
    assert named_as("http://other.org/U2", *WORDS) is None


def test_long_codes_are_codes_anywhere():
    base = "http://dbpedia.org/resource/"
    for code in ("123e4567-e89b-12d3-a456-426614174000", "0123456789abcdef0"):
        assert named_as(base + code, *WORDS) is None
    assert named_as(base + "Deadbeef", *WORDS) == "Deadbeef"


def test_every_namespace_is_judged_by_itself():
    codes = [f"http://www.wikidata.org/entity/Q{i}" for i in range(50)]
    found = names(*codes, *WORDS, "http://dbpedia.org/resource/Q5")
    assert found == [None] * 50 + ["Word one", "Word two", "Word three", "Word four", "Word five", "Q5"]


def test_no_entities_no_names():
    assert names() == []


# Labels


@pytest.fixture
def name_of(tmp_path):
    """The name that the entity `urn:x:Local_name` gets with these labels: (predicate, literal) each."""

    def read(*labels: tuple[str, str], **naming):
        (tmp_path / "a.nt").write_text(
            "".join(f"<urn:x:Local_name> <{predicate}> {literal} .\n" for predicate, literal in labels)
            + "<urn:x:Other_name> <urn:p> <urn:x:Local_name> .\n"
        )
        graph = read_graph(tmp_path / "a.nt", ReadOptions(naming=Naming(**naming)))
        found = dict(zip(graph.entities.to_pylist(), graph.names.to_pylist(), strict=True))
        assert found["urn:x:Other_name"] == "Other name"
        return found["urn:x:Local_name"]

    return read


@pytest.mark.parametrize("predicate", LABEL_PREDICATES)
def test_a_label_beats_the_local_name(name_of, predicate):
    assert name_of((predicate, '"Label"')) == "Label"


def test_without_a_label_the_local_name_counts(name_of):
    assert name_of() == "Local name"
    assert name_of(("urn:comment", '"Label"')) == "Local name"
    assert name_of((RDFS, '"  "'), (SKOS, '""')) == "Local name"


def test_label_predicates_have_an_order(name_of):
    labels = [(SCHEMA, '"schema"'), (FOAF, '"foaf"'), (SKOS, '"skos"'), (RDFS, '"rdfs"')]
    assert name_of(*labels) == "rdfs"
    assert name_of(*labels[:3]) == "skos"
    assert name_of(*labels[:2]) == "foaf"
    assert name_of(*labels, predicates=(SCHEMA, RDFS)) == "schema"
    assert name_of(*labels, ("urn:mine", '"mine"'), predicates=("urn:mine",)) == "mine"
    assert name_of(*labels, predicates=("urn:absent",)) == "Local name"


def test_languages_have_an_order(name_of):
    labels = [(RDFS, f'"{language}"@{language}') for language in ("zh", "fr", "en", "de", "pt-BR")]
    assert name_of(*labels) == "en"
    assert name_of(*labels, (RDFS, '"none"')) == "none"
    assert name_of(*labels, (RDFS, '"none"'), languages=("ja", "fr", "de")) == "fr"
    assert name_of(*labels, languages=("ja",)) == "en"
    assert name_of(*labels[:2], languages=("ja",)) == "fr"
    assert name_of(*labels, languages=("FR",)) == "fr"


def test_a_language_stands_for_its_variants(name_of):
    labels = [(RDFS, f'"{language}"@{language}') for language in ("en", "pt-BR", "ptx")]
    assert name_of(*labels, languages=("pt",)) == "pt-BR"
    assert name_of(*labels, (RDFS, '"exact"@pt'), languages=("pt",)) == "exact"
    assert name_of(*labels, languages=("pt-BR",)) == "pt-BR"
    assert name_of(*labels, languages=("pt-PT",)) == "en"
    assert name_of((RDFS, '"colour"@en-GB'), (RDFS, '"couleur"@fr')) == "colour"


def test_among_equals_the_choice_is_always_the_same(name_of):
    labels = [(RDFS, f'"{text}"@en') for text in ("b", "a", "c", "d")]
    assert name_of(*labels) == name_of(*reversed(labels))


def test_camel_case_is_split_into_words_where_nothing_else_separates_them():
    iris = [
        "http://a/hasNation",
        "http://a/XMLFile",
        "http://a/U2",
        "http://b/LeBron_James",
        "http://b/McDonald",
    ]
    names = local_names(strings(iris)).to_pylist()
    assert names == ["has Nation", "XML File", "U2", "LeBron James", "McDonald"]


def test_camel_case_of_classes_and_properties_is_always_split():
    iris = strings(["http://a/Citizen_Event", "http://a/isAliasOf", "http://a/McDonald"])
    roles = np.array([Role.CLASS, Role.PROPERTY, Role.INDIVIDUAL], np.int8)
    assert local_names(iris, roles).to_pylist() == ["Citizen Event", "is Alias Of", "McDonald"]
