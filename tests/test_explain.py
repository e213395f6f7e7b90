"""A pair small enough to know every word of the explanation, and the command on a ring of towns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from largeea.alignment import Alignment
from largeea.cli import run
from largeea.errors import UsageError
from largeea.explain import (
    Entity,
    SharedValue,
    Verdict,
    explain,
    find_entity,
    shared_literals,
    witnesses,
)
from largeea.graph import Attributes, KnowledgeGraph, Links, Task, strings
from largeea.similarity import Similarity

ANNA, BERT, BERLIN, ULM = range(4)  # in the source; in the target ULM is someone else's namesake
MAYOR, LIVES = range(2)


def graph(side: str, names: list[str | None], triples: list[tuple[int, int, int]]) -> KnowledgeGraph:
    entities = [f"http://{side}/{number}" for number in range(len(names))]
    relations = [f"http://{side}/mayor", f"http://{side}/lives"]
    return KnowledgeGraph(strings(entities), strings(names), strings(relations), np.array(triples))


SOURCE = graph(
    "s",
    ["Anna", "Bert", "Berlin", "Ulm"],
    [(ANNA, LIVES, BERLIN), (BERT, LIVES, BERLIN), (BERLIN, MAYOR, BERT)],
)
TARGET = graph(
    "t",
    ["Anna", "Bert", "Berlin", "anna", None],
    [(ANNA, LIVES, BERLIN), (BERT, LIVES, BERLIN), (BERLIN, LIVES, BERT), (BERLIN, MAYOR, BERT)],
)
SHAPE = SOURCE.size, TARGET.size
TASK = Task(SOURCE, TARGET, Links(np.array([[BERLIN, BERLIN]])))
NAME = Similarity.from_entries([0, 0, 0, 1, 3, 3], [0, 3, 1, 1, 0, 2], [1, 1, 0.25, 1, 0.5, 0.125], SHAPE)
NEIGHBOURS = Similarity.from_entries([0, 0, 1], [0, 1, 1], [0.25, 0.75, 0.5], SHAPE)
FUSED = Similarity.from_entries(
    [0, 0, 0, 1, 3, 3], [0, 3, 1, 1, 0, 2], [0.75, 0.5, 0.25, 1, 0.5, 0.125], SHAPE
)
ALIGNMENT = Alignment(
    SOURCE, TARGET, [[BERLIN, BERLIN], [BERT, BERT], [ANNA, ANNA]], [1, 0.5, 0.25], [True, True, False]
)


def explained(entity: int, side: str, **options: int):
    return explain(TASK, FUSED, {"name": NAME, "neighbours": NEIGHBOURS}, ALIGNMENT, entity, side, **options)


def test_a_pair_for_review():
    found = explained(ANNA, "source")
    assert (found.status, found.confidence, found.seed) == ("review", 0.25, False)
    assert found.entity == Entity("http://s/0", "Anna")
    assert found.counterpart.entity == Entity("http://t/0", "Anna")
    assert found.counterpart.fused == Verdict(0.75, 1)
    assert found.counterpart.channels == {"name": Verdict(1, 1), "neighbours": Verdict(0.25, 2)}
    assert found.counterpart.paired_with is None


def test_rivals_come_best_first_with_their_owners():
    namesake, bert = explained(ANNA, "source").candidates
    assert namesake.entity == Entity("http://t/3", "anna")
    assert namesake.channels == {"name": Verdict(1, 1), "neighbours": None}
    assert namesake.paired_with is None
    assert bert.paired_with == Entity("http://s/1", "Bert")
    assert [one.entity.iri for one in explained(ANNA, "source", candidates=1).candidates] == ["http://t/3"]
    assert explained(ANNA, "source", candidates=0).candidates == ()


def test_from_the_other_side_it_is_the_same_pair():
    source, target = explained(ANNA, "source"), explained(ANNA, "target")
    assert (target.status, target.confidence) == ("review", 0.25)
    assert target.counterpart.entity == source.entity
    assert target.witnesses == source.witnesses
    assert target.counterpart.fused == Verdict(0.75, 1)
    assert [one.entity.name for one in target.candidates] == ["Ulm"]


def test_without_a_pair_the_best_candidate_is_looked_at():
    found = explained(ULM, "source")
    assert (found.status, found.confidence, found.counterpart) == ("unmatched", None, None)
    assert [(one.entity.name, one.paired_with.name) for one in found.candidates] == [
        ("Anna", "Anna"),
        ("Berlin", "Berlin"),
    ]
    assert found.witnesses == ()
    stranger = explained(4, "target")
    assert (stranger.status, stranger.candidates, stranger.entity.name) == ("unmatched", (), None)


def test_a_seed_is_called_one():
    assert explained(BERLIN, "source").seed
    assert not explained(BERT, "source").seed


def test_witnesses_are_the_matched_neighbours_strongest_first():
    """Three in the first city, one in the second, one of the three its mayor; the target has told more.

    Living somewhere agrees 4 times of 4, being mayor once of 1: 4 / (4 + 5) and 1 / (1 + 5). All four live in
    one city only and no two cities share a mayor, so each edge of a city tells all there is to it.
    """
    people = [(person, LIVES, city) for person, city in ((0, 4), (1, 4), (2, 4), (3, 5))]
    source = graph("s", [*"abcdef"], [*people, (4, MAYOR, 0)])
    target = graph("t", [*"abcdefg"], [*people, (4, MAYOR, 0), (6, LIVES, 4)])
    same = Alignment(source, target, np.repeat(np.arange(6), 2), np.ones(6), np.ones(6))
    found = witnesses(same, 4, 4)
    assert [(one.source_relation, one.source_neighbour.name) for one in found] == [
        ("^http://s/lives", "a"), ("^http://s/lives", "b"), ("^http://s/lives", "c"), ("http://s/mayor", "a"),
    ]  # fmt: skip
    assert [(one.target_relation, one.target_neighbour.iri) for one in found] == [
        *(("^http://t/lives", f"http://t/{person}") for person in (0, 1, 2)),
        ("http://t/mayor", "http://t/0"),
    ]
    assert [one.strength for one in found] == pytest.approx([4 / 9, 4 / 9, 4 / 9, 1 / 6])


def test_only_accepted_pairs_bear_witness():
    assert {one.source_neighbour.name for one in witnesses(ALIGNMENT, BERLIN, BERLIN)} == {"Bert"}
    (berlin,) = witnesses(ALIGNMENT, ANNA, ANNA)
    assert (berlin.source_neighbour.name, berlin.target_neighbour.iri) == ("Berlin", "http://t/2")
    assert witnesses(ALIGNMENT, ANNA, ULM) == ()


def test_names_and_lone_values_are_no_shared_literals():
    words = strings(["Anna", "blue", "BLUE ", "7", "8"])
    rows = (
        [(ANNA, 0, 0, 0), (ANNA, 1, 1, 0), (ANNA, 2, 3, 0)],
        [(ANNA, 0, 0, 0), (ANNA, 1, 2, 0), (ANNA, 2, 4, 0)],
    )
    predicates = strings(["http://x/label", "http://x/colour", "http://x/number"])
    told = [
        replace(side, attributes=Attributes(np.array(own), predicates, words, strings([""])))
        for side, own in zip((SOURCE, TARGET), rows, strict=True)
    ]
    assert shared_literals(Task(*told), ANNA, ANNA) == (
        SharedValue("http://x/colour", "http://x/colour", "blue"),
    )


def test_to_json_is_plain():
    plain = json.loads(json.dumps(explained(ANNA, "source").to_json()))
    assert plain["counterpart"]["channels"]["name"] == {"score": 1.0, "rank": 1}
    assert plain["candidates"][0]["channels"]["neighbours"] is None
    assert plain["witnesses"][0]["source_neighbour"] == {"iri": "http://s/2", "name": "Berlin"}


@pytest.mark.parametrize(
    ("wanted", "side", "found"),
    [
        ("http://s/3", None, (ULM, "source")),
        ("<http://t/4>", None, (4, "target")),
        ("Ulm", None, (ULM, "source")),
        ("uLM", None, (ULM, "source")),
        ("Anna", None, (ANNA, "source")),
        ("Anna", "target", (ANNA, "target")),
        ("anna", None, (3, "target")),
    ],
)
def test_find_entity(wanted, side, found):
    assert find_entity(ALIGNMENT, wanted, side) == found


def test_several_hits_are_listed():
    with pytest.raises(UsageError, match="3 entities") as error:
        find_entity(ALIGNMENT, "ANNA")
    assert [line.split()[1] for line in str(error.value).splitlines()[1:]] == [
        "http://s/0", "http://t/0", "http://t/3",
    ]  # fmt: skip


def test_no_hit_offers_near_ones():
    with pytest.raises(UsageError, match="'Berlyn'; near are:\n  source: http://s/2"):
        find_entity(ALIGNMENT, "Berlyn")
    with pytest.raises(UsageError, match=r"of the target graph has the IRI or name 'qqqqq'$"):
        find_entity(ALIGNMENT, "qqqqq", "target")
    with pytest.raises(UsageError):
        find_entity(ALIGNMENT, "")


# The command

FOUNDED = {"a": "+0250", "b": "250.0"}
TOWNS = ["Berlin", "Paris", "Tokyo", "Lima", "Cairo", "Oslo", "Quito", "Hanoi"]


@pytest.fixture
def finished(tmp_path, monkeypatch, capsys):
    """In the working directory a finished run: a ring of towns, one of them unknown to the other graph."""
    monkeypatch.chdir(tmp_path)
    for side, towns in (("a", [*TOWNS, "Atlantis"]), ("b", TOWNS)):
        ring = zip(towns, towns[1:] + towns[:1], strict=True)
        lines = [f"<http://{side}/{x}> <http://{side}/next> <http://{side}/{y}> .\n" for x, y in ring]
        lines.append(f'<http://{side}/Paris> <http://{side}/founded> "{FOUNDED[side]}" .\n')
        Path(f"{side}.nt").write_text("".join(lines))
    assert run(["align", "a.nt", "b.nt", "-o", "run"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("wanted", ["http://a/Paris", "http://b/Paris", "Paris"])
def test_explain(finished, capsys, wanted):
    assert run(["explain", "run", wanted, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "accepted"
    assert {found["entity"]["iri"], found["counterpart"]["entity"]["iri"]} == {
        "http://a/Paris", "http://b/Paris",
    }  # fmt: skip
    said = {"name", "semantic", "strings", "neighbours", "surroundings"}
    assert set(found["counterpart"]["channels"]) == said
    seen = {(one["source_relation"], one["source_neighbour"]["iri"]) for one in found["witnesses"]}
    assert seen == {("http://a/next", "http://a/Tokyo"), ("^http://a/next", "http://a/Berlin")}
    assert found["values"] == [
        {"source_predicate": "http://a/founded", "target_predicate": "http://b/founded", "value": "+0250"}
    ]
    assert run(["explain", "run", wanted]) == 0
    out = capsys.readouterr().out
    assert "accepted, confidence" in out
    assert 'Equal values: 1\n  "+0250"\n       http://a/founded = http://b/founded' in out
    assert "Matched neighbours, the most telling first: 2" in out
    assert '^http://b/next http://b/Berlin "Berlin"' in out


def test_explain_what_has_no_pair(finished, capsys):
    assert run(["explain", "run", "Atlantis"]) == 0
    assert "\nunmatched\n" in capsys.readouterr().out


def test_explain_knows_no_such_entity(finished, capsys):
    assert run(["explain", "run", "Atlantys"]) == 2
    assert "near are:\n  source: http://a/Atlantis" in capsys.readouterr().err
    assert run(["explain", "nowhere", "Paris"]) == 3
    assert run(["explain", "run", "Paris", "--side", "left"]) == 2


def test_names_cannot_steer_the_terminal(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    for side in "ab":
        Path(f"{side}.nt").write_text(f'<urn:{side}:1> <{label}> "\\u001b[31mred\\nunmatched [b]x[/b]" .\n')
    assert run(["align", "a.nt", "b.nt", "-o", "run"]) == 0
    capsys.readouterr()
    assert run(["explain", "run", "urn:a:1"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\nunmatched" not in out
    assert "[b]x[/b]" in out
