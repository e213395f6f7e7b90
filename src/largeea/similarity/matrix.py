"""`Similarity`: the matrix type of M_s, M_se, M_st, M_n and M. Sparse, float32, and *absent means worst*.

Every matrix has a `floor`: the score of its absent entries, never above any kept score. The algebra is that
of the dense matrix filled with the floor, so an absent entry never outranks a kept one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from largeea.execution.jobs import over_rows
from largeea.graph import Bool, Float32, Int8, Int32, Int64, Links, check_ids, frozen
from largeea.similarity import columns as by_column
from largeea.similarity import entry_kernels as loops
from largeea.similarity import kernels, sum_kernels
from largeea.similarity.arrays import closed_up, new_entries, row_pointers


@dataclass(frozen=True, eq=False)
class Similarity:
    """Scores of candidate pairs, `[sources, targets]`, in CSR form with ascending targets in each row."""

    shape: tuple[int, int]
    indptr: Int64
    indices: Int32
    scores: Float32
    floor: float = 0.0

    def __post_init__(self) -> None:
        for name, dtype in (("indptr", np.int64), ("indices", np.int32), ("scores", np.float32)):
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        object.__setattr__(self, "shape", (int(self.shape[0]), int(self.shape[1])))
        object.__setattr__(self, "floor", float(np.float32(self.floor)))
        if len(self.indices) != len(self.scores):
            raise ValueError(f"{len(self.indices)} targets but {len(self.scores)} scores")
        steps = np.diff(self.indptr, prepend=0, append=len(self.indices))
        if len(steps) != self.shape[0] + 2 or steps[0] or steps[-1] or steps.min() < 0:
            raise ValueError(f"row pointers do not fit a matrix of shape {self.shape}")
        ascending, above_floor, finite = self._checked()
        if not ascending:
            raise ValueError(f"targets of a row must ascend from 0 and stay below {self.shape[1]}")
        if not (np.isfinite(self.floor) and above_floor):
            lowest = _lowest(self.scores)
            raise ValueError(f"score {lowest} is below the floor {self.floor} or is not a number")
        if not finite:
            raise ValueError("a score is infinite")

    def _checked(self) -> list[bool]:
        """Whether targets ascend, no score is below the floor, and all are finite: in one pass."""
        found: list[tuple[bool, bool, bool]] = []

        def check(first: int, last: int) -> None:
            found.append(loops.check_rows(first, last, *self._csr, self.shape[1], np.float32(self.floor)))

        over_rows(check, self.shape[0])
        return [all(column) for column in zip(*found, strict=True)]

    # Conversion

    @classmethod
    def from_entries(
        cls,
        rows: npt.ArrayLike,
        columns: npt.ArrayLike,
        scores: npt.ArrayLike,
        shape: tuple[int, int],
        floor: float | None = None,
    ) -> Similarity:
        """Build from coordinates in any order; equal coordinates keep the highest score.

        If `floor` is None, the floor is the minimum of 0 and all scores.
        """
        rows, columns = np.asarray(rows, np.int64), np.asarray(columns, np.int64)
        scores = np.asarray(scores, np.float32)
        check_ids("source", rows, shape[0])
        check_ids("target", columns, shape[1])
        if floor is None:
            floor = min(0.0, float(scores.min(initial=0)))
        indptr = row_pointers(np.bincount(rows, minlength=shape[0]))
        indices, grouped = new_entries(indptr)
        loops.group_by_row(rows, columns, scores, indptr, indices, grouped)
        counts = np.empty(shape[0], np.int64)
        over_rows(loops.sort_rows, shape[0], indptr, indices, grouped, counts)
        return cls(shape, *closed_up(indptr[:-1], counts, indices, grouped), floor)

    @classmethod
    def from_top_k(
        cls, ids: npt.NDArray[Any], scores: npt.NDArray[Any], targets: int, floor: float | None = None
    ) -> Similarity:
        """Build from a top-k search: `ids[n, k]`, distinct in a row, padded with -1, and `scores[n, k]`."""
        ids, scores = ids.astype(np.int32, copy=False), scores.astype(np.float32, copy=False)
        counts = np.empty(len(ids), np.int64)
        over_rows(loops.count_candidates, len(ids), ids, counts)
        indptr = row_pointers(counts)
        indices, kept = new_entries(indptr)
        bits = np.ascontiguousarray(scores).view(np.uint32), kept.view(np.uint32)
        over_rows(loops.rows_by_id, len(ids), ids, bits[0], indptr, indices, bits[1])
        if floor is None:
            floor = min(0.0, float(kept.min(initial=0.0)))
        return cls((len(ids), targets), indptr, indices, kept, floor)

    @classmethod
    def from_scipy(cls, matrix: Any, floor: float = 0.0) -> Similarity:
        """Build from the stored entries of a scipy sparse matrix."""
        matrix = sp.csr_array(matrix)
        matrix = matrix if matrix.has_sorted_indices else matrix.sorted_indices()
        return cls(matrix.shape, matrix.indptr, matrix.indices, matrix.data, floor)

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> Similarity:
        """Return a matrix without entries."""
        return cls(shape, np.zeros(shape[0] + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.float32))

    def to_scipy(self) -> sp.csr_array:
        """Return the kept entries as a scipy CSR array, explicit zeros included."""
        return sp.csr_array((self.scores, self.indices, self.indptr), shape=self.shape)

    def to_dense(self) -> Float32:
        """Return the dense matrix, float32, with the floor for absent entries; for small matrices."""
        dense = np.full(self.shape, self.floor, np.float32)
        dense[self.rows, self.indices] = self.scores
        return dense

    # Access

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"Similarity({self.shape[0]:,} x {self.shape[1]:,}, {len(self):,} scores)"

    @property
    def rows(self) -> Int32:
        """Source id of every kept entry, `[entries]`."""
        rows = np.empty(len(self), np.int32)
        self._over_rows(loops.fill_rows, self.indptr, rows)
        return rows

    def row(self, source: int) -> tuple[Int32, Float32]:
        """Return the candidate ids and scores of one source, best first, ties by id."""
        span = slice(self.indptr[source], self.indptr[source + 1])
        order = np.lexsort((self.indices[span], -self.scores[span]))
        return self.indices[span][order], self.scores[span][order]

    def score_of(self, links: Links) -> Float32:
        """Return the scores of given pairs, `[n]`; the floor for absent entries."""
        found = np.empty(len(links), np.float32)
        ends = np.ascontiguousarray(links.source), np.ascontiguousarray(links.target)
        over_rows(loops.look_up_pairs, len(links), *self._csr, np.float32(self.floor), *ends, found)
        return found

    def scores_on(self, pattern: Similarity) -> Float32:
        """Return the scores of the pairs that `pattern` keeps, `[its entries]`; the floor where absent."""
        scores = np.empty(len(pattern), np.float32)
        wanted = pattern.indptr, pattern.indices
        self._over_rows(loops.look_up_rows, *self._csr, np.float32(self.floor), *wanted, scores)
        return scores

    def block(self, first: int, last: int) -> Similarity:
        """Return the rows `first:last` as a matrix of their own, without a copy."""
        entries = slice(self.indptr[first], self.indptr[last])
        pointers = self.indptr[first : last + 1] - self.indptr[first]
        shape = last - first, self.shape[1]
        return Similarity(shape, pointers, self.indices[entries], self.scores[entries], self.floor)

    def best(self) -> tuple[Int32, Float32]:
        """Return the best target of each source (-1 if none) and its score; ties go to the smaller id."""
        ids, scores = self.top_k_arrays(1)
        return ids[:, 0], scores[:, 0]

    def margins(self) -> Float32:
        """Return the best minus the second-best score of each source, `[sources]`.

        The floor stands in for a missing candidate.
        """
        margins = np.empty(self.shape[0], np.float32)
        self._over_rows(kernels.fill_margins, self.indptr, self.scores, np.float32(self.floor), margins)
        return margins

    def top_k_arrays(self, k: int) -> tuple[Int32, Float32]:
        """Return `ids[sources, k]` and `scores[sources, k]`, best first, ties by id.

        Rows with fewer than k entries are padded with the id -1 and the floor.
        """
        ids = np.full((self.shape[0], k), -1, np.int32)
        scores = np.full((self.shape[0], k), self.floor, np.float32)
        self._over_rows(kernels.fill_best_first, *self._csr, ids, scores)
        return ids, scores

    def mutual_best(self) -> Links:
        """Return the pairs that are each other's best, weighted by score; they are always one-to-one."""
        best = np.empty(self.shape[0], np.int64)
        self._over_rows(kernels.fill_best_entries, self.indptr, self.scores, best)
        suitor, highest = np.empty(self.shape[1], np.int32), np.empty(self.shape[1], np.float32)
        kernels.best_suitors(self.indices, self.scores, best, suitor, highest)
        outranked = suitor < 0
        self._over_rows(kernels.mark_outranked, *self._csr, suitor, highest, outranked)
        sources = np.sort(suitor[~outranked])
        chosen = best[sources]
        return Links(np.column_stack([sources, self.indices[chosen]]), self.scores[chosen])

    # Algebra

    def __add__(self, other: Similarity) -> Similarity:
        """Add over the union of entries; where one matrix lacks an entry, its floor is added."""
        if self.shape != other.shape:
            raise ValueError(f"cannot add similarities of shapes {self.shape} and {other.shape}")
        floors = np.float32(self.floor), np.float32(other.floor)
        counts = np.empty(self.shape[0], np.int64)
        self._over_rows(sum_kernels.count_union, *self._csr[:2], *other._csr[:2], counts)
        indptr = row_pointers(counts)
        indices, scores = new_entries(indptr)
        both = *self._csr, floors[0], *other._csr, floors[1]
        self._over_rows(sum_kernels.add_rows, *both, indptr, indices, scores)
        return Similarity(self.shape, indptr, indices, scores, float(floors[0] + floors[1]))

    def scale(self, factor: float) -> Similarity:
        """Multiply every score and the floor by a positive factor."""
        by = np.float32(factor)
        if not 0 < by < np.inf:
            raise ValueError(f"a similarity can only be scaled by a positive factor, not {factor}")
        floor = float(np.float32(self.floor) * by)
        return Similarity(self.shape, self.indptr, self.indices, self.scores * by, floor)

    def transpose(self) -> Similarity:
        """Return the transposed matrix, `[targets, sources]`."""
        flipped = by_column.transposed(*self._csr, self.shape[1])
        return Similarity((self.shape[1], self.shape[0]), *flipped, self.floor)

    def top_k(self, k: int) -> Similarity:
        """Keep the k best entries of each source; ties go to the smaller id."""
        return self._keep(np.minimum(np.diff(self.indptr), k), kernels.copy_best)

    def restrict(self, sources: Bool | None = None, targets: Bool | None = None) -> Similarity:
        """Keep the entries whose source and target are in the given masks; the shape does not change."""
        kinds = [
            np.zeros(size, np.int8) if mask is None else np.where(mask, np.int8(0), other)
            for mask, size, other in zip(
                (sources, targets), self.shape, (loops.NOWHERE, np.int8(1)), strict=True
            )
        ]
        return self.of_equal_kind(*kinds)

    def of_equal_kind(self, sources: Int8, targets: Int8) -> Similarity:
        """Keep the pairs whose ends have the same kind, given the kinds `[sources]` and `[targets]`."""
        counts = np.empty(self.shape[0], np.int64)
        self._over_rows(loops.count_equal, *self._csr[:2], sources, targets, counts)
        return self._keep(counts, loops.copy_equal, sources, targets)

    def keep(self, mask: Bool) -> Similarity:
        """Keep the entries in a mask, `[entries]`."""
        counts = np.empty(self.shape[0], np.int64)
        self._over_rows(loops.count_marked, self.indptr, mask, counts)
        return self._keep(counts, loops.copy_marked, mask)

    def take(self, sources: Int32) -> Similarity:
        """Return the rows of some sources, in their order, `[len(sources), targets]`."""
        counts = np.diff(self.indptr)[sources]
        taken = closed_up(self.indptr[sources], counts, self.indices, self.scores)
        return Similarity((len(sources), self.shape[1]), *taken, self.floor)

    def csls(self, k: int = 10) -> Similarity:
        """Apply CSLS: `2 m(s,t) - r(s) - r(t)`, where r is the mean of an entity's k best scores.

        Cross-domain similarity local scaling lowers the scores of hubs, which are similar to many entities.
        The new floor is not above any kept score.
        """
        if k < 1:
            raise ValueError(f"local scaling looks at one neighbour at least, not {k}")
        by_source = self._mean_of_best(k)
        by_target = (
            by_column.highest_of_columns(*self._csr, self.shape[1], self.floor)
            if k == 1
            else self.transpose()._mean_of_best(k)
        )
        scores = np.empty(len(self), np.float32)
        self._over_rows(loops.scale_locally, *self._csr, by_source, by_target, scores)
        floor = 2 * self.floor - by_source.max(initial=self.floor) - by_target.max(initial=self.floor)
        return Similarity(self.shape, self.indptr, self.indices, scores, min(float(floor), _lowest(scores)))

    def _mean_of_best(self, k: int) -> Float32:
        _, scores = self.top_k_arrays(max(1, min(k, self.shape[1])))
        return np.asarray(scores.mean(axis=1), np.float32)

    @property
    def _csr(self) -> tuple[Int64, Int32, Float32]:
        return self.indptr, self.indices, self.scores

    def _over_rows(self, kernel: Callable[..., None], *arguments: Any) -> None:
        over_rows(kernel, self.shape[0], *arguments)

    def _keep(self, counts: Int64, copy: Callable[..., None], *chosen: Any) -> Similarity:
        """The matrix with so many entries of each row, which `copy` writes; itself if that is all."""
        indptr = row_pointers(counts)
        if indptr[-1] == len(self):
            return self
        indices, scores = new_entries(indptr)
        self._over_rows(copy, *self._csr, *chosen, indptr, indices, scores)
        return Similarity(self.shape, indptr, indices, scores, self.floor)


def _lowest(scores: Float32) -> float:
    return float(scores.min()) if len(scores) else np.inf
