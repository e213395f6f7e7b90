"""Which relations of two graphs say the same, learnt from the edges between anchors."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from largeea.evidence.anchors import Anchors
from largeea.evidence.graphs import GraphPair
from largeea.graph import Links
from largeea.graph.edges import Edges
from largeea.similarity import Similarity

SMOOTHING = 5.0
"""Edges without a counterpart that every relation is taken to have had before anything was seen."""


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
    weight, joined, ours, theirs = _matched_edges(source, target, anchors)
    shape = len(source.inverse_functionality), len(target.inverse_functionality)
    counts = sp.coo_array((weight[joined], (ours, theirs)), shape=shape).tocsr()
    seen_source = np.bincount(source.relation, weight, shape[0])
    back = np.where(anchors.source >= 0, anchors.trust[anchors.source], 0)
    seen_target = np.bincount(target.relation, back[target.node] * back[target.neighbour], shape[1])
    entries = counts.tocoo()
    seen = np.minimum(seen_source[entries.row], seen_target[entries.col]) + SMOOTHING
    share = np.minimum(entries.data / seen, 1).astype(np.float32)
    return Similarity.from_scipy(sp.csr_array((share, (entries.row, entries.col)), shape=shape))


def _matched_edges(
    source: Edges, target: Edges, anchors: Anchors
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Trust in each source edge (0 unless both ends are anchors), and every match of a source edge with a
    target edge between the counterparts of its ends: the source edge, its relation, the other's relation."""
    weight = anchors.trust[source.node] * anchors.trust[source.neighbour]
    between = np.flatnonzero(weight > 0)
    wanted = (
        anchors.target[source.node[between]].astype(np.int64) * target.nodes
        + anchors.target[source.neighbour[between]]
    )
    there = target.node.astype(np.int64) * target.nodes + target.neighbour
    order = np.argsort(there, kind="stable")
    first, last = (np.searchsorted(there[order], wanted, side) for side in ("left", "right"))
    matches = last - first
    joined = np.repeat(between, matches)
    offset = np.arange(len(joined)) - np.repeat(np.cumsum(matches) - matches, matches)
    found = order[np.repeat(first, matches) + offset]
    return weight, joined, source.relation[joined], target.relation[found]
