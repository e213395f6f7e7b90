"""What `inspect` counts."""

from __future__ import annotations

import json
from pathlib import Path

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def test_inspect(cli):
    Path("c.ttl").write_text(
        f'<urn:x:a> <urn:p> <urn:x:b>, <urn:x:b>, [] ; <{LABEL}> "A"@en, "A"@de, "Ä"@de .\n'
        f'<urn:x:c> <{LABEL}> "A" .'
    )
    out, _ = cli("inspect", "c.ttl", "--json")
    assert json.loads(out) == {
        "graph": {
            "entities": 4,
            "roles": {"individuals": 3},
            "described": {"individuals": 2},
            "blank_nodes": 1,
            "matched": {"individuals": 3},
            "not_matched": {"blank nodes": {"count": 1, "reason": "they have no IRI"}},
            "relations": 1,
            "triples": 2,
            "literals": 4,
            "duplicate_statements": 1,
            "rejected_lines": 0,
            "folded": {},
            "folded_statements": 0,
            "derived_statements": 0,
            "without_triples": 1,
            "degree_mean": 1.0,
            "degree_median": 1,
            "degree_max": 2,
            "named": 0.75,
            "names_shared": 1,
            "label_predicates": {LABEL: 4},
            "synonym_predicates": {},
            "languages": {"de": 2, "en": 1},
        }
    }
    out, _ = cli("inspect", "c.ttl")
    assert "de 2, en 1" in out


def test_inspect_a_pair(cli):
    facts = json.loads(cli("inspect", "pair", "--json")[0])
    assert (facts["source"]["entities"], facts["target"]["entities"], facts["links"]) == (17, 17, 16)
    assert facts["folds"] == ["1", "2"]
    assert "16 links; official folds: 1, 2" in cli("inspect", "pair")[0]


def test_inspect_counts_what_it_left_out(cli):
    with Path("a.nt").open("a") as file:
        file.write("rubbish\n")
    assert (
        json.loads(cli("inspect", "a.nt", "--json", "--max-errors", "1")[0])["graph"]["rejected_lines"] == 1
    )
