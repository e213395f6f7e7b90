"""`Similarity`: the matrix type of M_s, M_se, M_st, M_n and M. Sparse, float32, and *absent means worst*.

Every matrix has a `floor`: the score of its absent entries, never above any kept score. The algebra is that
of the dense matrix filled with the floor, so an absent entry never outranks a kept one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from largeea.graph import Bool, Float32, Int8, Int32, Int64, Links, check_ids, frozen
from largeea.similarity import kernels


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
        if not _ascending(self.indptr, self.indices, self.shape[1]):
            raise ValueError(f"targets of a row must ascend from 0 and stay below {self.shape[1]}")
        if not (np.isfinite(self.floor) and self.floor <= _lowest(self.scores)):
            raise ValueError(f"score {_lowest(self.scores)} is below the floor {self.floor} or is no number")
        if len(self) and not np.isfinite(self.scores.max()):
            raise ValueError("a score is infinite")

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
        rows = np.asarray(rows, np.int64)
        columns = np.asarray(columns, np.int64)
        scores = np.asarray(scores, np.float32)
        check_ids("target", columns, shape[1])
        if floor is None:
            floor = min(0.0, float(scores.min())) if len(scores) else 0.0
        position = rows * shape[1] + columns
        order = np.lexsort((-scores, position))
        position = position[order]
        order = order[np.append(True, position[1:] != position[:-1])] if len(order) else order
        return cls(shape, _row_pointers(rows[order], shape[0]), columns[order], scores[order], floor)

    @classmethod
    def from_top_k(
        cls, ids: npt.NDArray[Any], scores: npt.NDArray[Any], targets: int, floor: float | None = None
    ) -> Similarity:
        """Build from a top-k search: `ids[n, k]`, distinct in a row, padded with -1, and `scores[n, k]`."""
        indptr = np.concatenate([[0], np.cumsum((ids >= 0).sum(axis=1))])
        indices, kept = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
        kernels.rows_by_id(
            ids.astype(np.int32, copy=False), scores.astype(np.float32, copy=False), indptr, indices, kept
        )
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
        return np.repeat(np.arange(self.shape[0], dtype=np.int32), np.diff(self.indptr))

    def row(self, source: int) -> tuple[Int32, Float32]:
        """Return the candidate ids and scores of one source, best first, ties by id."""
        span = slice(self.indptr[source], self.indptr[source + 1])
        order = np.lexsort((self.indices[span], -self.scores[span]))
        return self.indices[span][order], self.scores[span][order]

    def score_of(self, links: Links) -> Float32:
        """Return the scores of given pairs, `[n]`; the floor for absent entries."""
        found = np.empty(len(links), np.float32)
        kernels.look_up_pairs(
            self.indptr, self.indices, self.scores, np.float32(self.floor), links.source, links.target, found
        )
        return found

    def scores_on(self, pattern: Similarity) -> Float32:
        """Return the scores of the pairs that `pattern` keeps, `[its entries]`; the floor where absent."""
        scores = np.empty(len(pattern), np.float32)
        kernels.look_up_rows(
            self.indptr, self.indices, self.scores, np.float32(self.floor),
            pattern.indptr, pattern.indices, scores,
        )  # fmt: skip
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
        kernels.fill_margins(self.indptr, self.scores, np.float32(self.floor), margins)
        return margins

    def top_k_arrays(self, k: int) -> tuple[Int32, Float32]:
        """Return `ids[sources, k]` and `scores[sources, k]`, best first, ties by id.

        Rows with fewer than k entries are padded with the id -1 and the floor.
        """
        ids = np.full((self.shape[0], k), -1, np.int32)
        scores = np.full((self.shape[0], k), self.floor, np.float32)
        kernels.fill_best_first(self.indptr, self.indices, self.scores, ids, scores)
        return ids, scores

    def mutual_best(self) -> Links:
        """Return the pairs that are each other's best, weighted by score; they are always one-to-one."""
        of_source, of_target = (np.empty(size, np.int64) for size in self.shape)
        kernels.best_both_ways(self.indptr, self.indices, self.scores, of_source, of_target)
        rows = np.flatnonzero(of_source >= 0)
        best = of_source[rows]
        mutual = of_target[self.indices[best]] == best
        pairs = np.column_stack([rows[mutual], self.indices[best[mutual]]])
        return Links(pairs, self.scores[best[mutual]])

    # Algebra

    def __add__(self, other: Similarity) -> Similarity:
        """Add over the union of entries; where one matrix lacks an entry, its floor is added."""
        if self.shape != other.shape:
            raise ValueError(f"cannot add similarities of shapes {self.shape} and {other.shape}")
        floors = np.float32(self.floor), np.float32(other.floor)
        ours, theirs = ((m.indptr, m.indices, m.scores) for m in (self, other))
        indptr, indices, scores = kernels.add_rows(*ours, floors[0], *theirs, floors[1])
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
        flipped: Any = self.to_scipy().T.tocsr()
        flipped.sort_indices()
        shape = (self.shape[1], self.shape[0])
        return Similarity(shape, flipped.indptr, flipped.indices, flipped.data, self.floor)

    def top_k(self, k: int) -> Similarity:
        """Keep the k best entries of each source; ties go to the smaller id."""
        return self._keep(kernels.among_best(self.indptr, self.scores, k))

    def restrict(self, sources: Bool | None = None, targets: Bool | None = None) -> Similarity:
        """Keep the entries whose source and target are in the given masks; the shape does not change."""
        masks = [
            np.ones(size, bool) if mask is None else mask
            for mask, size in zip((sources, targets), self.shape, strict=True)
        ]
        indptr = np.empty(self.shape[0] + 1, np.int64)
        kernels.count_kept(self.indptr, self.indices, *masks, indptr)
        ids, scores = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
        kernels.copy_kept(self.indptr, self.indices, self.scores, *masks, ids, scores)
        return Similarity(self.shape, indptr, ids, scores, self.floor)

    def of_equal_kind(self, sources: Int8, targets: Int8) -> Similarity:
        """Keep the pairs whose ends have the same kind, given the kinds `[sources]` and `[targets]`."""
        return self._keep(sources[self.rows] == targets[self.indices])

    def csls(self, k: int = 10) -> Similarity:
        """Apply CSLS: `2 m(s,t) - r(s) - r(t)`, where r is the mean of an entity's k best scores.

        Cross-domain similarity local scaling lowers the scores of hubs, which are similar to many entities.
        The new floor is not above any kept score.
        """
        if k < 1:
            raise ValueError(f"local scaling looks at one neighbour at least, not {k}")
        by_source = self._mean_of_best(k)
        by_target = self.transpose()._mean_of_best(k)
        scores = 2 * self.scores - by_source[self.rows] - by_target[self.indices]
        floor = 2 * self.floor - by_source.max(initial=self.floor) - by_target.max(initial=self.floor)
        return Similarity(self.shape, self.indptr, self.indices, scores, min(float(floor), _lowest(scores)))

    def _mean_of_best(self, k: int) -> Float32:
        _, scores = self.top_k_arrays(max(1, min(k, self.shape[1])))
        return np.asarray(scores.mean(axis=1), np.float32)

    def _keep(self, mask: Bool) -> Similarity:
        indptr = _row_pointers(self.rows[mask], self.shape[0])
        return Similarity(self.shape, indptr, self.indices[mask], self.scores[mask], self.floor)


def _row_pointers(rows: npt.NDArray[Any], count: int) -> Int64:
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])


def _lowest(scores: Float32) -> float:
    return float(scores.min()) if len(scores) else np.inf


def _ascending(indptr: Int64, indices: Int32, targets: int) -> bool:
    """Return whether the targets of each row strictly ascend and are in [0, targets)."""
    if not len(indices):
        return True
    rises = np.ones(len(indices), bool)
    np.greater(indices[1:], indices[:-1], out=rises[1:])
    rises[indptr[:-1][np.diff(indptr) > 0]] = True
    return bool(rises.all() and indices.min() >= 0 and indices.max() < targets)
