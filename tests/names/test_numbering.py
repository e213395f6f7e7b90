from __future__ import annotations

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.names.numbering import _mixed, number_codes


@pytest.mark.parametrize(("threads", "size", "distinct"), [(1, 0, 1), (1, 50, 7), (3, 400_000, 90_000)])
def test_codes_are_numbered_in_ascending_order(threads: int, size: int, distinct: int) -> None:
    random = np.random.default_rng(size)
    codes = random.integers(0, 1 << 64, distinct, dtype=np.uint64)[random.integers(0, distinct, size)]
    pointer = np.array([0, size // 3, size // 3, size])
    with executing(Execution(threads=threads)):
        numbers, numbering = number_codes(codes, pointer[:-1], pointer)
    vocabulary, expected, frequency = np.unique(codes, return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(numbering.codes, vocabulary)
    np.testing.assert_array_equal(numbering.frequency, frequency)
    np.testing.assert_array_equal(numbering.number_of[numbers], expected)


def test_unused_space_between_rows_is_skipped() -> None:
    codes = np.array([5, 3, 99, 99, 5, 8, 99], np.uint64)
    numbers, numbering = number_codes(codes, np.array([0, 4]), np.array([0, 2, 4]))
    assert numbering.codes.tolist() == [3, 5, 8]
    assert numbering.frequency.tolist() == [1, 2, 1]
    assert numbering.number_of[numbers].tolist() == [1, 0, 1, 2]


def test_codes_that_collide_with_one_key_do_not_with_another() -> None:
    key, other = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x94D049BB133111EB)
    codes = np.arange(1 << 20, dtype=np.uint64)

    def slots(chosen: np.ndarray, key: np.uint64) -> set[int]:
        return {int(_mixed(code, key)) >> 52 for code in chosen}

    colliding = codes[[int(_mixed(code, key)) >> 52 == 0 for code in codes]]
    assert len(colliding) > 200
    assert slots(colliding, key) == {0}
    assert len(slots(colliding, other)) > 0.9 * len(colliding)
