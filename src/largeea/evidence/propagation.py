"""Label propagation: labels of anchors spread along edges, so that like surroundings give like vectors.

Every anchor has a random label, the same on both sides. An entity knows its own label and, hop by hop, the
mixture of its neighbours' labels. Its vector is a random sketch of what it sees: over all its edges, the
relation times what the neighbour knows. Relations have vectors too: which relations of the other graph they
agree with, and the labels at their ends. What reached the entity itself by hops is added beside the sketch.

Every sketch has labels of its own: few sketches find candidates, more are streamed to score them. After
LightEA (Mao et al., EMNLP 2022), which holds all dimensions at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from largeea.evidence import kernels
from largeea.evidence.anchors import Anchors, not_in
from largeea.evidence.graphs import GraphPair
from largeea.execution.jobs import over_rows, run_jobs
from largeea.execution.settings import current
from largeea.graph import Arrays, Float32, Int32, Links
from largeea.graph.edges import Edges
from largeea.search import dense_top_k
from largeea.search.vectors import unit_rows
from largeea.similarity import Similarity

HOPS = 3
LABEL_WIDTH = 64
HEAD_WIDTH = 16
"""Dimensions of a sketch that see relations in the same mixture."""
REACHED_WEIGHT = 0.2
"""Weight of what reached an entity by hops, beside its sketch."""
REACHED_LENGTH = float(np.float32(np.sqrt(REACHED_WEIGHT / (1 - REACHED_WEIGHT))))
"""Its length, if that of the sketch is 1."""
HUB_DISCOUNT = 0.25
"""A neighbour with d neighbours of its own counts `d ** -HUB_DISCOUNT`."""


def sketch_dimension(label_width: int = LABEL_WIDTH) -> int:
    """Dimensions of one sketch, with what was reached by hops."""
    return (2 * HOPS + 1) * label_width


@dataclass(frozen=True, eq=False)
class _Side:
    """One of both graphs."""

    edges: Edges
    weights: Float32
    """What the neighbour counts on each edge, `[edges]`."""
    labelled: npt.NDArray[np.integer]
    """The nodes that have labels, in the order of the labels."""
    agreeing: sp.csr_array
    """Vectors of relations whose inner products tell how far they agree."""


class Sketch:
    """One sketch of one graph: what every node knows, from which the vectors of any nodes are made."""

    def __init__(self, side: _Side, labels: Float32, by_agreement: Float32, by_ends: Float32) -> None:
        edges, width = side.edges, labels.shape[1]
        self._side = side
        self._known = np.empty((edges.nodes, (HOPS + 1) * width), np.float32)
        self._known[:, :width] = 0
        self._known[side.labelled, :width] = labels
        for hop in range(1, HOPS + 1):
            over_rows(
                kernels.spread, edges.nodes, edges.pointers, edges.neighbour, side.weights,
                self._known, width, hop,
            )  # fmt: skip
        over_rows(kernels.make_rows_unit, edges.nodes, self._known)
        # einsum, because its last digits do not depend on the number of threads
        ends = np.einsum("ij,jk->ik", _ends(edges, self._known[:, :width]), by_ends)
        self._mixed = side.agreeing @ by_agreement + ends
        self.dimension = sketch_dimension(width)

    def vectors(self, nodes: npt.NDArray[np.integer]) -> Float32:
        """The vectors of some nodes, `[nodes, dimension]`."""
        edges = self._side.edges
        vectors = np.empty((len(nodes), self.dimension), np.float32)
        over_rows(
            kernels.sketch, len(nodes), nodes.astype(np.int64), edges.pointers, edges.relation,
            edges.neighbour, self._side.weights, self._mixed, self._known, HEAD_WIDTH, REACHED_LENGTH,
            vectors, least=256,
        )  # fmt: skip
        return vectors


class Sketches:
    """Vectors of the entities of two graphs, made from their anchors, sketch by sketch."""

    def __init__(
        self,
        source: Edges,
        target: Edges,
        anchors: Anchors,
        agreement: Similarity,
        *,
        label_width: int = LABEL_WIDTH,
        seed: int = 0,
    ) -> None:
        anchored = np.flatnonzero(anchors.target >= 0)
        agreeing = _agreeing(agreement.to_scipy())
        self.sides = (
            _Side(source, _edge_weights(source), anchored, agreeing[0]),
            _Side(target, _edge_weights(target), anchors.target[anchored], agreeing[1]),
        )
        self.label_width, self.seed = label_width, seed

    def sketch(self, number: int, side: int) -> Sketch:
        """The sketch of this number, of the source (0) or the target graph (1)."""
        random = np.random.default_rng((self.seed, number))
        labels = unit_rows(
            random.standard_normal((len(self.sides[0].labelled), self.label_width), np.float32)
        )
        heads = (HOPS + 1) * self.label_width // HEAD_WIDTH
        by_agreement, by_ends = (
            random.standard_normal((dimensions, heads), np.float32)
            for dimensions in (self.sides[0].agreeing.shape[1], 2 * self.label_width)
        )
        return Sketch(self.sides[side], labels, by_agreement, by_ends)

    def vectors(self, sketches: int, nodes: tuple[Int32, Int32] | None = None) -> tuple[Float32, Float32]:
        """All sketches side by side, rows of length 1: `(source[n_s, d], target[n_t, d])`; of some nodes, or
        of all."""
        if nodes is None:
            nodes = tuple(np.arange(side.edges.nodes, dtype=np.int32) for side in self.sides)  # type: ignore[assignment]
        assert nodes is not None
        width = sketch_dimension(self.label_width)
        made = []
        for side in (0, 1):
            vectors = np.empty((len(nodes[side]), sketches * width), np.float32)
            for number in range(sketches):
                vectors[:, number * width : (number + 1) * width] = self.sketch(number, side).vectors(
                    nodes[side]
                )
            over_rows(kernels.make_rows_unit, len(vectors), vectors)
            made.append(vectors)
        return made[0], made[1]

    def cosines(self, candidates: Similarity, sketches: int) -> Similarity:
        """Scores of candidate pairs by so many sketches; below 0 counts as 0."""
        products = np.zeros(len(candidates), np.float64)
        lengths = [np.zeros(side.edges.nodes, np.float64) for side in self.sides]
        numbers = [(number,) for number in range(sketches)]
        for _, found in run_jobs(_score_by_sketch, numbers, self, candidates, at_once=1):
            products += found["products"]
            lengths[0] += found["source"]
            lengths[1] += found["target"]
        scale = np.sqrt(lengths[0][candidates.rows] * lengths[1][candidates.indices])
        scale *= self._share_kept(candidates)
        cosines = np.clip(np.divide(products, scale, out=np.zeros_like(products), where=scale > 0), 0, 1)
        return Similarity(candidates.shape, candidates.indptr, candidates.indices, cosines.round(5))

    def _share_kept(self, candidates: Similarity) -> Float32:
        """The share of a cosine that is left where labels of different anchors were removed, `[entries]`.

        Without its label, a vector lacks one of `HEAD_WIDTH` dimensions; the ends of an anchor lack the same.
        """
        ours, theirs = (side.labelled for side in self.sides)
        anchor = np.full(self.sides[0].edges.nodes, -1, np.int32)
        anchor[ours] = theirs
        labelled = np.zeros(self.sides[1].edges.nodes, bool)
        labelled[theirs] = True
        rows, columns = candidates.rows, candidates.indices
        removed = (anchor[rows] >= 0).astype(np.int8) + labelled[columns]
        removed[anchor[rows] == columns] = 0
        share: Float32 = np.power(np.float32(1 - 1 / HEAD_WIDTH), removed.astype(np.float32) / 2)
        return share


def _score_by_sketch(number: int, sketches: Sketches, candidates: Similarity) -> Arrays:
    """Inner products of candidate pairs by one sketch, and the squared lengths of all vectors.

    The vectors of all target nodes are held at once; those of source nodes come in blocks.
    """
    rows, columns = candidates.rows, candidates.indices
    target = sketches.sketch(number, 1).vectors(np.arange(sketches.sides[1].edges.nodes))
    products = np.empty(len(rows), np.float32)
    sketch, nodes = sketches.sketch(number, 0), sketches.sides[0].edges.nodes
    lengths = np.empty(nodes, np.float32)
    size = _rows_at_once(sketch.dimension)
    for first in range(0, nodes, size):
        last = min(first + size, nodes)
        source = sketch.vectors(np.arange(first, last))
        lengths[first:last] = np.einsum("ij,ij->i", source, source)
        start, end = candidates.indptr[np.minimum([first, last], candidates.shape[0])].tolist()
        entries = slice(start, end)
        over_rows(
            kernels.dot_products, end - start, source, target, rows[entries] - np.int32(first),
            columns[entries], products[entries],
        )  # fmt: skip
    return {"products": products, "source": lengths, "target": np.einsum("ij,ij->i", target, target)}


def find_candidates(
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    kinds: Arrays,
    per_source: int,
    sketches: int,
    label_width: int,
    seed: int,
) -> Similarity:
    """New candidates of entities that are no anchors yet: those of their kind with the most similar
    surroundings."""
    graphs = GraphPair.of(edges)
    made = _sketches(graphs, anchors, agreement, label_width, seed)
    free = not_in(anchors, graphs.shape)
    pairs: list[tuple[Int32, Int32, Float32]] = []
    for kind in np.intersect1d(kinds["source"], kinds["target"]):
        if kind < 0:
            continue
        sources, targets = (
            np.flatnonzero(side & (kinds[name] == kind)).astype(np.int32)
            for name, side in zip(("source", "target"), free, strict=True)
        )
        ids, cosines = dense_top_k(*made.vectors(sketches, (sources, targets)), 2 * per_source)
        kept = ids >= 0
        pairs.append((np.repeat(sources, kept.sum(axis=1)), targets[ids[kept]], cosines[kept]))
    if not pairs:
        return Similarity.empty(graphs.shape)
    rows, columns, scores = (np.concatenate(column) for column in zip(*pairs, strict=True))
    found = Similarity.from_entries(rows, columns, scores, graphs.shape)
    # matrix products differ in their last digits with the number of threads; these scores do not
    return made.cosines(found, sketches).top_k(per_source)


def surroundings_evidence(
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    candidates: list[Similarity],
    top_k: int,
    sketches: int,
    label_width: int,
    seed: int,
) -> Similarity:
    """How alike the surroundings of candidate pairs are: the cosines of their vectors.

    The candidates are those of all given matrices, the `top_k` of each source with the highest sum.
    """
    graphs = GraphPair.of(edges)
    total = candidates[0]
    for more in candidates[1:]:
        total = total + more
    return _sketches(graphs, anchors, agreement, label_width, seed).cosines(total.top_k(top_k), sketches)


def _sketches(
    graphs: GraphPair, anchors: Links, agreement: Similarity, label_width: int, seed: int
) -> Sketches:
    known = Anchors.of(anchors, *graphs.shape, graphs.values)
    return Sketches(graphs.source, graphs.target, known, agreement, label_width=label_width, seed=seed)


def _rows_at_once(dimension: int) -> int:
    """Source rows whose vectors take a twentieth of the memory limit."""
    return max(1024, current().memory_bytes // 20 // (4 * dimension))


def _edge_weights(edges: Edges) -> Float32:
    degree = np.maximum(np.diff(edges.pointers), 1).astype(np.float32)
    return degree[edges.neighbour] ** np.float32(-HUB_DISCOUNT)


def _ends(edges: Edges, labels: Float32) -> Float32:
    """Relations by the labels of the nodes that have them and of those they lead to, `[relations, 2 d]`."""
    shape = len(edges.inverse_functionality), edges.nodes
    having = sp.csr_array((np.ones_like(edges.relation, np.float32), (edges.relation, edges.node)), shape)
    near = unit_rows(having @ labels)
    return unit_rows(np.concatenate([near, near[np.arange(len(near)) ^ 1]], axis=1))


def _agreeing(agreement: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Vectors whose inner product tells how far two relations agree: a target's relation is itself."""
    squared = np.asarray(agreement.multiply(agreement).sum(axis=1)).ravel()
    scale = np.divide(1, np.sqrt(squared), out=np.zeros_like(squared), where=squared > 0)
    source = sp.csr_array(sp.diags_array(scale.astype(np.float32)) @ agreement)
    return source, sp.csr_array(sp.eye_array(agreement.shape[1], dtype=np.float32))
