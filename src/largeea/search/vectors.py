"""Vectors of entities or names, one to a row."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32


def unit_rows(vectors: Float32) -> Float32:
    """Rows scaled to length 1, `float32[n, d]`; a row of zeros stays."""
    units = np.array(vectors, np.float32, order="C")
    over_rows(_scale_rows, len(units), units)
    return units


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _scale_rows(first: int, last: int, rows: Float32) -> None:
    for number in range(first, last):
        row = rows[number]
        square = np.float32(0)
        for at in range(len(row)):
            square += row[at] * row[at]
        if square > 0:
            length = np.sqrt(square)
            for at in range(len(row)):
                row[at] /= length
