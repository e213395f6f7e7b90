"""Sketches of the surroundings of entities: label propagation on the CPU. On a GPU, `cuda.py` does the same.

An entity knows its own label and, hop by hop, the mixture of its neighbours' labels. Its vector is a random
sketch of what it sees: over all its edges, the relation times what the neighbour knows. Relations have
vectors too: which relations of the other graph they agree with, and the labels at their ends. What reached
the entity itself by hops is added beside the sketch.

Every sketch has labels of its own: few sketches find candidates, more are streamed to score them. After
LightEA (Mao et al., EMNLP 2022), which holds all dimensions at once.
"""

from __future__ import annotations

import numpy as np

from largeea.evidence import kernels
from largeea.evidence.labels import (
    HEAD_WIDTH,
    HOPS,
    LABEL_WIDTH,
    REACHED_LENGTH,
    LabelledGraphs,
    Side,
    UInt64,
    signs,
)
from largeea.execution.jobs import BLOCKS_PER_THREAD, over_rows, run_jobs
from largeea.execution.settings import current
from largeea.graph import Arrays, Float32, Int8, Int32
from largeea.search import dense_top_k
from largeea.similarity import Similarity


def sketch_dimension(label_width: int = LABEL_WIDTH) -> int:
    """Dimensions of one sketch, with what was reached by hops."""
    return (2 * HOPS + 1) * label_width


class Sketch:
    """One sketch of one graph: what every node knows, from which the vectors of any nodes are made."""

    def __init__(self, side: Side, random: tuple[UInt64, Float32, Float32], label_width: int) -> None:
        bits, by_agreement, by_ends = random
        edges, width = side.edges, label_width
        self._side, self._labels = side, signs(bits, width)
        self.dimension = sketch_dimension(width)
        known = np.empty((edges.nodes, (HOPS + 1) * width), np.float32)
        known[:, :width] = 0
        known[side.labelled, :width] = self._labels * np.float32(width**-0.5)
        for hop in range(1, HOPS + 1):
            over_rows(
                kernels.spread, edges.nodes, edges.pointers, edges.neighbour, side.weights, known, width, hop
            )
        self._known, self._units = np.empty(known.shape, np.int8), np.empty(edges.nodes, np.float32)
        over_rows(kernels.round_rows, edges.nodes, known, self._known, self._units)
        mixed = side.relation_vectors(self._label_sums(), by_agreement, by_ends)
        self._mixed = np.repeat(mixed, HEAD_WIDTH, axis=1)

    def _label_sums(self) -> Float32:
        """The sums of the labels of the nodes that have each relation, `[relations, width]`."""
        side, edges = self._side, self._side.edges
        blocks = BLOCKS_PER_THREAD * current().thread_count
        bounds = np.linspace(0, edges.nodes, blocks + 1).astype(np.int64)
        shape = blocks, len(edges.inverse_functionality), self._labels.shape[1]
        sums = np.empty(shape, np.float32)
        over_rows(
            kernels.label_sums, blocks, bounds, edges.pointers, edges.relation, side.label_of, self._labels,
            sums, least=1,
        )  # fmt: skip
        return np.asarray(sums.sum(axis=0))

    def vectors(self, nodes: Int32) -> tuple[Int8, Float32, Float32]:
        """The vectors of some nodes in whole numbers, `int8[n, dimension]`, what one of them stands for,
        `[n]`, and their squared lengths, `[n]`."""
        edges, side = self._side.edges, self._side
        vectors = np.empty((len(nodes), self.dimension), np.int8)
        steps, lengths = np.empty((2, len(nodes)), np.float32)
        over_rows(
            kernels.sketch, len(nodes), nodes, edges.pointers, edges.relation, edges.neighbour, side.weights,
            self._mixed, self._known, self._units, side.label_of, self._labels, REACHED_LENGTH,
            vectors, steps, lengths, least=256,
        )  # fmt: skip
        return vectors, steps, lengths


class Sketches:
    """Vectors of the entities of two graphs, made from their anchors, sketch by sketch, on the CPU."""

    def __init__(self, graphs: LabelledGraphs) -> None:
        self.graphs = graphs

    def sketch(self, side: int, random: tuple[UInt64, Float32, Float32]) -> Sketch:
        """The sketch of the source (0) or the target graph (1) with these random numbers."""
        return Sketch(self.graphs.sides[side], random, self.graphs.label_width)

    def vectors(self, sketches: int, nodes: tuple[Int32, Int32] | None = None) -> tuple[Float32, Float32]:
        """All sketches side by side, rows of length 1: `(source[n_s, d], target[n_t, d])`; of some nodes, or
        of all."""
        if nodes is None:
            sizes = (side.edges.nodes for side in self.graphs.sides)
            nodes = tuple(np.arange(size, dtype=np.int32) for size in sizes)  # type: ignore[assignment]
        assert nodes is not None
        width = sketch_dimension(self.graphs.label_width)
        made = tuple(np.empty((len(some), sketches * width), np.float32) for some in nodes)
        lengths = tuple(np.zeros(len(some), np.float32) for some in nodes)
        for number in range(sketches):
            random = self.graphs.random(number)
            for side in (0, 1):
                vectors, steps, squares = self.sketch(side, random).vectors(nodes[side])
                np.multiply(vectors, steps[:, None], out=made[side][:, number * width : (number + 1) * width])
                lengths[side][:] += squares
        for whole, squares in zip(made, lengths, strict=True):
            whole /= np.sqrt(np.where(squares > 0, squares, 1))[:, None]
        return made[0], made[1]

    def nearest(self, nodes: tuple[Int32, Int32], k: int) -> Similarity:
        """See `Surroundings.nearest`."""
        ids, cosines = dense_top_k(*self.vectors(1, nodes), k)
        return Similarity.from_top_k(ids, cosines, len(nodes[1]))

    def cosines(self, candidates: Similarity, sketches: int) -> Float32:
        """See `Surroundings.cosines`."""
        nodes, places = zip(
            *(
                _places(ends, size)
                for ends, size in zip((candidates.rows, candidates.indices), candidates.shape, strict=True)
            ),
            strict=True,
        )
        products = np.zeros(len(candidates), np.float64)
        squares = [np.zeros(len(some), np.float64) for some in nodes]
        numbers = [(number,) for number in range(sketches)]
        for _, found in run_jobs(_score_by_sketch, numbers, self, nodes, places, at_once=1):
            products += found["products"]
            squares[0] += found["source"]
            squares[1] += found["target"]
        for total, place in zip(squares, places, strict=True):
            products /= np.sqrt(np.where(total > 0, total, np.inf))[place]
        products /= self.graphs.share_kept(candidates)
        return np.clip(products, 0, 1).astype(np.float32).round(5)


def _places(ids: Int32, size: int) -> tuple[Int32, Int32]:
    """The distinct ids below `size`, ascending, and the place of each id among them."""
    among = np.zeros(size, bool)
    among[ids] = True
    place = np.cumsum(among, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(among).astype(np.int32), place[ids]


def _score_by_sketch(
    number: int, sketches: Sketches, nodes: tuple[Int32, Int32], places: tuple[Int32, Int32]
) -> Arrays:
    """Inner products of pairs by one sketch, and the squared lengths of their vectors.

    A pair is given by the places of its ends among the nodes; sources ascend. The vectors of all targets are
    held at once; those of sources come in blocks.
    """
    rows, columns = places
    random = sketches.graphs.random(number)
    target, steps_t, lengths_t = sketches.sketch(1, random).vectors(nodes[1])
    products, lengths = np.empty(len(rows), np.float32), np.empty(len(nodes[0]), np.float32)
    sketch = sketches.sketch(0, random)
    size = _rows_at_once(sketch.dimension)
    for first in range(0, len(nodes[0]), size):
        block = slice(first, first + size)
        source, steps, lengths[block] = sketch.vectors(nodes[0][block])
        entries = slice(*np.searchsorted(rows, [first, first + size]).tolist())
        over_rows(
            kernels.dot_products, len(rows[entries]), source, target, steps, steps_t,
            rows[entries] - np.int32(first), columns[entries], products[entries],
        )  # fmt: skip
    return {"products": products, "source": lengths, "target": lengths_t}


def _rows_at_once(dimension: int) -> int:
    """Source rows whose vectors take a twentieth of the memory limit."""
    return max(1024, current().memory_bytes // 20 // dimension)
