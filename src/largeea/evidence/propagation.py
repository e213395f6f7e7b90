"""Propagation: labels of anchors spread along the edges; entities with like surroundings get like vectors.

Every anchor has a random label, the same on both sides. An entity knows its own label and, hop by hop, the
mixture of its neighbours' knowledge. Its vector is a random sketch of what it sees: over all its edges, the
relation (by the agreement of both graphs' relations) times what the neighbour knows. Sketches of few
dimensions find candidates; more, made piece by piece and never held together, score them.

After LightEA (Mao et al., EMNLP 2022), with relation agreement in place of propagated relation vectors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numba
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from largeea.evidence.anchors import Anchors
from largeea.evidence.edges import Edges
from largeea.graph import Float32, Int32, Int64
from largeea.similarity import Similarity
from largeea.vectors import unit_rows

HEADS_OF_A_PIECE = 16
WIDTH_OF_A_HEAD = 16
PIECE = HEADS_OF_A_PIECE * WIDTH_OF_A_HEAD
"""Dimensions of one piece of a sketch."""
HUBS_COUNT_LESS = 0.25
"""A neighbour with d neighbours of its own counts `d ** -HUBS_COUNT_LESS`."""


class Sketches:
    """Vectors of the entities of two graphs, made from their anchors, piece by piece."""

    def __init__(
        self,
        source: Edges,
        target: Edges,
        anchors: Anchors,
        agreement: sp.csr_array,
        *,
        label_width: int = 256,
        hops: int = 2,
        seed: int = 0,
    ) -> None:
        anchored = np.flatnonzero(anchors.target >= 0)
        random = np.random.default_rng(seed)
        labels = unit_rows(random.standard_normal((len(anchored), label_width), np.float32))
        self._edges = source, target
        self._weights = _edge_weights(source), _edge_weights(target)
        self._knowledge = (
            _knowledge(source, self._weights[0], labels, anchored, hops),
            _knowledge(target, self._weights[1], labels, anchors.target[anchored], hops),
        )
        self._relations = _relation_vectors(agreement)
        self._seed = seed

    def pieces(self, count: int) -> Iterator[tuple[Float32, Float32]]:
        """`(source[n_s, PIECE], target[n_t, PIECE])`, as often as wanted; equal on each call."""
        for number in range(count):
            random = np.random.default_rng((self._seed, number))
            mixing = random.standard_normal((self._relations[0].shape[1], HEADS_OF_A_PIECE), np.float32)
            width = self._knowledge[0].shape[1]
            projection = random.standard_normal((width, PIECE), np.float32) / np.float32(np.sqrt(width))
            source, target = (
                _sketch(edges.pointers, edges.relation, edges.neighbour, weights, relations @ mixing,
                        knowledge @ projection)
                for edges, weights, relations, knowledge in zip(
                    self._edges, self._weights, self._relations, self._knowledge, strict=True
                )
            )  # fmt: skip
            yield source, target

    def vectors(self, pieces: int) -> tuple[Float32, Float32]:
        """All pieces side by side, rows of length 1: `(source[n_s, d], target[n_t, d])`."""
        made = list(self.pieces(pieces))
        source, target = (unit_rows(np.concatenate(side, axis=1)) for side in zip(*made, strict=True))
        return source, target

    def cosines(self, candidates: Similarity, pieces: int) -> Similarity:
        """Scores of candidate pairs by so many pieces; below 0 counts as 0."""
        rows, columns = candidates.rows, candidates.indices
        products = np.zeros(len(rows), np.float64)
        lengths = [np.zeros(edges.nodes, np.float64) for edges in self._edges]
        for piece in self.pieces(pieces):
            _add_products(*piece, rows, columns, products)
            for length, vectors in zip(lengths, piece, strict=True):
                length += np.einsum("ij,ij->i", vectors, vectors)
        scale = np.sqrt(lengths[0][rows] * lengths[1][columns])
        cosines = np.clip(np.divide(products, scale, out=np.zeros_like(products), where=scale > 0), 0, 1)
        return Similarity(candidates.shape, candidates.indptr, columns, cosines.round(5))


def _edge_weights(edges: Edges) -> Float32:
    degree = np.maximum(np.diff(edges.pointers), 1).astype(np.float32)
    return degree[edges.neighbour] ** np.float32(-HUBS_COUNT_LESS)


def _knowledge(
    edges: Edges, weights: Float32, labels: Float32, places: npt.NDArray[np.integer], hops: int
) -> Float32:
    """What every node knows: its label and what reached it by hops, `[nodes, (hops + 1) width]`."""
    known = np.zeros((edges.nodes, labels.shape[1]), np.float32)
    known[places] = labels
    adjacency = sp.csr_array((weights, edges.neighbour, edges.pointers), shape=(edges.nodes, edges.nodes))
    reached = [known]
    for _ in range(hops):
        reached.append(unit_rows(adjacency @ reached[-1]))
    return unit_rows(np.concatenate(reached, axis=1))


def _relation_vectors(agreement: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Vectors whose inner product tells how far two relations agree: a target's relation is itself."""
    squared = np.asarray(agreement.multiply(agreement).sum(axis=1)).ravel()
    scale = np.divide(1, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)
    source = sp.csr_array(sp.diags_array(scale.astype(np.float32)) @ agreement)
    return source, sp.csr_array(sp.eye_array(agreement.shape[1], dtype=np.float32))


@numba.njit(cache=True, parallel=True, fastmath={"contract"})
def _sketch(
    pointers: Int64, relation: Int32, neighbour: Int32, weights: Float32, mixed: Float32, known: Float32
) -> Float32:
    """`sum over edges: weight * relation (x) neighbour`: heads of the relation times projected knowledge."""
    nodes = len(pointers) - 1
    out = np.zeros((nodes, HEADS_OF_A_PIECE * WIDTH_OF_A_HEAD), np.float32)
    for node in numba.prange(nodes):
        for edge in range(pointers[node], pointers[node + 1]):
            there = known[neighbour[edge]]
            for head in range(HEADS_OF_A_PIECE):
                factor = weights[edge] * mixed[relation[edge], head]
                for i in range(head * WIDTH_OF_A_HEAD, (head + 1) * WIDTH_OF_A_HEAD):
                    out[node, i] += factor * there[i]
    return out


@numba.njit(cache=True, parallel=True, fastmath={"contract", "reassoc"})
def _add_products(
    source: Float32, target: Float32, rows: Int32, columns: Int32, products: np.ndarray
) -> None:
    for pair in numba.prange(len(rows)):
        total = np.float32(0)
        for i in range(source.shape[1]):
            total += source[rows[pair], i] * target[columns[pair], i]
        products[pair] += total
