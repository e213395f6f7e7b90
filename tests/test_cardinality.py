"""Pairs of graphs in which entities have several counterparts, and the answer is known."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from largeea import align, align_files, read_links
from largeea.cli import run
from largeea.errors import UsageError
from largeea.evaluation import evaluate
from largeea.formats.links import resolve
from largeea.graph import KnowledgeGraph, Links, strings

SYLLABLES = [a + b for a, b in zip("bcdfghklmnprstvwxyz", "aeiouaeiouaeiouaeio", strict=True)]


def names_of(count: int, random: np.random.Generator) -> list[str]:
    return [" ".join("".join(random.choice(SYLLABLES, 3)) for _ in range(2)).title() for _ in range(count)]


def mistyped(name: str, random: np.random.Generator) -> str:
    at = int(random.integers(1, len(name)))
    return name[:at] + str(random.choice(list("aeioust"))) + name[at + 1 :]


def several_sources(entities: int = 250, seed: int = 0) -> tuple[KnowledgeGraph, KnowledgeGraph, Links]:
    """Every target has one to three sources with mistyped names; a source is linked as its target is."""
    random = np.random.default_rng(seed)
    names = names_of(entities, random)
    edges = np.column_stack(
        [
            np.repeat(np.arange(entities), 4),
            np.tile(np.arange(4) % 2, entities),
            random.integers(0, entities, 4 * entities),
        ]
    )
    target = graph("t", names, edges)
    of_target = np.repeat(np.arange(entities), random.integers(1, 4, entities))
    first = np.searchsorted(of_target, np.arange(entities + 1))
    copies = []
    for source, entity in enumerate(of_target.tolist()):
        for head, relation, tail in edges[edges[:, 0] == entity].tolist():
            assert head == entity
            copies.append((source, relation, int(random.integers(first[tail], first[tail + 1]))))
    source = graph("s", [mistyped(names[entity], random) for entity in of_target], np.array(copies))
    return source, target, Links(np.column_stack([np.arange(len(of_target)), of_target]))


def graph(prefix: str, names: list[str], edges: np.ndarray) -> KnowledgeGraph:
    iris = [f"http://example.org/{prefix}/{number:05}" for number in range(len(names))]
    return KnowledgeGraph(strings(iris), strings(names), strings(["r0", "r1"]), edges.astype(np.int32))


@pytest.fixture(scope="module")
def pair() -> tuple[KnowledgeGraph, KnowledgeGraph, Links]:
    return several_sources()


def test_many_to_one_finds_all_sources_of_a_target(pair):
    source, target, links = pair
    answer = align(source, target, config={"decision": {"cardinality": "n:1"}})
    figures = evaluate(answer, links)
    assert figures["alignment"]["f1"] > 0.95
    assert figures["alignment"]["ece"] < 0.1
    assert figures["clusters"]["pairwise"]["f1"] > 0.9
    assert figures["clusters"]["b_cubed"]["f1"] > 0.9
    assert len(np.unique(answer.pairs[:, 0])) == len(answer.pairs)
    one_to_one = evaluate(align(source, target), links)
    assert one_to_one["alignment"]["recall"] < 0.6


def test_one_to_many_is_the_same_from_the_other_side(pair):
    source, target, links = pair
    answer = align(target, source, config={"decision": {"cardinality": "1:n"}})
    assert evaluate(answer, links.reversed())["alignment"]["f1"] > 0.95
    assert len(np.unique(answer.pairs[:, 1])) == len(answer.pairs)


def test_many_to_many(pair):
    source, target, links = pair
    answer = align(source, target, config={"decision": {"cardinality": "n:m"}})
    assert evaluate(answer, links)["alignment"]["f1"] > 0.9


def test_seeds_leave_their_target_open(pair):
    source, target, links = pair
    some = links.take(np.arange(0, len(links), 5))
    answer = align(source, target, seeds=some, config={"decision": {"cardinality": "n:1"}})
    assert evaluate(answer, links)["alignment"]["f1"] > 0.95


@pytest.mark.parametrize(("cardinality", "kept"), [("n:1", 3), ("n:m", 3), ("1:1", 1)])
def test_all_given_sources_of_a_target_are_in_the_answer(pair, cardinality, kept, recwarn):
    source, target, _ = pair
    given = [[0, 200], [5, 200], [9, 200]]
    answer = align(
        source, target, seeds=Links(np.array(given)), config={"decision": {"cardinality": cardinality}}
    )
    marked = answer.pairs[answer.given].tolist()
    assert marked == given[:kept]
    assert (answer.confidence[answer.given] == 1).all()
    assert answer.accepted[answer.given].all()
    assert any("2 seeds are left out" in str(one.message) for one in recwarn) == (kept == 1)


def test_files_of_a_many_to_one_run(pair, tmp_path: Path):
    write_graph(tmp_path / "s.nt", pair[0])
    write_graph(tmp_path / "t.nt", pair[1])
    done = align_files(
        tmp_path / "s.nt", tmp_path / "t.nt", tmp_path / "run", config={"decision": {"cardinality": "n:1"}}
    )
    assert "clusters.tsv" in done.files
    found = done.alignment
    clusters = rows(tmp_path / "run" / "clusters.tsv")
    assert {row["cluster"] for row in clusters} == {
        str(one + 1) for one in np.unique(found.clusters) if one >= 0
    }
    assert len(clusters) == len(np.unique(found.links.source)) + len(np.unique(found.links.target))
    mappings = rows(tmp_path / "run" / "alignment.sssom.tsv")
    several = np.bincount(found.links.target)[found.links.target] > 1
    assert [row["mapping_cardinality"] for row in mappings] == np.where(several, "n:1", "1:1").tolist()
    assert (tmp_path / "run" / "report.html").exists()
    again = resolve(read_links(tmp_path / "run" / "alignment.sssom.tsv"), found.source, found.target)
    assert len(again) == len(found)
    align_files(tmp_path / "s.nt", tmp_path / "t.nt", tmp_path / "run")
    assert not (tmp_path / "run" / "clusters.tsv").exists()
    assert "mapping_cardinality" not in (tmp_path / "run" / "alignment.sssom.tsv").read_text()


def test_an_unknown_cardinality_is_named(tmp_path: Path, pair, capsys):
    with pytest.raises(UsageError, match="cardinality"):
        align(pair[0], pair[1], config={"decision": {"cardinality": "2:3"}})
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("id,name\n1,x\n2,y\n")
    command = ["align", str(tmp_path / "a.csv"), str(tmp_path / "b.csv"), "-o", str(tmp_path / "run")]
    assert run([*command, "--cardinality", "many"]) == 2
    assert "'n:1'" in capsys.readouterr().err


def write_graph(path: Path, graph: KnowledgeGraph) -> None:
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    iris = graph.entities.to_pylist()
    lines = [f'<{iri}> {label} "{name}" .' for iri, name in zip(iris, graph.names.to_pylist(), strict=True)]
    lines += [f"<{iris[head]}> <urn:r{by}> <{iris[tail]}> ." for head, by, tail in graph.triples.tolist()]
    path.write_text("\n".join(lines) + "\n")


def rows(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))
