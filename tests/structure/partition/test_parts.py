from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from largeea.graph import Links
from largeea.structure.partition.parts import Assignment, fill_evenly, place_unplaced


def parts(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_disjoint_unless_said_otherwise() -> None:
    assignment = Assignment(parts(0, 2), parts(1), 3)
    np.testing.assert_array_equal(assignment.cover, np.eye(3, dtype=bool))
    np.testing.assert_array_equal(assignment.together, np.eye(3, dtype=bool))


def test_parts_that_share_a_batch_are_together() -> None:
    cover = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1]], bool)
    together = Assignment(parts(0), parts(0), 3, cover).together
    np.testing.assert_array_equal(together, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])


def test_arrays_and_back() -> None:
    cover = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1]], bool)
    assignment = Assignment(parts(0, 2), parts(1), 3, cover)
    again = Assignment.from_arrays(assignment.to_arrays())
    assert (again.k, again.overlap) == (3, 2)
    for name in ("source", "target", "cover"):
        np.testing.assert_array_equal(getattr(again, name), getattr(assignment, name))


@pytest.mark.parametrize("wrong", [parts(0, 3), parts(-1, 1)])
def test_every_entity_must_have_a_part(wrong: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"must be in \[0, 3\)"):
        Assignment(parts(0), wrong, 3)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 60))
def test_entities_are_filled_in_like_one_by_one_into_the_smallest(sizes: list[int], count: int) -> None:
    greedy = sizes.copy()
    for _ in range(count):
        greedy[greedy.index(min(greedy))] += 1
    placed = fill_evenly(np.array(sizes), count)
    assert len(placed) == count
    filled = np.array(sizes) + np.bincount(placed, minlength=len(sizes))
    assert sorted(filled.tolist()) == sorted(greedy)


def test_the_unplaced_follow_their_seeds() -> None:
    source, target = place_unplaced(parts(2, -1, 0), parts(-1, 1, -1), 3, Links([(0, 0), (1, 1), (2, 2)]))
    assert source.tolist() == [2, 1, 0]
    assert target.tolist() == [2, 1, 0]


def test_seeds_come_before_hints_and_placed_entities_stay() -> None:
    seeds, hints = Links([(0, 0)]), Links([(0, 1), (1, 1), (2, 2)], [0.9, 0.8, 0.7])
    source, target = place_unplaced(parts(-1, -1, 2), parts(0, 1, 0), 3, seeds, hints)
    assert source.tolist() == [0, 1, 2]
    assert target.tolist() == [0, 1, 0]


def test_the_best_hint_decides() -> None:
    hints = Links([(0, 0), (0, 1), (0, 2)], [0.2, 0.9, 0.5])
    source, _ = place_unplaced(parts(-1), parts(0, 1, 2), 3, Links.none(), hints)
    assert source.tolist() == [1]


def test_seeds_that_are_unplaced_at_both_ends_stay_together() -> None:
    seeds = Links([(number, number) for number in range(12)])
    unplaced = np.full(12, -1, np.int32)
    source, target = place_unplaced(unplaced, unplaced, 4, seeds)
    np.testing.assert_array_equal(source, target)
    assert np.bincount(source).tolist() == [3, 3, 3, 3]


def test_the_rest_goes_where_there_is_room() -> None:
    source, target = place_unplaced(parts(0, 0, 0, 1, -1, -1), parts(2, -1, -1, -1), 3, Links.none())
    assert source.tolist() == [0, 0, 0, 1, 1, 2]
    assert np.bincount(np.append(source, target), minlength=3).max() == 4


def test_inputs_stay_as_they_are() -> None:
    source, target = parts(-1, 0), parts(-1)
    place_unplaced(source, target, 2, Links([(0, 0)]))
    assert source.tolist() == [-1, 0]
    assert target.tolist() == [-1]
