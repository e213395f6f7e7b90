"""Candidate pairs, and what sketches say of them, on the CPU. On a GPU, `cuda_pairs.py` does the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from largeea.evidence import pair_kernels
from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32, Int64
from largeea.similarity import Similarity
from largeea.similarity.arrays import taken
from largeea.similarity.local_order import local_order_of_rows


@dataclass(frozen=True, eq=False)
class Pairs:
    """Candidate pairs in CSR form, with the sums over all sketches so far."""

    sources: Int32
    """The node of each row, `[rows]`."""
    indptr: Int64
    """The pairs of row i are `indptr[i] : indptr[i + 1]`."""
    indices: Int32
    """The target of each pair, ascending in a row, `[pairs]`."""
    products: Float32
    """Inner products of their vectors, `[pairs]`."""

    @classmethod
    def of(cls, candidates: Similarity) -> Pairs:
        """The pairs of a matrix; sources without any have no row."""
        filled = np.flatnonzero(np.diff(candidates.indptr))
        indptr = np.append(candidates.indptr[filled], candidates.indptr[-1])
        products = np.zeros(len(candidates), np.float32)
        return cls(filled.astype(np.int32), indptr, candidates.indices, products)

    @classmethod
    def of_top_k(
        cls,
        nodes: tuple[Int32, Int32],
        ids: Int32,
        cosines: Float32,
        squares: tuple[Float32, Float32],
    ) -> Pairs:
        """What a search among nodes found: the places of targets `ids[sources, k]`, padded with -1.

        `squares` are the squared lengths of the vectors of the nodes.
        """
        indptr = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(np.count_nonzero(ids >= 0, axis=1), out=indptr[1:])
        indices, products = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
        lengths = (np.sqrt(square) for square in squares)
        over_rows(
            pair_kernels.found_pairs, len(ids), ids, cosines, nodes[1], *lengths, indptr, indices, products
        )
        return cls(nodes[0], indptr, indices, products)

    @cached_property
    def targets(self) -> Int32:
        """The targets that are in some pair, ascending."""
        among = np.zeros(self.indices.max(initial=-1) + 1, bool)

        def mark(first: int, last: int) -> None:
            among[self.indices[first:last]] = True

        over_rows(mark, len(self.indices))
        return np.flatnonzero(among).astype(np.int32)

    @cached_property
    def places(self) -> Int32:
        """The place of the target of each pair in `targets`, `[pairs]`."""
        place_of = np.zeros(self.targets.max(initial=-1) + 1, np.int32)
        place_of[self.targets] = np.arange(len(self.targets), dtype=np.int32)
        return taken(place_of, self.indices)

    @cached_property
    def order(self) -> Int32:
        """The rows in an order in which those that share targets are close, `[rows]`."""
        return local_order_of_rows(self.indptr, self.indices)

    def order_of(self, first: int, last: int) -> Int32:
        """The rows `first:last` in that order, counted from `first`."""
        return self.order[(first <= self.order) & (self.order < last)] - np.int32(first)

    def for_jobs(self) -> Pairs:
        """What jobs need: targets by their places alone, and no products."""
        bare = Pairs(self.sources, self.indptr, np.empty(0, np.int32), np.empty(0, np.float32))
        bare.__dict__.update(targets=self.targets, places=self.places, order=self.order)
        return bare

    def best(self, scores: Float32, count: int) -> tuple[Pairs, Int64]:
        """The best so many pairs of each row by some scores, and their positions; ties go to smaller ids."""
        rows = len(self.sources)
        chosen = np.zeros(rows + 1, np.int64)
        np.cumsum(np.minimum(np.diff(self.indptr), count), out=chosen[1:])
        positions = np.empty(chosen[-1], np.int64)
        over_rows(pair_kernels.choose_best, rows, self.indptr, scores, chosen, positions)
        indices, products = taken(self.indices, positions), taken(self.products, positions)
        return Pairs(self.sources, chosen, indices, products), positions

    def top_k(self, scores: Float32, k: int) -> tuple[Int32, Float32]:
        """The k best of each row by some scores: `(targets[rows, k], scores[rows, k])`, ascending by target,
        padded with -1 and 0."""
        fewer, positions = self.best(scores, k)
        ids, best = (
            np.full((len(self.sources), k), -1, np.int32),
            np.zeros((len(self.sources), k), np.float32),
        )
        inside = np.arange(k) < np.diff(fewer.indptr)[:, None]
        ids[inside], best[inside] = fewer.indices, scores[positions]
        return ids, best
