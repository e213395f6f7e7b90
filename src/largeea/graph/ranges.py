"""Ranges of positions, such as the rows of a CSR matrix, expanded to their elements."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from largeea.graph.arrays import Int64


def expand_ranges(starts: npt.NDArray[np.integer], counts: npt.NDArray[np.integer]) -> tuple[Int64, Int64]:
    """Return the range and the position of every element of consecutive ranges, `[counts.sum()]` each.

    Range `r` has `counts[r]` positions, from `starts[r]` on.

    Example: starts 5 and 9 with counts 2 and 1 give the ranges 0, 0, 1 and the positions 5, 6, 9.
    """
    number = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return number, np.arange(len(number)) + np.repeat(starts - before, counts)
