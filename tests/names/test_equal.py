"""Equal main names count more than similar ones."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.formats.naming import ALIAS_PREDICATES
from largeea.graph import Attributes, KnowledgeGraph, Links, strings
from largeea.graph.same_iri import matched_kinds
from largeea.names.channel import name_rows
from largeea.names.equal import BONUS, LEAST_IF_EQUAL, favour_equal_names
from largeea.similarity import Similarity


def graph(names: list[str | None], aliases: dict[int, str] | None = None) -> KnowledgeGraph:
    given = aliases or {}
    rows = np.array([[entity, 0, place, 0] for place, entity in enumerate(given)], np.int32).reshape(-1, 4)
    attributes = Attributes(
        rows, strings([next(iter(ALIAS_PREDICATES))]), strings(given.values()), strings([""])
    )
    iris = strings(f"urn:{place:03}" for place in range(len(names)))
    return KnowledgeGraph(iris, strings(names), strings(), np.empty((0, 3)), attributes)


def favoured(source: KnowledgeGraph, target: KnowledgeGraph, scores: np.ndarray) -> np.ndarray:
    rows = name_rows(source, target, matched_kinds(source, target, Links.none()), 8, ())
    found = favour_equal_names(Similarity.from_scipy(scores.astype(np.float32)), rows)
    return found.to_dense()


def test_equal_names_get_a_bonus_and_all_scores_stay_in_range() -> None:
    scores = np.array([[1.0, 0.9], [0.5, 1.0]])
    found = favoured(graph(["Anna", "Bert"]), graph(["Anna", "Hanna"]), scores)
    expected = np.array([[1 + BONUS, 0.9], [0.5, 1.0]]) / (1 + BONUS)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found.max() == 1
    assert found[1, 1] == pytest.approx(LEAST_IF_EQUAL), "the highest score without equal names"


def test_names_are_equal_as_latin_words() -> None:
    """Case, accents, punctuation and script do not count."""
    found = favoured(
        graph(["Crème brûlée", "Москва", "Rock & Roll"]),
        graph(["CREME  BRULEE!", "moskva", "rock roll"]),
        np.full((3, 3), 0.5),
    )
    equal = found > 0.5 / (1 + BONUS) + 1e-6
    assert equal[0].tolist() == [True, False, False]
    assert equal[1].tolist() == [False, True, False]


def test_aliases_get_no_bonus() -> None:
    """An alias that equals a main name, or another alias, may be shared by many."""
    source = graph(["United Nations", "Anna"], {0: "UN", 1: "Annie"})
    target = graph(["UN", "Hanna"], {1: "Annie"})
    found = favoured(source, target, np.ones((2, 2)))
    np.testing.assert_allclose(found, np.full((2, 2), LEAST_IF_EQUAL), rtol=1e-6)


def test_missing_names_are_not_equal() -> None:
    found = favoured(graph([None, "Anna"]), graph([None, "Anna"]), np.full((2, 2), 0.5))
    plain, with_bonus = 0.5 / (1 + BONUS), (0.5 + BONUS) / (1 + BONUS)
    np.testing.assert_allclose(found, [[plain, plain], [plain, with_bonus]], rtol=1e-6)


def test_names_without_letters_are_not_equal() -> None:
    """Nothing is left of them as Latin words."""
    found = favoured(graph(["...", "Anna"]), graph(["!?", "Anna"]), np.full((2, 2), 0.5))
    assert found[0, 0] == pytest.approx(0.5 / (1 + BONUS))


def test_absent_pairs_stay_absent() -> None:
    rows = name_rows(*(graph(["Anna", "Bert"]),) * 2, {"source": np.zeros(2), "target": np.zeros(2)}, 8, ())
    kept = Similarity.from_entries([0], [1], [0.5], (2, 2))
    found = favour_equal_names(kept, rows)
    assert (found.rows.tolist(), found.indices.tolist()) == ([0], [1])
    assert len(favour_equal_names(Similarity.empty((2, 2)), rows)) == 0
