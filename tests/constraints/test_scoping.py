"""Which entities are in scope, end to end: types, queries, entities to be left out, and given links."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from largeea import align, align_files, read
from largeea.cli import run
from largeea.constraints import as_scope, scoped
from largeea.constraints.types import Types
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.formats import ReadOptions
from largeea.formats.vocabularies import SUBCLASS, TYPE
from largeea.graph import KnowledgeGraph, Part, strings

PEOPLE = ["Ada Lovelace", "Alan Turing", "Emmy Noether", "Grace Hopper", "Kurt Goedel", "Sofia Kovalevskaya"]
TOWNS = ["Marylebone", "Maida Vale", "Erlangen", "New York", "Bruenn", "Moscow"]
HEAD = """@prefix {side}: <http://{side}/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
{side}:Logician rdfs:subClassOf {side}:Mathematician .
{side}:Mathematician rdfs:subClassOf {side}:Person .
"""


def text(side: str) -> str:
    """People born in towns; one person is a logician, who is a mathematician, who is a person."""
    found = HEAD.format(side=side)
    for number, (person, town) in enumerate(zip(PEOPLE, TOWNS, strict=True)):
        kind = "Logician" if number == 4 else "Person"
        found += (
            f'{side}:p{number} a {side}:{kind} ; rdfs:label "{person}" ; {side}:born {side}:t{number} .\n'
        )
        found += f'{side}:t{number} a {side}:Town ; rdfs:label "{town}" .\n'
    return found


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        Path(f"{side}.ttl").write_text(text(side))


def pairs(answer: Any) -> set[tuple[str, str]]:
    table = answer.to_table().to_pydict()
    return {
        (one.rpartition("/")[2], other.rpartition("/")[2])
        for one, other in zip(table["source"], table["target"], strict=True)
    }


PERSONS = {(f"p{number}", f"p{number}") for number in range(6)}


@pytest.mark.parametrize("types", [("a:Person", "b:Person"), ("http://a/Person", "http://b/Person")])
def test_only_entities_of_the_types_and_their_subclasses_are_in_the_answer(types: tuple[str, str]) -> None:
    answer = align("a.ttl", "b.ttl", scope={"source_types": types[:1], "target_types": types[1:]})
    assert pairs(answer) == PERSONS
    assert answer.summary["unmatched_source"] == answer.summary["unmatched_target"] == 0


def test_explain_says_that_an_entity_is_out_of_scope(capsys: pytest.CaptureFixture[str]) -> None:
    align_files("a.ttl", "b.ttl", "run", scope={"source_types": ["a:Person"], "target_types": ["b:Person"]})
    assert run(["explain", "run", "a:t0"]) == 0
    assert "unmatched: it is out of scope, or its role is not matched" in capsys.readouterr().out


def test_a_scope_of_one_side() -> None:
    answer = align("a.ttl", "b.ttl", scope={"source_types": ["a:Town"]})
    assert pairs(answer) == {(f"t{number}", f"t{number}") for number in range(6)}
    assert answer.summary["unmatched_source"] == 0
    assert answer.summary["unmatched_target"] == len(PERSONS)


def test_neighbours_out_of_scope_are_evidence() -> None:
    """Two people have the same name; their towns, which are out of scope, say who is who."""
    for side in "ab":
        Path(f"{side}.ttl").write_text(text(side).replace("Alan Turing", "Ada Lovelace"))
    swapped = {"b:born b:t0": "b:born b:t1", "b:born b:t1": "b:born b:t0"}
    lines = Path("b.ttl").read_text().splitlines()
    lines = [
        next((line.replace(old, new) for old, new in swapped.items() if old in line), line) for line in lines
    ]
    Path("b.ttl").write_text("\n".join(lines))
    scope = {"source_types": ["a:Person"], "target_types": ["b:Person"]}
    found = pairs(align("a.ttl", "b.ttl", scope=scope))
    assert {("p0", "p1"), ("p1", "p0")} <= found
    assert all(one.startswith("p") for one, _ in found)


def test_a_type_that_no_entity_has_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match=r"no entity of the source graph has the type 'a:Persn'; .* a:Person"
    ):
        align("a.ttl", "b.ttl", scope={"source_types": ["a:Persn"]})
    with pytest.raises(UsageError, match=r"The prefix 'x' is not known; known are a, "):
        align("a.ttl", "b.ttl", scope={"source_types": ["x:Person"]})


def test_a_query_selects(capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT ?x WHERE { ?x a/rdfs:subClassOf* b:Mathematician }"
    answer = align("a.ttl", "b.ttl", scope={"target_select": query})
    assert pairs(answer) == {("p4", "p4")}
    Path("logicians.rq").write_text(query)
    assert align("a.ttl", "b.ttl", scope={"target_select": "logicians.rq"}).to_table() == answer.to_table()


def test_types_and_query_both_count() -> None:
    scope = {"source_types": ["a:Person"], "source_select": "SELECT ?x WHERE { ?x a:born a:t0 }"}
    assert pairs(align("a.ttl", "b.ttl", scope=scope)) == {("p0", "p0")}


def test_what_is_left_out_is_in_no_file() -> None:
    Path("not.txt").write_text("# people who are done already\na:p0\nhttp://b/p1\n\n")
    align_files("a.ttl", "b.ttl", "run", scope={"leave_out": "not.txt"})
    files = {path.name: path.read_text() for path in Path("run").glob("*.tsv")}
    rows = [line.split("\t") for line in files["alignment.sssom.tsv"].splitlines() if line[0] != "#"]
    assert not any(row[0] == "a:p0" or row[3] == "b:p1" for row in rows)
    assert "http://b/p0" in files["unmatched.tsv"]
    assert not any("http://a/p0" in content for content in files.values())


def test_given_links_survive_the_scope() -> None:
    Path("known.tsv").write_text("a:p0\tb:p0\na:t1\tb:t1\n")
    Path("not.txt").write_text("a:p0\n")
    scope = {"source_types": ["a:Person"], "target_types": ["b:Person"], "leave_out": "not.txt"}
    with pytest.warns(LargeEAWarning, match=r"1 entities of the source graph .* in given links.*http://a/p0"):
        answer = align_files("a.ttl", "b.ttl", "run", seeds="known.tsv", scope=scope).alignment
    assert pairs(answer) == PERSONS | {("t1", "t1")}


def test_entities_to_be_left_out_that_nobody_knows() -> None:
    Path("not.txt").write_text("a:p0\na:nobody\n")
    with pytest.warns(LargeEAWarning, match=r"neither graph has 1 of 2 entities: a:nobody \(line 2\)"):
        align("a.ttl", "b.ttl", scope={"leave_out": "not.txt"})
    Path("not.txt").write_text("c:p0\n")
    with pytest.raises(InputError, match=r"names no entity of either graph: c:p0 .* The prefix 'c'"):
        align("a.ttl", "b.ttl", scope={"leave_out": "not.txt"})


def test_nothing_in_scope_is_an_error() -> None:
    graph = read("a.ttl")
    assert isinstance(graph, KnowledgeGraph)
    Path("not.txt").write_text("\n".join(graph.entities.to_pylist()))
    with pytest.raises(UsageError, match="no entity of the source graph is in scope"):
        align("a.ttl", "b.ttl", scope={"leave_out": "not.txt"})


def test_a_scope_has_no_other_fields() -> None:
    with pytest.raises(UsageError, match="a scope has no sources; it has source_types, "):
        align("a.ttl", "b.ttl", scope={"sources": ["a:Person"]})
    with pytest.raises(UsageError, match=r"the scope is not valid: block_by: "):
        align("a.ttl", "b.ttl", scope={"block_by": 7})


def test_parts_of_entities() -> None:
    graphs = read("a.ttl"), read("b.ttl")
    assert all(isinstance(graph, KnowledgeGraph) for graph in graphs)
    both = scoped(*graphs, as_scope({"source_types": ["a:Town"], "target_types": ["b:Town"]}), ReadOptions())  # type: ignore[misc]
    one = scoped(*graphs, as_scope({"source_types": ["a:Town"]}), ReadOptions())  # type: ignore[misc]
    for found, context in ((both[0], Part.CONTEXT_APART), (one[0], Part.CONTEXT)):
        place = found.entities.index("http://a/p0").as_py()
        assert found.scope is not None
        assert found.scope[place] == context
        assert not found.linkable[place]
        assert found.kinds[place] >= 0
    assert one[1].linkable[one[1].entities.index("http://b/p0").as_py()]


def test_resume_repeats_the_scope(
    cli: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("not.txt").write_text("a:p0\n")
    options = ("--source-types", "a:Person", "--target-types", "b:Person", "--leave-out", "not.txt")
    first = cli("align", "a.ttl", "b.ttl", "-o", "run", *options)
    assert first["accepted"] == 5
    manifest = tmp_path / "run" / "manifest.json"
    before = json.loads(manifest.read_text())["stages"]
    Path("run/stages/alignment.safetensors").unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    again = cli("resume", str(tmp_path / "run"))
    assert {name: again[name] for name in again if name != "run"} == {
        name: first[name] for name in first if name != "run"
    }
    after = json.loads(manifest.read_text())
    assert after["request"]["scope"]["source_types"] == ["a:Person"]
    assert after["stages"]["source"]["finished"] == before["source"]["finished"], "it is not read again"


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    def call(*arguments: str) -> Any:
        assert run([*arguments, "--json"]) == 0, capsys.readouterr().err
        return json.loads(capsys.readouterr().out)

    return call


def test_a_long_chain_of_subclasses_took_quadratic_time() -> None:
    """Every level was a search through all of them."""
    levels = 300_000
    below = np.stack([np.arange(levels), np.zeros(levels), np.arange(1, levels + 1)], axis=1)
    typing = [[levels + 1, 1, 0]]
    entities = strings(f"urn:{number:07}" for number in range(levels + 2))
    relations = strings([SUBCLASS, TYPE])
    graph = KnowledgeGraph(entities, entities, relations, np.concatenate([below, typing]).astype(np.int32))
    found = Types.of(graph, "source").instances([f"urn:{levels:07}"])
    assert np.flatnonzero(found).tolist() == [levels + 1]
