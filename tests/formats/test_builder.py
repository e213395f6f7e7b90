from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.formats.builder import GraphBuilder
from largeea.formats.distinct import sorted_distinct
from largeea.formats.naming import LABEL_PREDICATES, Naming
from largeea.graph import strings

often = settings(deadline=None, max_examples=80, database=None, derandomize=True)
terms = st.sampled_from(["urn:a", "urn:b", "urn:c", "_:x", "urn:é", "urn:B"])
tags = st.sampled_from(["", "@en", "@EN", "@de-AT", "urn:type", "http://www.w3.org/2001/XMLSchema#string"])
triples = st.lists(st.tuples(terms, terms, terms), max_size=20)
literals = st.lists(st.tuples(terms, terms, st.text(max_size=3), tags), max_size=20)


def build(triples, literals, chunk=5):
    builder = GraphBuilder()
    for start in range(0, len(triples), chunk):
        heads, relations, tails = (
            strings(column) for column in zip(*triples[start : start + chunk], strict=True)
        )
        builder.add_triples(
            builder.nodes.number_column(heads),
            builder.predicates.number_column(relations),
            builder.nodes.number_column(tails),
        )
    for start in range(0, len(literals), chunk):
        columns = [strings(column) for column in zip(*literals[start : start + chunk], strict=True)]
        tables = (builder.nodes, builder.predicates, builder.values, builder.tags)
        builder.add_literals(
            *(table.number_column(column) for table, column in zip(tables, columns, strict=True))
        )
    return builder.build(Naming())


def folded(tag):
    return "" if tag.endswith("#string") else tag.lower() if tag.startswith("@") else tag


@often
@given(triples, literals)
def test_the_graph_holds_each_statement_once_in_order(triples, literals):
    graph = build(triples, literals)
    entities = sorted(
        {t[0] for t in triples} | {t[2] for t in triples} | {e[0] for e in literals}, key=str.encode
    )
    assert graph.entities.to_pylist() == entities
    assert graph.relations.to_pylist() == sorted({t[1] for t in triples}, key=str.encode)
    named = [(entities[h], graph.relations[r].as_py(), entities[t]) for h, r, t in graph.triples.tolist()]
    assert sorted(named) == sorted(set(triples))
    assert graph.triples.tolist() == sorted(graph.triples.tolist())

    words = graph.attributes
    found = [
        (entities[e], words.predicates[p].as_py(), words.values[v].as_py(), words.tags[t].as_py())
        for e, p, v, t in words.rows.tolist()
    ]
    expected = {(e, p, v, folded(t)) for e, p, v, t in literals}
    assert sorted(found) == sorted(expected)
    assert words.predicates.to_pylist() == sorted({p for _, p, _, _ in literals}, key=str.encode)
    assert len(set(words.values.to_pylist())) == len(words.values)

    counts = graph.counts
    assert counts.statements == len(triples) + len(literals)
    assert (counts.triples, counts.literals) == (len(set(triples)), len(expected))
    assert counts.statements == counts.triples + counts.literals + counts.duplicates


@often
@given(triples, literals, st.randoms())
def test_the_order_and_cut_of_input_leave_no_trace(triples, literals, random):
    one = build(triples, literals)
    random.shuffle(triples)
    random.shuffle(literals)
    other = build(triples, literals, chunk=2)
    for left, right in zip(
        (one.entities, one.names, one.relations, *vars(one.attributes).values()),
        (other.entities, other.names, other.relations, *vars(other.attributes).values()),
        strict=True,
    ):
        assert left.tolist() == right.tolist() if isinstance(left, np.ndarray) else left.equals(right)
    np.testing.assert_array_equal(one.triples, other.triples)


@often
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from([0, 1, 2, 7, 1 << 20, (1 << 31) - 1]), min_size=width, max_size=width)
        ).map(lambda rows: np.array(rows, np.int32).reshape(-1, width))
    )
)
def test_distinct_rows_are_those_of_numpy(rows):
    """In both ways: rows packed into one number each and, where that is too narrow, sorted by columns."""
    distinct, duplicates = sorted_distinct(rows.copy())
    np.testing.assert_array_equal(distinct, np.unique(rows, axis=0))
    assert duplicates == len(rows) - len(distinct)


def test_entities_without_statements_stay():
    builder = GraphBuilder()
    builder.nodes.number_column(strings(["urn:lonely"]))
    graph = builder.build(Naming())
    assert graph.entities.to_pylist() == ["urn:lonely"]
    assert graph.counts.statements == 0


def test_one_literal_per_entity():
    builder = GraphBuilder()
    entity = builder.nodes.number_column(strings(["urn:1", "urn:2", "urn:3"]))
    builder.add_named(entity, LABEL_PREDICATES[0], strings(["One", None, "Three"]))
    assert builder.build(Naming()).names.to_pylist() == ["One", None, "Three"]


def test_the_builder_refuses_what_is_missing():
    """A number below zero, as a missing string gets, would silently name the last entity."""
    builder = GraphBuilder()
    node = builder.nodes.number_column(strings(["urn:a", None]))
    relation = builder.predicates.number_column(strings(["urn:p", "urn:p"]))
    builder.add_triples(node, relation, node[::-1])
    with pytest.raises(ValueError, match="lacks a term"):
        builder.build(Naming())
