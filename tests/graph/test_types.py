from __future__ import annotations

from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.graph import (
    Attributes,
    KnowledgeGraph,
    Links,
    Pair,
    ReadCounts,
    Task,
    check_ids,
    frozen,
    strings,
)

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)))


def graph(size: int = 4, triples: Any = ((0, 0, 1), (2, 0, 2)), **columns: Any) -> KnowledgeGraph:
    entities = columns.pop("entities", [f"urn:{i}" for i in range(size)])
    names = columns.pop("names", [None] * size)
    return KnowledgeGraph(strings(entities), strings(names), strings(["urn:r"]), np.array(triples), **columns)


# Columns


@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "é"],
        pa.array(["a", None, "é"]),
        pa.array(["a", None, "é"], pa.large_string()),
        pa.array(["a", None, "é"]).dictionary_encode(),
        pa.chunked_array([["a"], [None, "é"]]),
        pa.chunked_array([["a"], [None, "é"]], pa.large_string()),
        (value for value in ["a", None, "é"]),
    ],
    ids=["list", "string", "large_string", "dictionary", "chunks", "large_chunks", "generator"],
)
def test_strings_takes_any_text_column(values: Any) -> None:
    column = strings(values)
    assert isinstance(column, pa.LargeStringArray)
    assert column.to_pylist() == ["a", None, "é"]


def test_strings_of_nothing() -> None:
    assert strings().type == pa.large_string()
    assert len(strings(pa.chunked_array([], pa.string()))) == 0


def test_frozen_shapes_and_locks() -> None:
    given_away = np.array([1, 2, 3, 4], np.int32)
    array = frozen(given_away, np.int32, 2)
    assert array.shape == (2, 2)
    assert np.shares_memory(array, given_away)
    with pytest.raises(ValueError, match="read-only"):
        array[0, 0] = 9
    assert frozen([[1.5]], np.float32).tolist() == [1.5]
    with pytest.raises(ValueError, match="reshape"):
        frozen([1, 2, 3], np.int32, 2)


def test_check_ids() -> None:
    check_ids("any", np.empty(0, np.int32), 0)
    check_ids("any", np.array([0, 3]), 4)
    for wrong in ([-1, 2], [0, 4]):
        with pytest.raises(ValueError, match=rf"any ids run from {wrong[0]} to {wrong[1]}, but there are 4"):
            check_ids("any", np.array(wrong), 4)


# KnowledgeGraph


def test_graph_coerces_its_columns() -> None:
    plain = KnowledgeGraph(pa.array(["urn:a"]), pa.chunked_array([["A"]]), ["urn:r"], [[0, 0, 0]])
    for column in (plain.entities, plain.names, plain.relations):
        assert isinstance(column, pa.LargeStringArray)
    assert plain.triples.dtype == np.int32
    assert plain.find(pa.array(["urn:a"])).tolist() == [0]


def test_graph_is_immutable() -> None:
    with pytest.raises(ValueError, match="read-only"):
        graph().triples[0] = 0
    with pytest.raises(AttributeError):
        graph().names = strings(["x"])  # type: ignore[misc]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"names": ["one"]}, "4 entities but 1 names"),
        ({"triples": [[0, 0, 4]]}, "entity ids run from 0 to 4"),
        ({"triples": [[-1, 0, 0]]}, "entity ids run from -1"),
        ({"triples": [[0, 1, 0]]}, "relation ids run from 1 to 1, but there are 1"),
        ({"triples": [[0, 1]]}, "reshape"),
        (
            {"attributes": Attributes([[4, 0, 0, 0]], strings("p"), strings("v"), strings([""]))},
            "literals' entity ids run from 4",
        ),
    ],
)
def test_graph_refuses_what_does_not_fit(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graph(**wrong)


@pytest.mark.parametrize("column", [1, 2, 3])
def test_attributes_refuse_unknown_words(column: int) -> None:
    row = [0, 0, 0, 0]
    Attributes(np.array([row]), strings("p"), strings("v"), strings([""]))
    row[column] = 1
    with pytest.raises(ValueError, match="ids run from 1 to 1"):
        Attributes(np.array([row]), strings("p"), strings("v"), strings([""]))


def test_attributes_by_column() -> None:
    attributes = Attributes(
        np.array([[3, 0, 1, 0], [1, 0, 0, 0]]), strings("p"), strings("vw"), strings([""])
    )
    assert len(attributes) == 2
    columns = (attributes.entity, attributes.predicate, attributes.value, attributes.tag)
    assert [column.tolist() for column in columns] == [[3, 1], [0, 0], [1, 0], [0, 0]]
    assert len(Attributes.none()) == 0


def test_find() -> None:
    assert graph().find(strings(["urn:3", "urn:x", "", None, "urn:0"])).tolist() == [3, -1, -1, -1, 0]
    assert graph().find(strings()).dtype == np.int32
    assert graph(0, np.empty((0, 3))).find(strings(["urn:0"])).tolist() == [-1]


def test_every_entity_finds_itself() -> None:
    known = graph()
    assert known.find(known.entities).tolist() == list(range(known.size))


def test_degrees_count_a_self_loop_twice() -> None:
    assert graph(triples=[[0, 0, 1], [0, 0, 1], [2, 0, 2]]).degrees().tolist() == [2, 2, 2, 0]
    assert graph(triples=np.empty((0, 3))).degrees().tolist() == [0, 0, 0, 0]


@often
@given(hnp.arrays(np.int32, st.tuples(st.integers(0, 20), st.just(2)), elements=st.integers(0, 6)))
def test_degrees_sum_to_both_ends_of_all_triples(ends: Any) -> None:
    triples = np.column_stack([ends[:, 0], np.zeros(len(ends), int), ends[:, 1]])
    degrees = graph(7, triples).degrees()
    assert degrees.tolist() == [int((ends == entity).sum()) for entity in range(7)]


def test_named_and_anonymous() -> None:
    mixed = graph(3, np.empty((0, 3)), entities=["_:b", "urn:_:", "urn:x"], names=["B", None, ""])
    assert mixed.named.tolist() == [True, False, True]
    assert mixed.anonymous.tolist() == [True, False, False]


def test_with_names_changes_names_alone() -> None:
    before = graph()
    after = before.with_names(strings(["a", "b", "c", None]))
    assert after.names.to_pylist() == ["a", "b", "c", None]
    assert before.names.null_count == 4
    assert np.shares_memory(after.triples, before.triples)
    assert after.entities is before.entities
    with pytest.raises(ValueError, match="4 entities but 1 names"):
        before.with_names(strings(["a"]))


def test_counts_add_up() -> None:
    one, other = ReadCounts(1, 10, 5, 4, 1, 0), ReadCounts(2, 3, 2, 1, 0, 7)
    assert one + other == ReadCounts(3, 13, 7, 5, 1, 7)
    assert sum([one, other], ReadCounts()) == one + other


# Links


@often
@given(pairs, st.data())
def test_canonical_links(listed: list[tuple[int, int]], data: st.DataObject) -> None:
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(listed), max_size=len(listed)))
    links = Links(np.array(listed).reshape(-1, 2), np.array(weights))
    canonical = links.canonical()
    best: dict[tuple[int, int], int] = {}
    for pair, weight in zip(listed, weights, strict=True):
        best[pair] = max(weight, best.get(pair, 0))
    assert [tuple(pair) for pair in canonical.pairs.tolist()] == sorted(best)
    assert canonical.weight is not None
    assert canonical.weight.tolist() == [best[pair] for pair in sorted(best)]
    order = data.draw(st.permutations(range(len(listed))))
    shuffled = links.take(np.array(order, int)).canonical()
    assert shuffled.pairs.tolist() == canonical.pairs.tolist()


def test_canonical_without_weights() -> None:
    canonical = Links(np.array([[1, 0], [0, 2], [1, 0]])).canonical()
    assert canonical.weight is None
    assert canonical.pairs.tolist() == [[0, 2], [1, 0]]


def test_reversed_and_take() -> None:
    links = Links(np.array([[0, 5], [1, 6]]), np.array([0.5, 0.25]))
    back = links.reversed()
    assert back.pairs.tolist() == [[5, 0], [6, 1]]
    assert back.weight is not None
    assert back.weight.tolist() == [0.5, 0.25]
    assert links.pairs.tolist() == [[0, 5], [1, 6]]
    assert links.take(np.array([False, True])).target.tolist() == [6]
    assert links.take(np.array([1, 0])).source.tolist() == [1, 0]


def test_links_are_checked_and_frozen() -> None:
    with pytest.raises(ValueError, match="2 pairs but 1 weights"):
        Links(np.array([[0, 0], [1, 1]]), np.array([1.0]))
    with pytest.raises(ValueError, match="reshape"):
        Links(np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="read-only"):
        Links(np.array([[0, 0]])).pairs[0] = 1
    assert len(Links.none()) == 0


# Task and Pair


def test_a_task_knows_the_seeds_of_its_graphs_only() -> None:
    assert len(Task(graph(), graph()).seeds) == 0
    Task(graph(4), graph(9, entities=[f"urn:{i}" for i in range(9)]), Links(np.array([[3, 8]])))
    with pytest.raises(ValueError, match="seeds' target ids run from 4 to 4"):
        Task(graph(), graph(), Links(np.array([[0, 4]])))
    with pytest.raises(ValueError, match="seeds' source ids run from -1 to -1"):
        Task(graph(), graph(), Links(np.array([[-1, 0]])))


def test_a_task_has_no_place_for_test_links() -> None:
    assert set(Task.__dataclass_fields__) == {"source", "target", "seeds"}


def test_reversed_pair() -> None:
    train, test = Links(np.array([[0, 1]])), Links(np.array([[2, 3]]))
    pair = Pair(graph(4), graph(5), Links(np.array([[0, 1], [2, 3]])), {"1": (train, test)})
    back = pair.reversed()
    assert (back.source, back.target) == (pair.target, pair.source)
    assert back.links.pairs.tolist() == [[1, 0], [3, 2]]
    assert [links.pairs.tolist() for links in back.folds["1"]] == [[[1, 0]], [[3, 2]]]
    assert back.reversed().links.pairs.tolist() == pair.links.pairs.tolist()
