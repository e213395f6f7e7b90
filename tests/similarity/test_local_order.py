"""Rows and columns that share entries are put next to each other, and nothing else changes."""

from __future__ import annotations

import numpy as np

from largeea.similarity.columns import columns_in_order
from largeea.similarity.local_order import (
    local_order_of_columns,
    local_order_of_rows,
    places_of,
    rows_in_order,
)

SHAPE = 60, 45
RANDOM = np.random.default_rng(3)
DENSE = np.where(RANDOM.random(SHAPE) < 0.2, RANDOM.random(SHAPE), 0).astype(np.float32)
DENSE[7], DENSE[:, 9] = 0, 0


def csr(dense: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))])
    return indptr, columns.astype(np.int32), dense[rows, columns]


def filled(pointers: np.ndarray, indices: np.ndarray, scores: np.ndarray, columns: int) -> np.ndarray:
    dense = np.zeros((len(pointers) - 1, columns), np.float32)
    dense[np.repeat(np.arange(len(dense)), np.diff(pointers)), indices] = scores
    return dense


def test_a_matrix_in_local_order_is_the_same_matrix_renumbered() -> None:
    matrix = csr(DENSE)
    rows, columns = local_order_of_rows(*matrix[:2]), local_order_of_columns(*matrix[:2], SHAPE[1])
    assert sorted(rows) == list(range(SHAPE[0]))
    assert sorted(columns) == list(range(SHAPE[1]))
    expected = DENSE[rows][:, columns]
    moved = rows_in_order(*matrix, rows, places_of(columns))
    np.testing.assert_array_equal(filled(*moved, SHAPE[1]), expected)
    turned = columns_in_order(*matrix, columns, places_of(rows))
    np.testing.assert_array_equal(filled(*turned, SHAPE[0]), expected.T)


def test_entries_are_added_in_the_order_they_had() -> None:
    matrix = csr(DENSE)
    rows, columns = RANDOM.permutation(SHAPE[0]), RANDOM.permutation(SHAPE[1])
    rows, columns = rows.astype(np.int32), columns.astype(np.int32)
    pointers, numbers, _ = rows_in_order(*matrix, rows, places_of(columns))
    for place, row in enumerate(rows):
        own = numbers[pointers[place] : pointers[place + 1]]
        assert columns[own].tolist() == np.flatnonzero(DENSE[row]).tolist()
    pointers, numbers, _ = columns_in_order(*matrix, columns, places_of(rows))
    for place, column in enumerate(columns):
        own = numbers[pointers[place] : pointers[place + 1]]
        assert rows[own].tolist() == np.flatnonzero(DENSE[:, column]).tolist()


def test_rows_with_equal_columns_come_together() -> None:
    """Every third row has the same columns."""
    dense = np.zeros((30, 90), np.float32)
    for row in range(30):
        dense[row, 30 * (row % 3) : 30 * (row % 3) + 30] = 1
    matrix = csr(dense)
    rows = local_order_of_rows(*matrix[:2]) % 3
    columns = local_order_of_columns(*matrix[:2], 90) // 30
    assert np.count_nonzero(np.diff(rows)) == 2
    assert np.count_nonzero(np.diff(columns)) == 2
