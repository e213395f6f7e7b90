from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from largeea.datasets import openea_layout
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.formats import read
from largeea.graph import Attributes, KnowledgeGraph, Links, Pair, strings

FILES = ["attr_triples_1", "attr_triples_2", "ent_links", "rel_triples_1", "rel_triples_2"]


def lines_of(path: Path) -> list[tuple[str, ...]]:
    text = path.read_bytes().decode()
    assert text == "" or text.endswith("\n")
    return [tuple(line.split("\t")) for line in text.split("\n")[:-1]]


def small_graph(side: str) -> KnowledgeGraph:
    entities = strings([f"urn:{side}:a", f"urn:{side}:b"])
    literals = Attributes(
        np.array([[0, 0, 1, 0], [1, 0, 0, 0], [1, 0, 2, 0]]),
        strings(["urn:label"]),
        strings(['say "é"', "tab\tand\r\nlines", ""]),
        strings([""]),
    )
    triples = np.array([[0, 0, 1], [1, 0, 1]])
    return KnowledgeGraph(entities, strings([None, None]), strings(["urn:r"]), triples, literals)


def test_known_bytes(tmp_path: Path) -> None:
    pair = Pair(small_graph("s"), small_graph("t"), Links(np.array([[1, 0]])))
    write_pair(pair, tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert (folder / "rel_triples_1").read_text() == "urn:s:a\turn:r\turn:s:b\nurn:s:b\turn:r\turn:s:b\n"
    assert (folder / "ent_links").read_text() == "urn:s:b\turn:t:a\n"
    assert lines_of(folder / "attr_triples_2") == [
        ("urn:t:a", "urn:label", "tab and  lines"),
        ("urn:t:b", "urn:label", 'say "é"'),
        ("urn:t:b", "urn:label", ""),
    ]


def test_nothing_to_write_gives_empty_files_but_none_of_literals(tmp_path: Path) -> None:
    empty = KnowledgeGraph(strings(), strings(), strings(), np.empty((0, 3)))
    write_pair(Pair(empty, empty, Links.none()), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == dict.fromkeys(FILES[2:], b"")


@pytest.mark.parametrize("bare", [{"source"}, {"target"}, {"source", "target"}])
def test_graphs_without_literals_can_be_read_back(tmp_path: Path, bare: set[str]) -> None:
    """Into the same folder as before, where literals were."""
    pair = Pair(small_graph("s"), small_graph("t"), Links(np.array([[1, 0]])))
    write_pair(pair, tmp_path)
    nothing = Attributes.none()
    pair = replace(pair, **{side: replace(getattr(pair, side), attributes=nothing) for side in bare})
    write_pair(pair, tmp_path)
    again = read(tmp_path)
    assert isinstance(again, Pair)
    assert again.links.pairs.tolist() == [[1, 0]]
    for side in ("source", "target"):
        written, found = getattr(pair, side), getattr(again, side)
        assert found.entities.to_pylist() == written.entities.to_pylist()
        assert found.triples.tolist() == written.triples.tolist()
        assert len(found.attributes) == (0 if side in bare else 3)


def test_the_demo_is_all_there(tmp_path: Path) -> None:
    pair = demo_pair(("en", "ja"), seed=5)
    write_pair(pair, tmp_path)
    for side, graph in (("1", pair.source), ("2", pair.target)):
        entities, relations = graph.entities.to_pylist(), graph.relations.to_pylist()
        triples = lines_of(tmp_path / f"rel_triples_{side}")
        labels = lines_of(tmp_path / f"attr_triples_{side}")
        assert triples == [(entities[h], relations[r], entities[t]) for h, r, t in graph.triples.tolist()]
        named = [(iri, name) for iri, name in zip(entities, graph.names.to_pylist(), strict=True) if name]
        assert [(iri, name) for iri, _, name in labels] == named
        seen = {line[0] for line in triples} | {line[2] for line in triples} | {line[0] for line in labels}
        assert seen == set(entities)
    ends = zip(
        pair.source.entities.take(pair.links.source).to_pylist(),
        pair.target.entities.take(pair.links.target).to_pylist(),
        strict=True,
    )
    assert lines_of(tmp_path / "ent_links") == list(ends)


def test_the_size_of_a_chunk_leaves_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = demo_pair()
    write_pair(pair, tmp_path / "whole")
    monkeypatch.setattr(openea_layout, "_LINES_AT_ONCE", 100)
    write_pair(pair, tmp_path / "chunks")
    for name in FILES:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "chunks" / name).read_bytes()
