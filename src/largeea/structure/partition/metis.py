"""METIS, through pymetis: split a graph into k parts of equal mass while cutting as few edges as possible."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pymetis

from largeea.graph import Int32, Int64
from largeea.structure.partition.adjacency import Adjacency
from largeea.structure.partition.assignment import UNPLACED

MOST_BISECTED = 8
"""Up to so many parts, recursive bisection cuts less than METIS's direct k-way method, in equal time."""
EFFORT = 4_000_000
"""Adjacency entries METIS may go through in all its tries: `MOST_TRIES` for small graphs, one for large."""
MOST_TRIES = 8
LEAST_PER_PART = 4
"""With fewer vertices for each part METIS leaves some empty, and complains on standard output."""
SEEDS = 2**31


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
    """The part of each vertex, `[size]`.

    It is -1 for vertices without edges, which METIS would put anywhere, and for all where they are too few.
    `weights[entries]` of edges must be positive; `masses[size]` of vertices, 1 unless given, are what is
    balanced; `shares[k]` of the whole mass per part are equal unless given.
    """
    connected, has_edges = graph.without_isolated()
    part = np.full(graph.size, UNPLACED, np.int32)
    if connected.size < LEAST_PER_PART * k:
        return part
    options = pymetis.Options(
        seed=seed % SEEDS,
        ncuts=int(np.clip(EFFORT // max(len(graph), 1), 1, MOST_TRIES)),
        ufactor=max(1, round(1000 * balance)) if k > MOST_BISECTED else 1,
    )
    _, found = pymetis.part_graph(
        k,
        pymetis.CSRAdjacency(connected.indptr, connected.columns),
        eweights=weights,
        vweights=None if masses is None else masses[has_edges],
        tpwgts=None if shares is None else shares.tolist(),
        recursive=k <= MOST_BISECTED,
        options=options,
    )
    part[has_edges] = found
    return part
