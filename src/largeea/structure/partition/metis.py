"""METIS (through pymetis): split a graph into k parts of equal mass and cut as few edges as possible."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from largeea.execution.settings import current
from largeea.graph import Int32, Int64
from largeea.structure.partition.adjacency import Adjacency
from largeea.structure.partition.metis_process import part, part_alone
from largeea.structure.partition.parts import UNPLACED

MOST_BISECTED = 8
"""Up to so many parts, recursive bisection cuts fewer edges than METIS's k-way method in the same time."""
EFFORT = 4_000_000
"""Adjacency entries that METIS may process in all tries together."""
MOST_TRIES = 8
"""Tries on a small graph; a large graph gets one."""
LEAST_PER_PART = 4
"""With fewer vertices per part, METIS leaves parts empty and prints messages to standard output."""
SEEDS = 2**31
"""METIS takes seeds below this number."""


def split(
    graph: Adjacency,
    k: int,
    *,
    seed: int,
    balance: float,
    weights: Int64 | None = None,
    masses: Int64 | None = None,
    shares: npt.NDArray[np.float64] | None = None,
) -> Int32:
    """The part of each vertex, `[size]`; -1 for a vertex without edges, and for all if there are too few.

    weights: positive edge weights, `[entries]`; 1 by default.
    masses: vertex masses, which are balanced, `[size]`; 1 by default.
    shares: share of the total mass in each part, `[k]`; equal by default.
    """
    connected, has_edges = graph.without_isolated()
    parts = np.full(graph.size, UNPLACED, np.int32)
    if connected.size < LEAST_PER_PART * k:
        return parts
    given = {"indptr": connected.indptr, "columns": connected.columns, "weights": weights, "shares": shares}
    given["masses"] = None if masses is None else masses[has_edges]
    arrays = {name: array for name, array in given.items() if array is not None}
    settings = {
        "k": k,
        "seed": seed % SEEDS,
        "ncuts": int(np.clip(EFFORT // max(len(graph), 1), 1, MOST_TRIES)),
        "recursive": k <= MOST_BISECTED,
        "ufactor": max(1, round(1000 * balance)) if k > MOST_BISECTED else 1,
    }
    found = part(arrays, settings) if current().is_local else part_alone(arrays, settings)
    parts[has_edges] = found
    return parts
