"""What `inspect` says of an ontology, and what is matched in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from largeea.cli import run

ONTOLOGY = """
@prefix : <http://a/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix obo: <http://www.geneontology.org/formats/oboInOwl#> .
:lip a owl:Class ; rdfs:label "lip" ; obo:hasExactSynonym [ rdfs:label "labium" ] ;
  rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :part_of ; owl:someValuesFrom :face ] .
:face a owl:Class ; rdfs:label "face" ; owl:disjointWith :nose .
:nose a owl:Class ; owl:deprecated true .
:part_of a owl:ObjectProperty .
"""


def test_inspect_an_ontology(cli):
    Path("o.ttl").write_text(ONTOLOGY)
    graph = json.loads(cli("inspect", "o.ttl", "--json")[0])["graph"]
    assert graph["roles"] == {
        "classes": 2, "properties": 1, "vocabulary terms": 2, "deprecated terms": 1
    }  # fmt: skip
    assert graph["matched"] == {"classes": 2}
    assert {name: left["count"] for name, left in graph["not_matched"].items()} == {
        "properties": 1,
        "vocabulary terms": 2,
        "deprecated terms": 1,
    }
    assert graph["folded"] == {"class expressions": 1, "nodes with a text": 1}
    assert (graph["folded_statements"], graph["derived_statements"]) == (6, 2)
    assert list(graph["label_predicates"].values()) == [2]
    assert list(graph["synonym_predicates"].values()) == [1]
    out, _ = cli("inspect", "o.ttl")
    assert "hasExactSynonym 1" in out
    properties = json.loads(cli("inspect", "o.ttl", "--json", "--match", "properties")[0])["graph"]
    assert properties["matched"] == {"properties": 1}


def test_what_is_matched_is_an_option_of_align_and_plan(cli):
    Path("o.ttl").write_text(ONTOLOGY)
    Path("p.ttl").write_text(ONTOLOGY.replace("http://a/", "http://c/"))
    out, _ = cli("align", "o.ttl", "p.ttl", "-o", "run", "--match", "properties", "--json")
    answer = json.loads(out)
    assert answer["accepted"] + answer["unmatched_source"] == 1
    cli("plan", "o.ttl", "p.ttl", "--match", "classes", "--json")
    cli("align", "o.ttl", "o.ttl", "-o", "same", "--json")
    assert Path("same/same_iri.tsv").read_text().splitlines() == [
        "entity\tname", "http://a/face\tface", "http://a/lip\tlip"
    ]  # fmt: skip
    out, _ = cli("align", "o.ttl", "o.ttl", "-o", "other", "--json", "--same-iri", "off")
    assert json.loads(out)["same_iri"] == 0


@pytest.mark.parametrize("option", [("--match", "everything"), ("--same-iri", "perhaps")])
def test_wrong_choices_of_what_is_matched(cli, capsys, option):
    assert run(["align", "a.nt", "b.ttl", "-o", "run", *option]) == 2
    assert f"{' '.join(option)}: allowed are" in capsys.readouterr().err
