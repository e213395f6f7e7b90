"""Which relations of two graphs say the same, learnt from the edges between anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from largeea.evidence.anchors import Anchors
from largeea.evidence.graphs import GraphPair
from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Float64, Int32, Int64, Links
from largeea.graph.edges import Edges
from largeea.similarity import Similarity

SMOOTHING = 5.0
"""Edges without a counterpart that every relation is taken to have had before anything was seen."""
MAX_PARALLEL = 64
"""Edges between two nodes that an edge between their counterparts is matched with; all would be quadratic."""


def learn_agreement(edges: dict[str, Any], anchors: Links) -> Similarity:
    """`relation_agreement` of both graphs, given the anchors of a round."""
    graphs = GraphPair.of(edges)
    known = Anchors.of(anchors, *graphs.shape, graphs.values)
    return relation_agreement(graphs.source, graphs.target, known)


def relation_agreement(source: Edges, target: Edges, anchors: Anchors) -> Similarity:
    """`A(r, r')`: of the edges `r` between anchors, the share that has `r'` between the counterparts.

    Seen from either graph; the higher share counts, so that a relation may be part of a broader one.
    `[2 source relations, 2 target relations]`.
    """
    shape = len(source.inverse_functionality), len(target.inverse_functionality)
    ours, theirs, weight = _matched_edges(source, target, anchors)
    counts = sp.coo_array((weight, (ours, theirs)), shape=shape).tocsr()
    back = np.where(anchors.source >= 0, anchors.trust[anchors.source], np.float32(0))
    seen_source, seen_target = _seen(source, anchors.trust), _seen(target, back)
    entries = counts.tocoo()
    seen = np.minimum(seen_source[entries.row], seen_target[entries.col]) + SMOOTHING
    share = np.minimum(entries.data / seen, 1).astype(np.float32)
    return Similarity.from_scipy(sp.csr_array((share, (entries.row, entries.col)), shape=shape))


def _seen(edges: Edges, trust: Float32) -> Float64:
    """The sum of trust in the edges of each relation, `[2 relations]`: 0 unless both ends are anchors."""
    weight = np.empty(len(edges.relation), np.float32)
    over_rows(_weigh, edges.nodes, edges.pointers, edges.neighbour, trust, weight)
    return np.asarray(np.bincount(edges.relation, weight, len(edges.inverse_functionality)), np.float64)


def _matched_edges(source: Edges, target: Edges, anchors: Anchors) -> tuple[Int32, Int32, Float64]:
    """Every match of a source edge with a target edge between the counterparts of its ends, `[n]` each: the
    relations of both and the trust in the source edge, in the order of the source edges."""
    counts = np.zeros(source.nodes + 1, np.int64)
    graphs = (
        source.pointers, source.relation, source.neighbour, anchors.target, anchors.trust,
        target.pointers, target.relation, target.neighbour,
    )  # fmt: skip
    nothing = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float64)
    over_rows(_match, source.nodes, *graphs, counts, *nothing)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts[:-1])])
    found = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float64)
    over_rows(_match, source.nodes, *graphs, starts, *found)
    return found


@njit(cache=True, nogil=True)
def _weigh(first: int, last: int, pointers: Int64, neighbour: Int32, trust: Float32, weight: Float32) -> None:
    for node in range(first, last):
        for edge in range(pointers[node], pointers[node + 1]):
            weight[edge] = trust[node] * trust[neighbour[edge]]


@njit(cache=True, nogil=True)
def _match(
    first: int,
    last: int,
    pointers: Int64,
    relation: Int32,
    neighbour: Int32,
    anchor: Int32,
    trust: Float32,
    pointers_t: Int64,
    relation_t: Int32,
    neighbour_t: Int32,
    places: Int64,
    ours: Int32,
    theirs: Int32,
    weight: Float64,
) -> None:
    """Write the matches of the source nodes `first:last` from `places[node]` on.

    Without room for matches, write how many each node has to `places` instead. The edges of a counterpart are
    strung together by neighbour, and `MAX_PARALLEL` are matched, so that the work is linear in the edges. A
    hash table has the first edge to each neighbour: for most nodes it is small enough for the fastest cache.
    """
    counting = len(ours) == 0
    longest = np.int64(0)
    for node in range(first, last):
        if anchor[node] >= 0:
            longest = max(longest, pointers_t[anchor[node] + 1] - pointers_t[anchor[node]])
    later = np.empty(longest, np.int64)
    table = np.empty(4 * longest + 1, np.int64)
    for node in range(first, last):
        counterpart = anchor[node]
        if counterpart < 0:
            continue
        start, end = pointers_t[counterpart], pointers_t[counterpart + 1]
        slots = 1
        while slots < 2 * (end - start):
            slots *= 2
        firsts = table[:slots]
        firsts[:] = -1
        for other in range(end - 1, start - 1, -1):
            slot = _slot_of(neighbour_t[other], firsts, neighbour_t)
            later[other - start], firsts[slot] = firsts[slot], other
        place = places[node] if not counting else np.int64(0)
        for edge in range(pointers[node], pointers[node + 1]):
            wanted = anchor[neighbour[edge]]
            other = firsts[_slot_of(wanted, firsts, neighbour_t)] if wanted >= 0 else -1
            last_place = place + MAX_PARALLEL
            while other >= 0 and place < last_place:
                if not counting:
                    ours[place], theirs[place] = relation[edge], relation_t[other]
                    weight[place] = trust[node] * trust[neighbour[edge]]
                place += 1
                other = later[other - start]
        if counting:
            places[node] = place


@njit(cache=True, nogil=True, inline="always")
def _slot_of(wanted: int, firsts: Int64, neighbour: Int32) -> int:
    """The slot of the first edge to a neighbour or, if there is none, the one where it belongs."""
    last = len(firsts) - 1
    slot = (wanted * 0x9E3779B1) >> 15 & last
    while firsts[slot] >= 0 and neighbour[firsts[slot]] != wanted:
        slot = slot + 1 & last
    return slot
