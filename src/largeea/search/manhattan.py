"""Candidates ranked by Manhattan distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32


def by_manhattan(queries: Float32, items: Float32, ids: Int32) -> tuple[Int32, Float32]:
    """Candidates `ids[n, c]` and their scores `1 - distance / (2 sqrt(d))`; -1, no candidate, scores 0."""
    distances = np.zeros(ids.shape, np.float32)
    over_rows(_distances, len(ids), _read_only(queries), _read_only(items), ids, distances, least=64)
    return ids, np.where(ids >= 0, 1 - distances / (2 * np.sqrt(queries.shape[1])), 0).astype(np.float32)


def _read_only(array: Any) -> Any:
    """A view that cannot be written to: compiled code then has one signature for all arrays."""
    view = np.ascontiguousarray(array)[:]
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True)
def _distances(
    first: int, last: int, queries: Float32, items: Float32, ids: Int32, distances: Float32
) -> None:
    """Write the distances of the queries `first:last` to their candidates.

    Each distance is summed up in the order of the dimensions; four at a time, because in a single sum every
    addition waits for the one before.
    """
    candidates, dimensions = ids.shape[1], queries.shape[1]
    for query in range(first, last):
        for start in range(0, candidates, 4):
            a = max(ids[query, start], 0)
            b = max(ids[query, min(start + 1, candidates - 1)], 0)
            c = max(ids[query, min(start + 2, candidates - 1)], 0)
            d = max(ids[query, min(start + 3, candidates - 1)], 0)
            to_a = to_b = to_c = to_d = np.float32(0)
            for at in range(dimensions):
                value = queries[query, at]
                to_a += abs(value - items[a, at])
                to_b += abs(value - items[b, at])
                to_c += abs(value - items[c, at])
                to_d += abs(value - items[d, at])
            distances[query, start] = to_a
            if start + 1 < candidates:
                distances[query, start + 1] = to_b
            if start + 2 < candidates:
                distances[query, start + 2] = to_c
            if start + 3 < candidates:
                distances[query, start + 3] = to_d
