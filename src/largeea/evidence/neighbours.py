"""Neighbour evidence: entities are alike as far as they have the same neighbours by the same relations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from largeea.evidence import kernels
from largeea.evidence.anchors import Anchors, without_seeds
from largeea.evidence.graphs import GraphPair
from largeea.execution.devices import cuda_is_chosen, torch_device
from largeea.execution.jobs import in_order, row_blocks, run_jobs
from largeea.graph import Arrays, Links
from largeea.similarity import Similarity
from largeea.similarity.arrays import stable_order
from largeea.similarity.blocks import block_arrays, stacked

MAX_FAN = 1000
"""A neighbour that more nodes share by one relation is no evidence for any of them."""
MAX_STRENGTH = 0.99
"""No single witness is more certain than this."""


def neighbour_evidence(
    edges: dict[str, Any], anchors: Links, agreement: Similarity, kinds: Arrays, seeds: Links, top_k: int
) -> Similarity:
    """How likely source and target entities are the same, given their anchored neighbours.

    Each shared neighbour is a witness that fails with probability `1 - p A(r, r') min(f(r), f(r'))`: p is the
    anchor's probability, A the agreement of the relations, f their inverse functionality. A pair is alike
    unless all its witnesses fail. Pairs without a witness are absent; each source keeps its `top_k` best.
    Only entities of equal kind are paired (see `matched_kinds`), and those that have a seed take no part.
    Linear in the edges.
    """
    rows = neighbours_by_rows(edges, anchors, agreement, kinds, seeds, top_k)
    return rows(0, GraphPair.of(edges).shape[0])


def neighbours_by_rows(
    edges: dict[str, Any], anchors: Links, agreement: Similarity, kinds: Arrays, seeds: Links, top_k: int
) -> Callable[[int, int], Similarity]:
    """`neighbour_evidence` of the source entities `first:last`, as a function of both; other rows are empty.

    Together, all pairs may need more memory than there is.
    """
    graphs = GraphPair.of(edges)
    known = Anchors.of(anchors, *graphs.shape, graphs.values)
    if cuda_is_chosen():
        from largeea.evidence.cuda_neighbours import Joins

        joins = Joins(graphs, known, agreement, kinds, MAX_FAN, MAX_STRENGTH, torch_device())
        return lambda first, last: without_seeds(joins.best(top_k, first, last), seeds)

    def best(first: int, last: int) -> Similarity:
        blocks = row_blocks(last - first, least=4096, bytes_per_row=16 * top_k)
        spans = [(first + start, first + end) for start, end in blocks]
        found = in_order(run_jobs(_block, spans, graphs, known, agreement, kinds, top_k))
        pairs = stacked(found, (last - first, graphs.shape[1]))
        return without_seeds(_between_empty_rows(pairs, first, graphs.shape[0]), seeds)

    return best


def _between_empty_rows(block: Similarity, first: int, rows: int) -> Similarity:
    """A matrix of so many `rows`, with those of the block from `first` on and no others."""
    before, after = np.zeros(first, np.int64), rows - first - block.shape[0]
    indptr = np.concatenate([before, block.indptr, np.full(after, len(block), np.int64)])
    return Similarity((rows, block.shape[1]), indptr, block.indices, block.scores, block.floor)


def _block(
    first: int,
    last: int,
    graphs: GraphPair,
    anchors: Anchors,
    agreement: Similarity,
    kinds: Arrays,
    top_k: int,
) -> Arrays:
    """The evidence of the source entities `first:last`, as a block of rows."""
    source, target = graphs.source, graphs.target
    busiest = np.empty(last - first, np.uint32)
    kernels.busiest_neighbours(
        first, last, MAX_FAN, source.pointers, source.neighbour, target.pointers, anchors.target, busiest
    )
    order = stable_order(busiest).astype(np.int32)
    ids = np.full((last - first, top_k), -1, np.int32)
    sums = np.zeros((last - first, top_k), np.float32)
    kernels.witnesses(
        first, order, MAX_FAN, MAX_STRENGTH,
        source.pointers, source.relation, source.neighbour, source.inverse_functionality,
        target.pointers, target.relation, target.neighbour, target.fan, target.inverse_functionality,
        anchors.target, anchors.trust, agreement.indptr, agreement.indices, agreement.scores,
        ids, sums, kinds["source"], kinds["target"],
    )  # fmt: skip
    return block_arrays(Similarity.from_top_k(ids, 1 - np.exp(-sums), graphs.shape[1]))
