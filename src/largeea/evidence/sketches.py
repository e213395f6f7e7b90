"""Sketches of the surroundings of entities: label propagation on the CPU. On a GPU, `cuda.py` does the same.

An entity knows its own label and, hop by hop, the mixture of its neighbours' labels. Its vector is a random
sketch of what it sees: over all its edges, the relation times what the neighbour knows. Relations have
vectors too: which relations of the other graph they agree with, and the labels at their ends. What reached
the entity itself by hops is added beside the sketch.

Every sketch has labels of its own: few sketches find candidates, more are streamed to score them. After
LightEA (Mao et al., EMNLP 2022), which holds all dimensions at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from largeea.evidence import pair_kernels, sketch_kernels
from largeea.evidence.labels import (
    FIRST_SKETCHES,
    HEAD_WIDTH,
    HOPS,
    LABEL_WIDTH,
    POOL,
    REACHED_LENGTH,
    SCORED_BY_ALL,
    LabelledGraphs,
    Side,
    UInt64,
)
from largeea.evidence.pairs import Pairs
from largeea.execution.jobs import BLOCKS_PER_THREAD, over_rows
from largeea.execution.settings import current
from largeea.graph import Float32, Int8, Int32
from largeea.progress import track
from largeea.search import dense_top_k
from largeea.similarity import Similarity


def sketch_dimension(label_width: int = LABEL_WIDTH) -> int:
    """Dimensions of one sketch, with what was reached by hops."""
    return (2 * HOPS + 1) * label_width


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
        return cls(np.empty((count, dimension), np.int8), *np.empty((2, count), np.float32))

    def first(self, count: int) -> Vectors:
        """The first so many of them, in the same memory."""
        return Vectors(self.numbers[:count], self.units[:count], self.lengths[:count])


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
        mixed = side.relation_vectors(self._label_sums(), by_agreement, by_ends)
        self._mixed = np.repeat(mixed, HEAD_WIDTH, axis=1)

    def _label_sums(self) -> Float32:
        """The sums of the labels of the nodes that have each relation, `[relations, width]`."""
        side, edges = self._side, self._side.edges
        blocks = BLOCKS_PER_THREAD * current().thread_count
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


class Sketches:
    """Vectors of the entities of two graphs, made from their anchors, sketch by sketch, on the CPU."""

    def __init__(self, graphs: LabelledGraphs) -> None:
        self.graphs = graphs

    @cached_property
    def _memory(self) -> tuple[Int8, Int8]:
        """Room for what the nodes of either graph know. It is held, because fresh memory is slow."""
        nodes = max(side.edges.nodes for side in self.graphs.sides)
        return np.empty((nodes, (HOPS + 1) * self.graphs.label_width), np.int8), np.empty(nodes, np.int8)

    def sketch(self, number: int, side: int) -> Sketch:
        """A sketch of the source (0) or the target graph (1)."""
        labelled = self.graphs.sides[side]
        room = (held[: labelled.edges.nodes] for held in self._memory)
        return Sketch(labelled, self.graphs.label_width, self.graphs.random(number), *room)

    def vectors(self, sketches: int, nodes: tuple[Int32, Int32] | None = None) -> tuple[Float32, Float32]:
        """All sketches side by side, rows of length 1: `(source[n_s, d], target[n_t, d])`; of some nodes, or
        of all."""
        if nodes is None:
            sizes = (side.edges.nodes for side in self.graphs.sides)
            nodes = tuple(np.arange(size, dtype=np.int32) for size in sizes)  # type: ignore[assignment]
        assert nodes is not None
        (source, _), (target, _) = (self._vectors_of(sketches, side, nodes[side]) for side in (0, 1))
        return source, target

    def _vectors_of(self, sketches: int, side: int, nodes: Int32) -> tuple[Float32, Float32]:
        """The vectors of some nodes of one graph, scaled to length 1, and their squared lengths before."""
        width = sketch_dimension(self.graphs.label_width)
        made = np.empty((len(nodes), sketches * width), np.float32)
        squares, vectors = np.zeros(len(nodes), np.float32), Vectors.room(len(nodes), width)
        for number in range(sketches):
            self.sketch(number, side).write(nodes, vectors)
            part = made[:, number * width : (number + 1) * width]
            over_rows(sketch_kernels.scaled_rows, len(nodes), vectors.numbers, vectors.units, part)
            squares += vectors.lengths
        over_rows(sketch_kernels.divide_rows, len(nodes), np.sqrt(np.where(squares > 0, squares, 1)), made)
        return made, squares

    def nearest(self, nodes: tuple[Int32, Int32], k: int, sketches: int) -> tuple[Int32, Float32]:
        """See `Surroundings.nearest`."""
        (source, of_source), (target, of_target) = (self._vectors_of(1, side, nodes[side]) for side in (0, 1))
        ids, cosines = dense_top_k(source, target, POOL * k)
        del source, target
        pairs = Pairs.of_top_k(nodes, ids, cosines, (of_source, of_target))
        del ids, cosines
        squares = self._no_squares()
        squares[0][nodes[0]], squares[1][nodes[1]] = of_source, of_target
        self._add(pairs, squares, range(1, sketches))
        return pairs.top_k(self._cosines(pairs, squares), k)

    def cosines(self, candidates: Similarity, sketches: int) -> Float32:
        """See `Surroundings.cosines`."""
        pairs, squares = Pairs.of(candidates), self._no_squares()
        first = min(sketches, FIRST_SKETCHES)
        self._add(pairs, squares, range(first))
        found = self._cosines(pairs, squares)
        if first < sketches:
            fewer, positions = pairs.best(found, SCORED_BY_ALL)
            self._add(fewer, squares, range(first, sketches))
            found[positions] = self._cosines(fewer, squares)
        return found

    def _no_squares(self) -> tuple[Float32, Float32]:
        """Sums of the squared lengths of the vectors of all nodes: none yet."""
        source, target = (np.zeros(side.edges.nodes, np.float32) for side in self.graphs.sides)
        return source, target

    def _cosines(self, pairs: Pairs, squares: tuple[Float32, Float32]) -> Float32:
        """The cosines of pairs by the sketches so far, `[pairs]`."""
        found = np.empty(len(pairs.indices), np.float32)
        over_rows(
            pair_kernels.cosines, len(pairs.sources), pairs.sources, pairs.indptr, pairs.indices,
            pairs.products, *squares, *(side.label_of for side in self.graphs.sides),
            self.graphs.shares_kept, found,
        )  # fmt: skip
        return found

    def _add(self, pairs: Pairs, squares: tuple[Float32, Float32], numbers: range) -> None:
        """Add what some sketches say of all pairs, and the squared lengths of the vectors.

        The vectors of all targets are held at once; those of sources come in blocks.
        """
        sources, targets = pairs.sources, pairs.targets(len(squares[1]))
        place_of = np.zeros(len(squares[1]), np.int32)
        place_of[targets] = np.arange(len(targets), dtype=np.int32)
        dimension = sketch_dimension(self.graphs.label_width)
        size = max(1, min(len(sources), _rows_at_once(dimension)))
        source, target = Vectors.room(size, dimension), Vectors.room(len(targets), dimension)
        for number in track(numbers, len(numbers)):
            self.sketch(number, 1).write(targets, target)
            squares[1][targets] += target.lengths
            sketch = self.sketch(number, 0)
            for first in range(0, len(sources), size):
                block = sources[first : first + size]
                made = source.first(len(block))
                sketch.write(block, made)
                squares[0][block] += made.lengths
                over_rows(
                    pair_kernels.add_products, len(block), first, pairs.indptr, pairs.indices, place_of,
                    made.numbers, made.units, target.numbers, target.units, pairs.products, least=64,
                )  # fmt: skip


def _rows_at_once(dimension: int) -> int:
    """Source rows whose vectors take a twentieth of the memory limit."""
    return max(1024, current().memory_bytes // 20 // dimension)
