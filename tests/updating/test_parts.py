"""The stages that start from earlier results, each against the stage that it stands for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from largeea.formats import read_graph
from largeea.formats.scope import in_scope
from largeea.graph import KnowledgeGraph
from largeea.names.channel import name_rows, ngram_similarity, ngram_vectors, string_names, vector_similarity
from largeea.names.rows import Columns
from largeea.updating import names
from largeea.updating.moved import moved_entities, moved_matrix, renamed_entities

RENAMED, GONE, NEW = 3, 5, 7


def graphs(case, tmp_path) -> tuple[list[KnowledgeGraph], list[KnowledgeGraph]]:
    """Old and new graphs. In both new ones, an entity is new, one is gone, and one has another name."""
    versions: tuple[list[KnowledgeGraph], list[KnowledgeGraph]] = [], []
    for graph in (case.source, case.target):
        other_name = graph.names | {RENAMED: "Quite Another Thing"}
        for number, version in enumerate(
            (graph.without(NEW), replace(graph, names=other_name).without(GONE))
        ):
            versions[number].append(read_graph(version.write(tmp_path / f"{graph.side}{number}.nt")))
    old, new = (list(in_scope(*both)) for both in versions)
    return old, new


def rows_of(both: list[KnowledgeGraph]) -> Columns:
    kinds = {side: graph.kinds for side, graph in zip(("source", "target"), both, strict=True)}
    return name_rows(*both, kinds, 8, ())


@pytest.fixture
def changed(case, tmp_path) -> dict[str, Any]:
    old, new = graphs(case, tmp_path)
    moved = moved_entities(*old, *new)
    rows = rows_of(old), rows_of(new)
    return {"old": rows[0], "rows": rows[1], "moved": moved, "renamed": renamed_entities(*rows, moved)}


def test_what_became_of_entities(case, tmp_path, changed):
    old, new = graphs(case, tmp_path)
    for side, before, now in zip(("source", "target"), old, new, strict=True):
        moved = changed["moved"][side]
        iris = before.entities.to_pylist()
        assert [iris[old_id] for old_id in np.flatnonzero(moved < 0)] == [getattr(case, side).iri(GONE)]
        kept = moved >= 0
        assert now.entities.take(moved[kept]).to_pylist() == before.entities.filter(kept).to_pylist()
        iris = now.entities.to_pylist()
        renamed = {iris[entity] for entity in np.flatnonzero(changed["renamed"][side])}
        assert renamed == {getattr(case, side).iri(number) for number in (RENAMED, NEW)}
        share = changed["moved"][f"changed_{side}"]
        graph = getattr(case, side)
        touched = {end for a, _, b in graph.triples if {a, b} & {GONE, NEW} for end in (a, b)} | {RENAMED}
        assert {iris[entity] for entity in np.flatnonzero(share > 0)} == {
            graph.iri(number) for number in touched - {GONE}
        }
        assert share[iris.index(graph.iri(NEW))] == 1
        assert 0 < share[iris.index(graph.iri(RENAMED))] < 1


def test_strings_are_those_of_all_names(changed):
    how = 10, 0.3, 0
    full = string_names(changed["rows"], *how)
    before = string_names(changed["old"], *how)
    updated = names.strings_of_renamed(before, changed["moved"], changed["renamed"], changed["rows"], *how)
    np.testing.assert_array_equal(updated.to_dense(), full.to_dense())


def test_ngrams_are_about_those_of_all_names(changed):
    """Frequencies of n-grams and words among all names hardly differ."""
    grams = [ngram_vectors(changed[version], 2, 4, True) for version in ("old", "rows")]
    before = ngram_similarity(changed["old"], grams[0], 10, True)
    full = ngram_similarity(changed["rows"], grams[1], 10, True)
    parts = changed["moved"], changed["renamed"], changed["rows"], grams[1]
    updated = names.ngrams_of_renamed(before, *parts, 10, True)
    np.testing.assert_allclose(updated.top_k_arrays(3)[1], full.top_k_arrays(3)[1], atol=0.02)
    assert (updated.best()[0] == full.best()[0]).mean() > 0.98
    again = np.flatnonzero(changed["renamed"]["source"])
    np.testing.assert_array_equal(updated.to_dense()[again], full.to_dense()[again])


def letters(texts: list[str]) -> np.ndarray:
    """How often each name has each letter, as vectors of length 1."""
    counts = np.array([np.bincount(np.frombuffer(text.encode(), np.uint8), minlength=256) for text in texts])
    return (counts / np.linalg.norm(counts, axis=1, keepdims=True)).astype(np.float16)


def test_vectors_are_those_of_all_names(changed, monkeypatch):
    encoded: list[str] = []

    def encode(_encoder, texts) -> np.ndarray:
        encoded.extend(texts.to_pylist())
        return letters(encoded)

    monkeypatch.setattr(names, "encode_unique", encode)
    monkeypatch.setattr(names, "load_encoder", lambda *_, **__: None)
    old = {side: letters(changed["old"][f"{side}_texts"].to_pylist()) for side in ("source", "target")}
    new = names.encode_new_names(old, changed["old"], changed["rows"], "toy", "fp32", "")
    assert len(encoded) == 4, "two names a side"
    for side, vectors in new.items():
        np.testing.assert_array_equal(vectors, letters(changed["rows"][f"{side}_texts"].to_pylist()))
    how = 5, "cosine", "exact"
    full = vector_similarity(changed["rows"], new, *how)
    before = vector_similarity(changed["old"], old, *how)
    parts = changed["moved"], changed["renamed"], changed["rows"], new
    updated = names.vectors_of_renamed(before, *parts, *how)
    kept = full.to_dense() > 0
    same = np.isclose(updated.to_dense(), full.to_dense(), atol=1e-3)[kept].mean()
    assert same > 0.97, "a target that is gone leaves room that only a full search fills"


def test_scores_follow_their_entities(changed):
    before = string_names(changed["old"], 10, 0.3, 0)
    after = moved_matrix(before, changed["moved"])
    source, target = changed["moved"]["source"], changed["moved"]["target"]
    kept = before.to_dense()[source >= 0][:, target >= 0]
    there = after.to_dense()[source[source >= 0]][:, target[target >= 0]]
    np.testing.assert_array_equal(there, kept)
