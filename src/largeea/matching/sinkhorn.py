"""Sparse Sinkhorn iterations: from scores to the probabilities of a partial one-to-one matching.

Only kept pairs have a probability. Every source and every target also has a "no counterpart" bin, which takes
the probability of entities without a good candidate.
"""

from __future__ import annotations

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.graph import Float64, Int32, Int64
from largeea.matching import kernels
from largeea.similarity import Similarity

MIN_ENTRIES_FOR_THREADS = 2_000_000
"""With fewer entries, one thread is faster than starting several."""
_MAX_LOG_ODDS = 250.0
"""Log-odds are clipped to this absolute value, so that `exp` stays finite."""


def sinkhorn(
    similarity: Similarity, temperature: float, no_match_score: float, iterations: int = 50
) -> Similarity:
    """Return the probabilities of the kept pairs, `[sources, targets]`; rows and columns plus bins sum to 1.

    `temperature` is the score difference that changes the odds by a factor e. A pair without competitors has
    probability 0.5 when its score is about `no_match_score`.
    """
    if not len(similarity):
        return Similarity.empty(similarity.shape)
    log_odds = (similarity.scores.astype(np.float64) - no_match_score) / temperature
    odds = np.exp(np.clip(log_odds, -_MAX_LOG_ODDS, _MAX_LOG_ODDS))
    rows, columns = similarity.rows, similarity.indices
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(similarity.shape[1] + 1))
    by_source, by_target = (similarity.indptr, columns, odds), (ends, rows[order], odds[order])
    source, target = np.ones(similarity.shape[0]), np.ones(similarity.shape[1])
    for _ in range(iterations):
        _normalise(*by_source, target, source)
        _normalise(*by_target, source, target)
    _normalise(*by_source, target, source)
    probabilities = np.minimum(odds * source[rows] * target[columns], 1).astype(np.float32)
    return Similarity(similarity.shape, similarity.indptr, columns, probabilities)


def _normalise(pointers: Int64, others: Int32, odds: Float64, fixed: Float64, scale: Float64) -> None:
    """Write to `scale` the factor of every row that makes its entries and its bin sum to 1."""
    least = 2048 if len(odds) >= MIN_ENTRIES_FOR_THREADS else len(scale)
    over_rows(kernels.normalise_rows, len(scale), pointers, others, odds, fixed, scale, least=max(least, 1))
