"""One sketch of one graph: labels spread along its edges, then the vectors of any nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.evidence import sketch_kernels
from largeea.evidence.labels import HOPS, REACHED_LENGTH, Side
from largeea.execution.jobs import BLOCKS_PER_THREAD, over_rows
from largeea.execution.settings import current
from largeea.graph import Float32, Int8, Int32, UInt64

CACHE_LINE = 64
"""Bytes that a processor reads from memory at a time."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """Room for vectors of some nodes, rounded to whole numbers."""

    numbers: Int8
    """`[nodes, dimension]`."""
    units: Float32
    """What one whole number of each vector stands for, `[nodes]`."""
    lengths: Float32
    """Squared lengths, `[nodes]`."""

    @classmethod
    def room(cls, count: int, dimension: int) -> Vectors:
        """Room for so many vectors."""
        return cls(aligned(count, dimension), *np.empty((2, count), np.float32))

    def first(self, count: int) -> Vectors:
        """The first so many of them, in the same memory."""
        return Vectors(self.numbers[:count], self.units[:count], self.lengths[:count])


def aligned(count: int, dimension: int) -> Int8:
    """Room for vectors that begin at a line of the cache: so each takes as few lines as it can."""
    room = np.empty(count * dimension + CACHE_LINE, np.int8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + count * dimension].reshape(count, dimension)


class Sketch:
    """One sketch of one graph: what every node knows, from which the vectors of any nodes are made.

    All sketches of a pair of graphs use the same memory: one is of use until the next is made.
    """

    def __init__(
        self, side: Side, width: int, random: tuple[UInt64, Float32, Float32], known: Int8, hops: Int8
    ) -> None:
        bits, by_agreement, by_ends = random
        edges = side.edges
        self._side, self._width, self._known = side, width, known
        over_rows(sketch_kernels.write_labels, edges.nodes, bits, side.label_of, width, known, hops)
        for hop in range(1, HOPS + 1):
            over_rows(
                sketch_kernels.spread, edges.nodes, edges.pointers, edges.neighbour, side.counts, width, hop,
                known, hops,
            )  # fmt: skip
        self._counts = side.counts / np.sqrt(np.maximum(hops, 1, dtype=np.float32))
        self._mixed = relation_vectors(side, self._label_sums(), by_agreement, by_ends)

    def _label_sums(self) -> Float32:
        """The sums of the labels of the nodes that have each relation, `[relations, width]`."""
        side, edges = self._side, self._side.edges
        threads = current().thread_count
        blocks = BLOCKS_PER_THREAD * threads if threads > 1 else 1
        bounds = np.linspace(0, edges.nodes, blocks + 1).astype(np.int64)
        sums = np.empty((blocks, len(edges.inverse_functionality), self._width), np.float32)
        over_rows(
            sketch_kernels.label_sums, blocks, bounds, edges.pointers, edges.relation, side.label_of,
            self._known, sums, least=1,
        )  # fmt: skip
        return np.asarray(sums.sum(axis=0))

    def write(self, nodes: Int32, vectors: Vectors) -> None:
        """Write the vectors of some nodes."""
        edges, side = self._side.edges, self._side
        over_rows(
            sketch_kernels.sketch, len(nodes), nodes, edges.pointers, edges.relation, edges.neighbour,
            side.label_of, self._mixed, self._known, self._counts, self._width, REACHED_LENGTH,
            vectors.numbers, vectors.units, vectors.lengths, least=256,
        )  # fmt: skip


def relation_vectors(side: Side, label_sums: Float32, by_agreement: Float32, by_ends: Float32) -> Float32:
    """What each head sees of each relation: which others it agrees with, and the labels at its ends.

    From the sums of the labels of the nodes that have a relation, `[relations, width]`: `[relations, heads]`.
    """
    mixed = np.empty((len(label_sums), by_ends.shape[1]), np.float32)
    agreeing = side.agreeing.indptr, side.agreeing.indices, side.agreeing.data
    over_rows(sketch_kernels.mix_relations, len(mixed), *agreeing, label_sums, by_agreement, by_ends, mixed)
    return mixed
