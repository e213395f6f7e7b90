"""Sketches of the surroundings of entities: label propagation on the CPU. On a GPU, `cuda.py` does the same.

An entity knows its own label and, hop by hop, the mixture of its neighbours' labels. Its vector is a random
sketch of what it sees: over all its edges, the relation times what the neighbour knows. Relations have
vectors too: which relations of the other graph they agree with, and the labels at their ends. What reached
the entity itself by hops is added beside the sketch.

Every sketch has labels of its own: few sketches find candidates, more are streamed to score them. After
LightEA (Mao et al., EMNLP 2022), which holds all dimensions at once.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from largeea.evidence import pair_kernels, sketch_kernels
from largeea.evidence.labels import FIRST_SKETCHES, HOPS, LABEL_WIDTH, POOL, SCORED_BY_ALL, LabelledGraphs
from largeea.evidence.pairs import Pairs
from largeea.evidence.sketch import Sketch, Vectors, aligned
from largeea.execution.jobs import in_turn, keep, over_rows, run_jobs, whole_machine_blocks
from largeea.execution.settings import current
from largeea.graph import Arrays, Float32, Int8, Int32
from largeea.search import dense_top_k
from largeea.similarity import Similarity

SHARE_FOR_SKETCHES = 0.01
"""Of the memory limit, what several sketches may take that are made at a time."""


def sketch_dimension(label_width: int = LABEL_WIDTH) -> int:
    """Dimensions of one sketch, with what was reached by hops."""
    return (2 * HOPS + 1) * label_width


class Sketches:
    """Vectors of the entities of two graphs, made from their anchors, sketch by sketch, on the CPU.

    A sketch is made with all threads of a machine; a cluster makes several at a time. Small graphs have a
    sketch for each thread, because starting all threads for every hop would take longer than the hop.
    The working memory is held for the next sketch of a thread, because fresh memory is slow.
    """

    def __init__(self, graphs: LabelledGraphs) -> None:
        self.graphs = graphs
        self._own = threading.local()

    def __reduce__(self) -> tuple[Any, ...]:
        """Without the working memory."""
        return Sketches, (self.graphs,)

    @property
    def _memory(self) -> tuple[Int8, Int8]:
        """Room for what the nodes of either graph know."""
        if not hasattr(self._own, "memory"):
            nodes, width = self._nodes, (HOPS + 1) * self.graphs.label_width
            self._own.memory = aligned(nodes, width), np.empty(nodes, np.int8)
        memory: tuple[Int8, Int8] = self._own.memory
        return memory

    @property
    def _nodes(self) -> int:
        """Nodes of the larger graph."""
        return max(side.edges.nodes for side in self.graphs.sides)

    def room(self, side: int, count: int) -> Vectors:
        """Room for so many vectors of one graph, of use until this thread asks for it again."""
        rooms: dict[int, Vectors] = self._own.__dict__.setdefault("rooms", {})
        if side not in rooms or len(rooms[side].units) < count:
            rooms[side] = Vectors.room(count, sketch_dimension(self.graphs.label_width))
        return rooms[side].first(count)

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
        source, target = (self._vectors_of(sketches, side, nodes[side]) for side in (0, 1))
        return source, target

    def _vectors_of(self, sketches: int, side: int, nodes: Int32) -> Float32:
        """The vectors of some nodes of one graph, scaled to length 1."""
        width = sketch_dimension(self.graphs.label_width)
        made = np.empty((len(nodes), sketches * width), np.float32)
        squares, vectors = np.zeros(len(nodes), np.float32), Vectors.room(len(nodes), width)
        for number in range(sketches):
            self.sketch(number, side).write(nodes, vectors)
            part = made[:, number * width : (number + 1) * width]
            over_rows(sketch_kernels.scaled_rows, len(nodes), vectors.numbers, vectors.units, part)
            squares += vectors.lengths
        _to_unit_length(made, squares)
        return made

    def nearest(self, nodes: tuple[Int32, Int32], k: int, sketches: int) -> tuple[Int32, Float32]:
        """See `Surroundings.nearest`."""
        made: list[Float32] = [np.empty(0, np.float32)] * 2
        shared, squares = keep(self), self._no_squares()
        for side, found in run_jobs(first_vectors, [(0,), (1,)], shared, nodes, at_once=1, stored=False):
            lengths = squares[side][nodes[side]] = found["lengths"]
            made[side] = np.empty(found["numbers"].shape, np.float32)
            over_rows(sketch_kernels.scaled_rows, len(lengths), found["numbers"], found["units"], made[side])
            _to_unit_length(made[side], lengths)
        del found
        ids, cosines = dense_top_k(made[0], made[1], POOL * k)
        del made
        pairs = Pairs.of_top_k(nodes, ids, cosines, (squares[0][nodes[0]], squares[1][nodes[1]]))
        del ids, cosines
        self._add(shared, pairs, squares, range(1, sketches))
        return pairs.top_k(self._cosines(pairs, squares), k)

    def cosines(self, candidates: Similarity, sketches: int) -> Float32:
        """See `Surroundings.cosines`."""
        pairs, shared, squares = Pairs.of(candidates), keep(self), self._no_squares()
        first = min(sketches, FIRST_SKETCHES)
        self._add(shared, pairs, squares, range(first))
        found = self._cosines(pairs, squares)
        if first < sketches:
            fewer, positions = pairs.best(found, SCORED_BY_ALL)
            self._add(shared, fewer, squares, range(first, sketches))
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

    def _add(self, shared: Any, pairs: Pairs, squares: tuple[Float32, Float32], numbers: range) -> None:
        """Add what some sketches say of all pairs, and the squared lengths of the vectors.

        `shared` is what jobs get for these sketches. Sums are made in the order of the sketches.
        """
        rows = whole_machine_blocks(len(pairs.sources), len(numbers))
        given = [(number, *block) for number in numbers for block in rows]
        found = run_jobs(score_rows, given, shared, pairs.for_jobs(), at_once=self._at_once, stored=False)
        for place, scored in in_turn(found):
            _, first, last = given[place]
            _add_to(pairs.products[pairs.indptr[first] : pairs.indptr[last]], scored["products"])
            squares[0][pairs.sources[first:last]] += scored["source"]
            if first == 0:
                squares[1][pairs.targets] += scored["target"]

    @property
    def _at_once(self) -> int:
        """Sketches made at a time: as many as fit into `SHARE_FOR_SKETCHES` of the memory limit."""
        width = self.graphs.label_width
        each = self._nodes * ((HOPS + 1) * width + 2 * sketch_dimension(width))
        return max(1, int(SHARE_FOR_SKETCHES * current().memory_bytes) // each)


def first_vectors(side: int, sketches: Sketches, nodes: tuple[Int32, Int32]) -> Arrays:
    """The vectors of some nodes of one graph by the first sketch, as the parts of `Vectors`."""
    vectors = Vectors.room(len(nodes[side]), sketch_dimension(sketches.graphs.label_width))
    sketches.sketch(0, side).write(nodes[side], vectors)
    return {"numbers": vectors.numbers, "units": vectors.units, "lengths": vectors.lengths}


def score_rows(number: int, first: int, last: int, sketches: Sketches, pairs: Pairs) -> Arrays:
    """What one sketch says of the rows `first:last` of some pairs.

    Inner products, `[entries of these rows]`, and the squared lengths of the vectors: of their sources, and
    of the targets of all rows. The vectors of all targets are held at once; those of sources come in blocks.
    """
    target = sketches.room(1, len(pairs.targets))
    sketches.sketch(number, 1).write(pairs.targets, target)
    start = pairs.indptr[first]
    products = np.zeros(pairs.indptr[last] - start, np.float32)
    lengths = np.empty(last - first, np.float32)
    size = _rows_at_once(target.numbers.shape[1])
    sketch = sketches.sketch(number, 0)
    for row in range(first, last, size):
        block = pairs.sources[row : min(row + size, last)]
        made = sketches.room(0, len(block))
        sketch.write(block, made)
        lengths[row - first :][: len(block)] = made.lengths
        indptr = pairs.indptr[row : row + len(block) + 1] - start
        over_rows(
            pair_kernels.add_products, len(block), pairs.order_of(row, row + len(block)), indptr,
            pairs.places[start:], made.numbers, made.units, target.numbers, target.units, products, least=64,
        )  # fmt: skip
    return {"products": products, "source": lengths, "target": target.lengths.copy()}


def _add_to(sums: Float32, products: Float32) -> None:
    """Add to sums, on all threads."""

    def add(first: int, last: int) -> None:
        sums[first:last] += products[first:last]

    over_rows(add, len(sums), least=1 << 16)


def _to_unit_length(vectors: Float32, squares: Float32) -> None:
    """Divide vectors by their lengths, whose squares are given; zeros stay."""
    lengths = np.sqrt(np.where(squares > 0, squares, 1))
    over_rows(sketch_kernels.divide_rows, len(vectors), lengths, vectors)


def _rows_at_once(dimension: int) -> int:
    """Source rows whose vectors take a twentieth of the memory limit."""
    return max(1024, current().memory_bytes // 20 // dimension)
