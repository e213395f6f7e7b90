"""Lookups with a key give what Arrow's give, for any texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from largeea.graph import strings
from largeea.graph.interning import encoded
from largeea.graph.lookup import are_in, counted, distinct, places_in

COLUMNS = st.lists(st.one_of(st.none(), st.text(max_size=20), st.sampled_from("abc"))).map(strings)
WITHOUT_KEY = [
    *("rUb(ee>SwsJM@Mvy", "p'oar4fVIZm&5JDY", "C?^OmVzH.!:-=aA:"),
]
"""Texts with the same hash in Arrow's tables, of `benchmarks.attack.collisions`."""


@given(COLUMNS, COLUMNS)
def test_places_are_those_of_the_first_equal_text(texts: pa.Array, among: pa.Array) -> None:
    expected = pc.fill_null(pc.index_in(texts, value_set=among, skip_nulls=True), -1)
    found = places_in(texts, among)
    assert found.dtype == np.int32
    assert found.tolist() == expected.to_pylist()
    assert are_in(texts, among).tolist() == [place >= 0 for place in expected.to_pylist()]


@given(COLUMNS)
def test_values_come_in_the_order_of_their_first_appearance(texts: pa.Array) -> None:
    found, expected = encoded(texts), pc.dictionary_encode(texts)
    assert found.values.to_pylist() == expected.dictionary.to_pylist() == distinct(texts).to_pylist()
    assert found.places.tolist() == pc.fill_null(expected.indices, -1).to_pylist()
    values, counts = counted(texts)
    assert dict(zip(values.to_pylist(), counts.tolist(), strict=True)) == {
        entry["values"]: entry["counts"] for entry in pc.value_counts(texts.drop_null()).to_pylist()
    }


def test_a_part_of_a_column_is_looked_up_like_a_whole_one() -> None:
    texts = strings(["x", *WITHOUT_KEY, None, "y"])
    assert places_in(texts.slice(1, 4), texts.slice(2)).tolist() == [-1, 0, 1, -1]
