"""Weighted sums of sparse matrices, with the best of each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.graph import Bool
from largeea.similarity import Similarity
from largeea.similarity.arrays import closed_up
from largeea.similarity.sum_kernels import best_of_sums

Masks = tuple[Bool, Bool]
"""The sources and targets that count, `[sources]` and `[targets]`."""


def top_k_of_sum(
    matrices: Sequence[Similarity],
    k: int,
    weights: Sequence[float] | None = None,
    factor: float = 1.0,
    masks: Masks | None = None,
) -> Similarity:
    """Return the k best entries of each source in `factor` times the weighted sum of some matrices.

    The same as restricting the matrices to the masks, scaling, adding, and `Similarity.top_k`, in one pass
    over the rows and on all threads; ties go to smaller ids. A GPU would not be faster: sending it the
    matrices takes as long.
    """
    shape = matrices[0].shape
    by = np.ones(len(matrices), np.float32) if weights is None else np.array(weights, np.float32)
    floors = np.array([one.floor for one in matrices], np.float32) * by
    ids, best = np.empty((shape[0], k), np.int32), np.empty((shape[0], k), np.float32)
    counts = np.zeros(shape[0], np.int64)
    columns = (tuple(getattr(one, name) for one in matrices) for name in ("indptr", "indices", "scores"))
    chosen = masks or (np.empty(0, bool), np.empty(0, bool))
    over_rows(best_of_sums, shape[0], *columns, by, floors, np.float32(factor), *chosen, ids, best, counts)
    floor = np.float32(0)
    for one in floors:
        floor += one
    starts = np.arange(shape[0], dtype=np.int64) * k
    packed = closed_up(starts, counts, ids.ravel(), best.ravel())
    return Similarity(shape, *packed, float(floor * np.float32(factor)))
