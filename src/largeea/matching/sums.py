"""Weighted sums of sparse matrices, with the best of each row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.similarity import Similarity, kernels


def top_k_of_sum(
    matrices: Sequence[Similarity], k: int, weights: Sequence[float] | None = None
) -> Similarity:
    """Return the k best entries of each source in the weighted sum of some matrices; ties go to smaller ids.

    The same as adding, scaling and `Similarity.top_k`, in one pass over the rows and on all threads.
    """
    shape = matrices[0].shape
    factors = np.ones(len(matrices), np.float32) if weights is None else np.array(weights, np.float32)
    floors = np.array([one.floor for one in matrices], np.float32) * factors
    ids, best = np.empty((shape[0], k), np.int32), np.empty((shape[0], k), np.float32)
    counts = np.zeros(shape[0], np.int64)
    columns = (tuple(getattr(one, name) for one in matrices) for name in ("indptr", "indices", "scores"))
    over_rows(kernels.best_of_sums, shape[0], *columns, factors, floors, ids, best, counts)
    pointers = np.concatenate([[0], np.cumsum(counts)])
    indices, scores = np.empty(pointers[-1], np.int32), np.empty(pointers[-1], np.float32)
    over_rows(kernels.join_rows, shape[0], ids, best, pointers, indices, scores)
    floor = np.float32(0)
    for one in floors:
        floor += one
    return Similarity(shape, pointers, indices, scores, float(floor))
