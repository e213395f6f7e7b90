"""Ranges of positions, spelt out."""

from __future__ import annotations

import numpy as np

from largeea.graph.ranges import expand_ranges


def test_positions_of_ranges() -> None:
    number, place = expand_ranges(np.array([5, 3, 9]), np.array([2, 0, 1]))
    assert number.tolist() == [0, 0, 2]
    assert place.tolist() == [5, 6, 9]


def test_no_ranges() -> None:
    nothing = np.empty(0, np.int64)
    assert [column.tolist() for column in expand_ranges(nothing, nothing)] == [[], []]
