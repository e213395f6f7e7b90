"""Ranges of positions, spelt out."""

from __future__ import annotations

import numpy as np

from largeea.graph.arrays import Int64


def spelt_out(starts: Int64, counts: Int64) -> tuple[Int64, Int64]:
    """Return the number of its range and the position of each element of ranges, `[counts.sum()]` each.

    Range `r` has `counts[r]` positions from `starts[r]` on.

    Example: starts 5 and 9 with counts 2 and 1 give the ranges 0, 0, 1 and the positions 5, 6, 9.
    """
    number = np.repeat(np.arange(len(counts)), counts)
    before = np.cumsum(counts) - counts
    return number, np.arange(len(number)) + np.repeat(starts - before, counts)
