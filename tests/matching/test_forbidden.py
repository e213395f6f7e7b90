"""Forbidden pairs are taken out of matrices and links, and nothing else is."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.graph import Links
from largeea.matching.forbidden import without_links, without_pairs
from largeea.similarity import Similarity

SHAPE = 6, 9
PAIRS = st.lists(st.tuples(st.integers(0, SHAPE[0] - 1), st.integers(0, SHAPE[1] - 1)), max_size=30)


@settings(deadline=None)
@given(PAIRS, PAIRS)
def test_a_matrix_without_pairs_is_the_dense_one_without_them(
    kept: list[tuple[int, int]], forbidden: list[tuple[int, int]]
) -> None:
    rows, columns = np.array(kept, np.int32).reshape(-1, 2).T
    matrix = Similarity.from_entries(rows, columns, 1 + np.arange(len(kept)), SHAPE)
    expected = matrix.to_dense().copy()
    for one, other in forbidden:
        expected[one, other] = 0
    found = without_pairs(matrix, Links(np.array(forbidden, np.int32).reshape(-1, 2)))
    np.testing.assert_array_equal(found.to_dense(), expected)
    assert len(found) == np.count_nonzero(expected), "no entry is left as a zero"


@settings(deadline=None)
@given(PAIRS, PAIRS)
def test_links_without_others(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> None:
    links, rest = (Links(np.array(pairs, np.int32).reshape(-1, 2)) for pairs in (some, others))
    assert [tuple(pair) for pair in without_links(links, rest).pairs.tolist()] == [
        pair for pair in some if pair not in others
    ]
    assert links.are_in(rest).tolist() == [pair in others for pair in some]


def test_a_matrix_without_those_pairs_is_the_same() -> None:
    matrix = Similarity.from_entries([0, 1], [2, 3], [0.5, 0.7], SHAPE)
    assert without_pairs(matrix, Links.none()) is matrix
    assert without_pairs(matrix, Links(np.array([[0, 3], [5, 8]]))) is matrix
