"""The predicate of a link follows from the roles of its ends."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.formats import read_graph
from largeea.formats.links import FORMATS, predicate_iri, read_links, resolve, text, write_alignment
from largeea.formats.links.predicates import skos_concepts
from largeea.graph import KnowledgeGraph, strings
from largeea.matching.alignment import Alignment

PREFIXES = """\
@prefix : <http://{side}/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
"""
ENTITIES = """\
:animal a skos:Concept ; skos:broader :being .
:berlin a :City ; :mayor :kai ; rdfs:label "Berlin" .
:City a owl:Class ; rdfs:label "City" .
:mayor a owl:ObjectProperty ; rdfs:label "mayor" .
"""
PREDICATES = {
    "City": "owl:equivalentClass",
    "animal": "skos:exactMatch",
    "being": "skos:exactMatch",
    "berlin": "owl:sameAs",
    "mayor": "owl:equivalentProperty",
}


@pytest.fixture
def graphs(tmp_path: Path) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    made = []
    for side in "ab":
        (tmp_path / f"{side}.ttl").write_text(PREFIXES.format(side=side) + ENTITIES)
        made.append(read_graph(tmp_path / f"{side}.ttl"))
    return made[0], made[1]


def paired(graphs: tuple[KnowledgeGraph, KnowledgeGraph], *names: tuple[str, str]) -> Alignment:
    """Accepted pairs of entities by name."""
    sides = zip(graphs, "ab", zip(*names, strict=True), strict=True)
    ids = [graph.find(strings(f"http://{side}/{name}" for name in given)) for graph, side, given in sides]
    return Alignment(*graphs, np.column_stack(ids), np.ones(len(names)), np.ones(len(names), bool))


def written(alignment: Alignment, format: str, predicate: str | None = None) -> str:
    file = io.BytesIO()
    write_alignment(alignment, file, format, predicate)
    return file.getvalue().decode()


def predicates(alignment: Alignment, predicate: str | None = None) -> list[str]:
    lines = written(alignment, "sssom", predicate).splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    return [row["predicate_id"] for row in csv.DictReader(rows, delimiter="\t")]


@pytest.mark.parametrize("rows_at_once", [2, 100])
def test_each_role_has_its_predicate(graphs, rows_at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "BATCH_ROWS", rows_at_once)
    alignment = paired(graphs, *((name, name) for name in PREDICATES))
    assert predicates(alignment) == list(PREDICATES.values())


def test_a_doubtful_pair_does_not_shift_the_predicates(graphs) -> None:
    pairs = paired(graphs, *((name, name) for name in PREDICATES))
    accepted = np.array([True, False, True, True, True])
    alignment = Alignment(*graphs, pairs.pairs, pairs.confidence, accepted)
    assert predicates(alignment) == [PREDICATES[name] for name in ("City", "being", "berlin", "mayor")]


def test_ends_of_different_roles_are_an_exact_match(graphs) -> None:
    pairs = ("animal", "City"), ("berlin", "animal"), ("City", "berlin"), ("mayor", "mayor")
    assert predicates(paired(graphs, *pairs)) == [*["skos:exactMatch"] * 3, "owl:equivalentProperty"]


@pytest.mark.parametrize("format", ["sssom", "same-as"])
def test_what_is_written_is_read_back(graphs, format: str, tmp_path: Path) -> None:
    alignment = paired(graphs, *((name, name) for name in PREDICATES))
    write_alignment(alignment, tmp_path / "links", format)
    links = resolve(read_links(tmp_path / "links"), *graphs)
    assert links.pairs.tolist() == alignment.links.canonical().pairs.tolist()


def test_concepts_are_known_by_type_or_by_relations_of_concepts(graphs) -> None:
    found = graphs[0].entities.filter(skos_concepts(graphs[0])).to_pylist()
    assert found == ["http://a/animal", "http://a/being"]


def test_a_table_has_no_concepts() -> None:
    empty = KnowledgeGraph(strings(["x", "y"]), strings(["x", "y"]), strings(), np.empty((0, 3)))
    assert not skos_concepts(empty).any()


def test_statements_have_the_same_predicates_as_rows(graphs) -> None:
    alignment = paired(graphs, *((name, name) for name in PREDICATES))
    statements = written(alignment, "same-as").splitlines()
    assert [line.split()[1] for line in statements] == [
        f"<{predicate_iri(p)}>" for p in predicates(alignment)
    ]


def test_a_given_predicate_is_that_of_all_links(graphs) -> None:
    alignment = paired(graphs, *((name, name) for name in PREDICATES))
    assert predicates(alignment, "skos:closeMatch") == ["skos:closeMatch"] * 5
    assert predicates(alignment, "http://x.org/p#same") == ["ns1:same"] * 5
    assert '#  ns1: "http://x.org/p#"' in written(alignment, "sssom", "http://x.org/p#same").splitlines()
    assert written(alignment, "same-as", "urn:x:same").count(" <urn:x:same> ") == 5


@pytest.mark.parametrize("format", sorted(FORMATS.keys() - {"sssom", "same-as"}))
def test_formats_without_predicates_stay_the_same(graphs, format: str) -> None:
    alignment = paired(graphs, ("berlin", "berlin"))
    ours, theirs = io.BytesIO(), io.BytesIO()
    write_alignment(alignment, ours, format, "skos:closeMatch")
    write_alignment(alignment, theirs, format)
    assert ours.getvalue() == theirs.getvalue()


@pytest.mark.parametrize("text", ["closeMatch", "nope:closeMatch", "skos:", "http://a b", "http://a>", ""])
def test_what_is_no_predicate(text: str) -> None:
    with pytest.raises(UsageError, match=r"is neither an IRI .* nor a CURIE with a known prefix"):
        predicate_iri(text)


@pytest.mark.parametrize("format", ["sssom", "same-as"])
def test_concepts_match_exactly_or_closely_by_confidence(
    graphs: tuple[KnowledgeGraph, KnowledgeGraph], format: str
) -> None:
    alignment = paired(graphs, ("animal", "animal"), ("being", "being"), ("berlin", "berlin"))
    unsure = replace(alignment, confidence=np.array([0.9, 0.6, 0.6]))
    lines = written(unsure, format).splitlines()
    for predicate, entity in (("exactMatch", "animal"), ("closeMatch", "being"), ("sameAs", "berlin")):
        assert [entity in line for line in lines if predicate in line] == [True]
    given = written(unsure, format, "skos:exactMatch")
    assert given.count("exactMatch") == 3, "a given predicate holds for all"
