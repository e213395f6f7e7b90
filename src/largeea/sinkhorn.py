"""Sparse Sinkhorn: from scores to the probabilities of a one-to-one matching that may leave entities alone.

Only kept pairs have a share. Every source and every target has, besides its candidates, a bin of its own for
"no counterpart", so that mass without a good place need not go to a bad one.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from largeea.graph import Int32, Int64
from largeea.similarity import Similarity

Float64 = npt.NDArray[np.float64]
_RANGE = 60.0
"""Log-odds beyond which a pair is as good as certain (or impossible); keeps `exp` finite."""


def sinkhorn(similarity: Similarity, temperature: float, even: float, rounds: int = 50) -> Similarity:
    """Probabilities of the kept pairs, `[sources, targets]`: rows and columns sum to one with their bins.

    `temperature` is the difference of scores that changes the odds by a factor e. A pair with no competitor
    is as likely as not to be left alone when its score is about `even`.
    """
    if not len(similarity):
        return Similarity.empty(similarity.shape)
    odds = np.exp(np.clip((similarity.scores.astype(np.float64) - even) / temperature, -_RANGE, _RANGE))
    rows = similarity.rows
    by_target = np.lexsort((rows, similarity.indices))
    ends = np.searchsorted(similarity.indices[by_target], np.arange(similarity.shape[1] + 1))
    source, target = np.ones(similarity.shape[0]), np.ones(similarity.shape[1])
    for _ in range(rounds):
        _balance(similarity.indptr, similarity.indices, odds, target, source)
        _balance(ends, rows[by_target], odds[by_target], source, target)
    _balance(similarity.indptr, similarity.indices, odds, target, source)
    shares = np.minimum(odds * source[rows] * target[similarity.indices], 1).astype(np.float32)
    return Similarity(similarity.shape, similarity.indptr, similarity.indices, shares)


@numba.njit(cache=True, parallel=True)
def _balance(pointers: Int64, others: Int32, odds: Float64, fixed: Float64, scaled: Float64) -> None:
    """Scale every row (in place) so that its entries and its bin, which weighs 1, sum to one."""
    for row in numba.prange(len(pointers) - 1):
        total = 1.0
        for entry in range(pointers[row], pointers[row + 1]):
            total += odds[entry] * fixed[others[entry]]
        scaled[row] = 1 / total
