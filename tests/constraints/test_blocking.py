"""Shared values and compatible types as rules for candidates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from largeea import align, align_files
from largeea.cli import run
from largeea.constraints.blocking import candidate_rules, read_compatible
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.finished import FinishedRun
from largeea.formats import read_graph
from largeea.formats.frames import graph_of_table
from largeea.graph import KnowledgeGraph, Links
from largeea.matching.blocks import allowed_links

NAMES = ["Springfield", "Shelbyville", "Ogdenville", "Brockway", "Springfield", "Capital City"]


def table(codes: list[str | None], prefix: str) -> dict[str, list[str | None]]:
    ids = [f"{prefix}{number}" for number in range(len(codes))]
    return {
        "id": ids,
        "name": NAMES[: len(codes)],
        "zip": codes,
        "color": ["red", "blue"] * (len(codes) // 2),
    }


OURS = table(["1", "2", "3", "4", "5", None], "a")
THEIRS = table(["5", "2", "3", "4", "1", "6"], "b")


def links(answer: object) -> set[tuple[str, str]]:
    found = answer.to_table().to_pydict()  # type: ignore[attr-defined]
    return set(zip(found["source"], found["target"], strict=True))


def test_pairs_share_a_value_of_the_block() -> None:
    answer = links(align(OURS, THEIRS, scope={"block_by": ["zip"]}))
    assert {("a0", "b4"), ("a4", "b0")} <= answer
    assert ("a5", "b5") in answer, "an entity without a value is not restricted"
    assert links(align(OURS, THEIRS, scope={"block_by": ["zip=zip"]})) == answer


def test_several_blocks_all_count() -> None:
    answer = links(align(OURS, THEIRS, scope={"block_by": ["zip", "color"]}))
    assert all(OURS["color"][int(one[1])] == THEIRS["color"][int(other[1])] for one, other in answer)
    assert ("a0", "b4") in answer


def graphs() -> tuple[KnowledgeGraph, KnowledgeGraph]:
    return (
        graph_of_table(
            {"id": ["a", "b", "c", "d"], "name": list("wxyz"), "Year": ["1900", "1901.0", " Ab ", None]}
        ),
        graph_of_table(
            {"id": ["e", "f", "g", "h"], "name": list("wxyz"), "Year": ["1900.00", "1902", "aB", None]}
        ),
    )


def allowed(source: KnowledgeGraph, target: KnowledgeGraph, rules: dict[str, np.ndarray]) -> list[str]:
    every = np.stack(np.meshgrid(range(source.size), range(target.size), indexing="ij"), -1).reshape(-1, 2)
    kept = every[allowed_links(Links(every), rules)].tolist()
    return [source.entities[one].as_py() + target.entities[other].as_py() for one, other in kept]


def test_values_are_compared_as_literal_evidence_does() -> None:
    source, target = graphs()
    found = allowed(source, target, candidate_rules(source, target, ("Year",), ()))
    free = {f"d{other}" for other in "efgh"} | {f"{one}h" for one in "abc"}
    assert set(found) == free | {"ae", "cg"}


def test_an_unknown_column_names_the_nearest() -> None:
    with pytest.raises(
        UsageError, match="the target graph has no predicate or column 'zips'; the nearest are zip,"
    ):
        align(OURS, THEIRS, scope={"block_by": ["zip=zips"]})


def test_entities_as_values_count_by_iri_and_name(tmp_path: Path) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    for side, country in (("a", "germany"), ("b", "de")):
        text = f"<http://{side}/1> <http://{side}/in> <http://{side}/{country}> .\n"
        text += f'<http://{side}/{country}> {label} "Germany" .\n'
        text += f"<http://{side}/2> <http://{side}/in> <http://x/france> .\n"
        (tmp_path / f"{side}.nt").write_text(text)
    source, target = (read_graph(tmp_path / f"{side}.nt") for side in "ab")
    rules = candidate_rules(source, target, ("http://a/in=http://b/in",), ())
    found = {pair for pair in allowed(source, target, rules) if pair[9] in "12" and pair[-1] in "12"}
    assert {pair.replace("http://", "") for pair in found} == {"a/1b/1", "a/2b/2"}


TYPED = """@prefix {side}: <http://{side}/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
{side}:City rdfs:subClassOf {side}:Place .
{side}:1 a {side}:City ; rdfs:label "one" .
{side}:2 a {side}:Person , <http://www.w3.org/2002/07/owl#NamedIndividual> ; rdfs:label "two" .
{side}:3 a {side}:Person , {side}:Ghost ; rdfs:label "three" .
{side}:4 rdfs:label "four" .
"""


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        Path(f"{side}.ttl").write_text(TYPED.format(side=side))
    Path("types.tsv").write_text("source\ttarget\na:Place\tb:Place\na:Person\tb:Person\n")
    return read_graph("a.ttl"), read_graph("b.ttl")


def test_known_types_that_are_not_compatible_are_never_paired(
    typed: tuple[KnowledgeGraph, KnowledgeGraph],
) -> None:
    """Subclasses count as their superclass; a ghost's types are not all listed, so it may be anything."""
    rules = candidate_rules(*typed, (), read_compatible(Path("types.tsv")))
    found = {pair for pair in allowed(*typed, rules) if pair[9].isdigit() and pair[-1].isdigit()}
    numbers = {pair[9] + pair[-1] for pair in found}
    assert numbers == {a + b for a in "1234" for b in "1234"} - {"12", "21"}


def test_types_that_a_first_run_has_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`largeea schema` finds which classes correspond, and its file is a table of compatible types."""
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        lines = [f"@prefix : <http://{side}/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
        for number in range(20):
            kind = "City" if number < 10 else "Person"
            lines.append(f':{number} a :{kind} ; rdfs:label "name of {number}" .')
        lines.append(f':paris a :{"City" if side == "a" else "Person"} ; rdfs:label "Paris" .')
        Path(f"{side}.ttl").write_text("\n".join(lines))
    known = "".join(f"http://a/{number}\thttp://b/{number}\n" for number in range(20))
    Path("known.tsv").write_text(known)
    first = align_files("a.ttl", "b.ttl", "first", seeds="known.tsv").alignment
    assert ("http://a/paris", "http://b/paris") in links(first)
    assert run(["schema", "first", "-o", "schema.sssom.tsv"]) == 0
    assert set(read_compatible(Path("schema.sssom.tsv"))) == {
        (f"http://a/{kind}", f"http://b/{kind}") for kind in ("City", "Person")
    }
    scope = {"compatible_types": "schema.sssom.tsv"}
    second = align_files("a.ttl", "b.ttl", "second", seeds="known.tsv", scope=scope).alignment
    assert ("http://a/paris", "http://b/paris") not in links(second)


def test_types_that_no_entity_has(typed: tuple[KnowledgeGraph, KnowledgeGraph]) -> None:
    with pytest.raises(
        UsageError, match=r"no entity of the target graph has the type 'b:Persons'; .*b:Person"
    ):
        candidate_rules(*typed, (), (("a:Person", "b:Persons"),))


@pytest.mark.parametrize("content", ["a:Person\n", "a\tb\tc\n", "a:Person\t\n", "", "source\ttarget\n"])
def test_what_is_no_table_of_types(tmp_path: Path, content: str) -> None:
    (tmp_path / "types.tsv").write_text(content)
    with pytest.raises(InputError, match=r"two tab-separated columns|holds no pairs of types|is empty"):
        read_compatible(tmp_path / "types.tsv")


def test_given_links_survive_the_rules_and_are_told(typed: tuple[KnowledgeGraph, KnowledgeGraph]) -> None:
    Path("known.tsv").write_text("a:1\tb:2\n")
    with pytest.warns(LargeEAWarning, match="1 of 1 given links contradict the blocks or compatible types"):
        answer = align_files(
            "a.ttl", "b.ttl", "run", seeds="known.tsv", scope={"compatible_types": "types.tsv"}
        )
    assert ("http://a/1", "http://b/2") in links(answer.alignment)


def test_forbidden_pairs_are_no_candidates_anywhere(tmp_path: Path) -> None:
    answer = align(OURS, THEIRS, scope={"block_by": ["zip"]}, folder=tmp_path / "run")
    finished = FinishedRun(tmp_path / "run")
    rules = finished.load("candidate-rules")
    assert finished.anchors is not None
    assert allowed_links(finished.anchors, rules).all()
    rows = np.column_stack([finished.fused.rows, finished.fused.indices])
    assert len(rows) >= len(answer)
    assert allowed_links(Links(rows), rules).all()
    assert pa.array(answer.confidence).null_count == 0
