"""The parts that answers are made of."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.evidence.attributes.kinds import AS_DATE, AS_NUMBER, UNDECLARED
from largeea.graph import KnowledgeGraph, strings
from largeea.names.cutting import Words
from largeea.names.ngrams import tfidf
from largeea.web.reconcile.comparison import Comparison
from largeea.web.reconcile.facts import Facts
from largeea.web.reconcile.index import NAMESAKES, NameIndex
from largeea.web.reconcile.lookup import RowsByKey, SortedTexts
from largeea.web.reconcile.schema import THING, Schema
from largeea.web.reconcile.vocabulary import GramVocabulary, WordVocabulary

NAMES = strings(["mercury planet mercury", "a1 steak sauce", None, "new york", "york york minster", "u2"])


def test_texts_are_found_by_bisection() -> None:
    texts = SortedTexts.of(strings(["b", None, "a", "b", "bé", "", "ba"]))
    assert texts.rows_of("b").tolist() == [0, 3]
    assert texts.rows_of("x").tolist() == []
    assert texts.rows_from("b").tolist() == [0, 3, 6, 4]
    assert texts.rows_from("bé").tolist() == [4]
    assert SortedTexts.of(strings()).rows_from("a").tolist() == []


def test_rows_by_key() -> None:
    rows = RowsByKey.of(np.array([2, 0, 2]), 4)
    assert [rows[key].tolist() for key in range(4)] == [[1], [], [0, 2], []]


def test_a_query_has_the_vector_of_an_equal_name() -> None:
    vocabulary, vectors = GramVocabulary.of(NAMES)
    again = vocabulary.vectors(NAMES)
    np.testing.assert_allclose(again.toarray(), vectors.toarray(), atol=1e-6)


def test_unknown_grams_make_a_query_longer() -> None:
    vocabulary, vectors = GramVocabulary.of(NAMES)
    known, longer = (vectors @ vocabulary.vectors(strings(["new york", "new york zoo"])).T).toarray().T
    assert known[3] == pytest.approx(1)
    assert 0.5 < longer[3] < 0.95
    asked, _ = tfidf(strings(["new york zoo"]), NAMES)
    assert asked.shape[1] > vectors.shape[1]


def test_words_weigh_what_they_weigh_among_all_names() -> None:
    whole = Words.cut(NAMES)
    part = WordVocabulary.of(NAMES).cut(NAMES)
    np.testing.assert_array_equal(part.ids, whole.ids)
    np.testing.assert_allclose(part.weights, whole.weights)
    some = WordVocabulary.of(NAMES).cut(strings(["york u2 zebra"]))
    york, u, two, zebra = some.weights
    assert zebra == pytest.approx(np.log1p(6))
    assert york == pytest.approx(np.log1p(6 / 2))
    assert u == two == pytest.approx(np.log1p(6))


def test_namesakes_are_found_even_if_there_are_many() -> None:
    count = NAMESAKES + 50
    names = strings([f"springfield {'town' if number % 2 else ''}" for number in range(2 * count)])
    graph = KnowledgeGraph(
        strings(f"e{number}" for number in range(2 * count)), names, strings(), np.empty((0, 3), np.int32)
    )
    found = NameIndex.of(graph).search(["Springfield Town"])[0]
    assert found.equal.sum() == NAMESAKES
    assert found.equal[:NAMESAKES].all()


@pytest.mark.parametrize(
    ("one", "other", "agreement"),
    [
        (("John Smith", UNDECLARED), ("smith, john", UNDECLARED), 1),
        (("John Smith", UNDECLARED), ("Jon Smith", UNDECLARED), 0.75),
        (("John Smith", UNDECLARED), ("Rumpelstiltskin", UNDECLARED), 0),
        (("1,000", AS_NUMBER), ("1000", UNDECLARED), 1),
        (("1000", AS_NUMBER), ("1015", AS_NUMBER), 0.5),
        (("1000", AS_NUMBER), ("9", AS_NUMBER), 0),
        (("4 July 1776", UNDECLARED), ("1776-07-04", AS_DATE), 1),
        (("1776", UNDECLARED), ("1776-07-04", AS_DATE), 0.75),
        (("?", UNDECLARED), ("?", UNDECLARED), 0),
    ],
)
def test_values_agree_in_levels(one: tuple[str, int], other: tuple[str, int], agreement: float) -> None:
    comparison = Comparison()
    comparison.add(1, one, other)
    comparison.settle(2, 0)
    comparison.settle(2, 1)
    assert comparison.best(4, 0.5).tolist() == [0.5, agreement, 1, 0.5]


def test_a_graph_without_types_has_one_type_for_all() -> None:
    graph = KnowledgeGraph(
        strings(["1", "2"]), strings(["One", None]), strings(["next"]), np.array([[0, 0, 1]], np.int32)
    )
    facts = Facts(graph)
    schema = Schema(facts)
    assert [kind.iri for kind in schema.types] == [THING]
    assert schema.has_type(0, THING)
    assert not schema.has_type(0, "City")
    assert schema.types_of(1) == [{"id": THING, "name": "Thing"}]
    assert [entry.name for entry in schema.properties_of(THING)] == ["next"]
    assert (facts.name(1), facts.space, facts.find("2"), facts.find("3")) == ("2", "", 1, -1)
