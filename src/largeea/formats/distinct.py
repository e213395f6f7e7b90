"""Rows of integers sorted and without repetitions."""

from __future__ import annotations

import numpy as np

from largeea.graph import Int32


def unique_rows(rows: Int32) -> Int32:
    """Rows sorted by their columns from left to right, each once."""
    return sorted_distinct(rows)[0]


def sorted_distinct(rows: Int32) -> tuple[Int32, int]:
    """Rows sorted by their columns from left to right, each once, and the number of repetitions removed."""
    if len(rows) < 2:
        return rows, 0
    widths = [max(int(column.max()), 1).bit_length() for column in rows.T]
    if sum(widths) > 63:
        rows = rows[np.lexsort(rows.T[::-1])]
        repeated = (rows[1:] == rows[:-1]).all(axis=1)
        return rows[np.append(True, ~repeated)], int(np.count_nonzero(repeated))
    packed = np.zeros(len(rows), np.int64)
    for column, width in zip(rows.T, widths, strict=True):
        packed <<= width
        packed |= column
    packed.sort()
    repeated = packed[1:] == packed[:-1]
    packed = packed[np.append(True, ~repeated)]
    distinct = np.empty((len(packed), rows.shape[1]), np.int32)
    for place in range(rows.shape[1] - 1, -1, -1):
        distinct[:, place] = packed & ((1 << widths[place]) - 1)
        packed >>= widths[place]
    return distinct, int(np.count_nonzero(repeated))
