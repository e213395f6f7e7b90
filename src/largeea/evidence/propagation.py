"""Propagation: labels of anchors spread along the edges; entities with like surroundings get like vectors.

Every anchor has a random label, the same on both sides. An entity knows its own label and, hop by hop, the
mixture of its neighbours' knowledge. Its vector is a random sketch of what it sees: over all its edges, the
relation times what the neighbour knows. Relations have vectors too: which relations of the other graph they
agree with, and the labels at their ends. What reached the entity itself by hops has a say beside the sketch.

Vectors come in pieces, each with labels drawn anew, so that memory is that of one piece: few find candidates,
more are streamed to score them. After LightEA (Mao et al., EMNLP 2022), which holds all dimensions at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from largeea.compiled import compiled, prange
from largeea.evidence.anchors import Anchors
from largeea.evidence.edges import Edges
from largeea.graph import Float32, Int32, Int64
from largeea.progress import note
from largeea.similarity import Similarity
from largeea.sparse import sp
from largeea.vectors import unit_rows

HOPS = 3
LABEL_WIDTH = 64
PIECE = (2 * HOPS + 1) * LABEL_WIDTH
"""Dimensions of a piece: of its sketch, and of what was reached."""
WIDTH_OF_A_HEAD = 16
"""Dimensions of a sketch that see relations in the same mixture."""
REACHED = 0.2
"""Weight of what reached an entity by hops, beside its sketch."""
SHARE_OF_REACHED = np.float32(np.sqrt(REACHED / (1 - REACHED)))
"""Its length, if that of the sketch is 1."""
HUBS_COUNT_LESS = 0.25
"""A neighbour with d neighbours of its own counts `d ** -HUBS_COUNT_LESS`."""


class _Side(NamedTuple):
    """One of both graphs."""

    edges: Edges
    weights: Float32
    places: npt.NDArray[np.integer]
    """The nodes that have labels, in the order of the labels."""
    agreeing: sp.csr_array
    """Vectors of relations whose inner products tell how far they agree."""


class Sketches:
    """Vectors of the entities of two graphs, made from their anchors, piece by piece."""

    def __init__(
        self,
        source: Edges,
        target: Edges,
        anchors: Anchors,
        agreement: sp.csr_array,
        *,
        label_width: int = LABEL_WIDTH,
        seed: int = 0,
    ) -> None:
        anchored = np.flatnonzero(anchors.target >= 0)
        agreeing = _agreeing(agreement)
        self._sides = (
            _Side(source, _edge_weights(source), anchored, agreeing[0]),
            _Side(target, _edge_weights(target), anchors.target[anchored], agreeing[1]),
        )
        self._label_width, self._seed = label_width, seed

    def pieces(self, count: int) -> Iterator[tuple[Float32, Float32]]:
        """`(source[n_s, d], target[n_t, d])`, equal on each call; every piece is written over the last."""
        width = self._label_width
        source, target = (
            (side, _empty(side, (HOPS + 1) * width), _empty(side, (2 * HOPS + 1) * width))
            for side in self._sides
        )
        for number in range(count):
            random = np.random.default_rng((self._seed, number))
            labels = unit_rows(random.standard_normal((len(self._sides[0].places), width), np.float32))
            heads = (HOPS + 1) * width // WIDTH_OF_A_HEAD
            by_agreement, by_ends = (
                random.standard_normal((dimensions, heads), np.float32)
                for dimensions in (self._sides[0].agreeing.shape[1], 2 * width)
            )
            yield (
                _write_piece(*source, labels, by_agreement, by_ends),
                _write_piece(*target, labels, by_agreement, by_ends),
            )

    def vectors(self, pieces: int) -> tuple[Float32, Float32]:
        """All pieces side by side, rows of length 1: `(source[n_s, d], target[n_t, d])`."""
        width = (2 * HOPS + 1) * self._label_width
        source, target = (_empty(side, pieces * width) for side in self._sides)
        for number, made in enumerate(self.pieces(pieces)):
            for side, piece in zip((source, target), made, strict=True):
                side[:, number * width : (number + 1) * width] = piece
        for side in source, target:
            _make_rows_unit(side)
        return source, target

    def cosines(self, candidates: Similarity, pieces: int) -> Similarity:
        """Scores of candidate pairs by so many pieces; below 0 counts as 0."""
        rows, columns = candidates.rows, candidates.indices
        products = np.zeros(len(rows), np.float64)
        lengths = [np.zeros(side.edges.nodes, np.float64) for side in self._sides]
        for piece in self.pieces(pieces):
            _add_products(*piece, rows, columns, products)
            for length, vectors in zip(lengths, piece, strict=True):
                length += np.einsum("ij,ij->i", vectors, vectors)
        scale = np.sqrt(lengths[0][rows] * lengths[1][columns])
        cosines = np.clip(np.divide(products, scale, out=np.zeros_like(products), where=scale > 0), 0, 1)
        return Similarity(candidates.shape, candidates.indptr, columns, cosines.round(5))


def fitting_label_width(nodes: int, pieces_to_find: int, memory_mb: int) -> int:
    """The widest labels with which pieces of vectors for so many nodes of both graphs fit into memory.

    Counted: knowledge and the piece made of it, and twice all pieces that find candidates.
    """
    held = 4 * ((HOPS + 1) + (2 * HOPS + 1) * (1 + 2 * pieces_to_find))
    for width in (LABEL_WIDTH, LABEL_WIDTH // 2, LABEL_WIDTH // 4):
        if nodes * width * held <= memory_mb << 20:
            return width
    note(
        f"propagation needs more than evidence.memory_mb = {memory_mb} for {nodes:,} nodes: about "
        f"{nodes * width * held >> 20} MB; mini-batches need less: --without evidence and --set "
        "structure.model=propagation"
    )
    return width


def _empty(side: _Side, dimensions: int) -> Float32:
    return np.empty((side.edges.nodes, dimensions), np.float32)


def _write_piece(
    side: _Side, known: Float32, piece: Float32, labels: Float32, by_agreement: Float32, by_ends: Float32
) -> Float32:
    """A sketch, and what was reached, into `piece`; what every node knows into `known`.

    A node knows its label and, behind it, what reached it by hops.
    """
    edges, width = side.edges, labels.shape[1]
    known[:, :width] = 0
    known[side.places, :width] = labels
    for hop in range(1, HOPS + 1):
        _spread(edges.pointers, edges.neighbour, side.weights, known, width, hop)
    _make_rows_unit(known)
    ends = np.einsum("ij,jk->ik", _ends(edges, known[:, :width]), by_ends)  # alike for any number of threads
    relations = side.agreeing @ by_agreement + ends
    _see(edges.pointers, edges.relation, edges.neighbour, side.weights, relations, known, piece)
    return piece


def _edge_weights(edges: Edges) -> Float32:
    degree = np.maximum(np.diff(edges.pointers), 1).astype(np.float32)
    return degree[edges.neighbour] ** np.float32(-HUBS_COUNT_LESS)


def _ends(edges: Edges, labels: Float32) -> Float32:
    """Relations by the labels of the nodes that have them and of those they lead to, `[relations, 2 d]`."""
    shape = len(edges.telling), edges.nodes
    having = sp.csr_array((np.ones_like(edges.relation, np.float32), (edges.relation, edges.node)), shape)
    near = unit_rows(having @ labels)
    return unit_rows(np.concatenate([near, near[np.arange(len(near)) ^ 1]], axis=1))


def _agreeing(agreement: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Vectors whose inner product tells how far two relations agree: a target's relation is itself."""
    squared = np.asarray(agreement.multiply(agreement).sum(axis=1)).ravel()
    scale = np.divide(1, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)
    source = sp.csr_array(sp.diags_array(scale.astype(np.float32)) @ agreement)
    return source, sp.csr_array(sp.eye_array(agreement.shape[1], dtype=np.float32))


@compiled(parallel=True, fastmath={"contract"})
def _spread(
    pointers: Int64, neighbour: Int32, weights: Float32, known: Float32, width: int, hop: int
) -> None:
    """What a hop brings: the sum of what neighbours have from the hop before, rows of length 1."""
    for node in prange(len(known)):
        reached = known[node, hop * width : (hop + 1) * width]
        reached[:] = 0
        for edge in range(pointers[node], pointers[node + 1]):
            there = known[neighbour[edge], (hop - 1) * width : hop * width]
            for i in range(width):
                reached[i] += weights[edge] * there[i]
        _scale_to(np.float32(1), reached)


@compiled(parallel=True, fastmath={"contract"})
def _see(
    pointers: Int64,
    relation: Int32,
    neighbour: Int32,
    weights: Float32,
    mixed: Float32,
    known: Float32,
    piece: Float32,
) -> None:
    """`sum over edges: weight * relation (x) neighbour`, every head with its mixture of relations.

    Behind it, what has reached the node itself by hops.
    """
    width = known.shape[1]
    for node in prange(len(piece)):
        sketch, reached = piece[node, :width], piece[node, width:]
        sketch[:] = 0
        for edge in range(pointers[node], pointers[node + 1]):
            there = known[neighbour[edge]]
            for head in range(mixed.shape[1]):
                factor = weights[edge] * mixed[relation[edge], head]
                for i in range(head * WIDTH_OF_A_HEAD, (head + 1) * WIDTH_OF_A_HEAD):
                    sketch[i] += factor * there[i]
        _scale_to(np.float32(1), sketch)
        reached[:] = known[node, width - len(reached) :]
        _scale_to(SHARE_OF_REACHED, reached)


@compiled(parallel=True)
def _make_rows_unit(vectors: Float32) -> None:
    for row in prange(len(vectors)):
        _scale_to(np.float32(1), vectors[row])


@compiled(fastmath={"contract", "reassoc"})
def _scale_to(length: np.float32, vector: Float32) -> None:
    """Give a vector this length; one of zeros stays."""
    squares = np.float32(0)
    for i in range(len(vector)):
        squares += vector[i] * vector[i]
    if squares > 0:
        vector *= length / np.sqrt(squares)


@compiled(parallel=True, fastmath={"contract", "reassoc"})
def _add_products(
    source: Float32, target: Float32, rows: Int32, columns: Int32, products: np.ndarray
) -> None:
    for pair in prange(len(rows)):
        total = np.float32(0)
        for i in range(source.shape[1]):
            total += source[rows[pair], i] * target[columns[pair], i]
        products[pair] += total
