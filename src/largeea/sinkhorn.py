"""Sparse Sinkhorn: from scores to the probabilities of a one-to-one matching that may leave entities alone.

Only kept pairs have a share. Every source and every target has, besides its candidates, a bin of its own for
"no counterpart", so that mass without a good place need not go to a bad one.
"""

from __future__ import annotations

import numpy as np

from largeea.compiled import compiled, prange, thread_count
from largeea.graph import Float64, Int32, Int64
from largeea.similarity import Similarity

WORTH_A_THREAD = 2_000_000
"""Entries that keep a thread busy for longer than it takes to wake it."""
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
    rows, columns = similarity.rows, similarity.indices
    order = np.argsort(columns, kind="stable")
    ends = np.searchsorted(columns[order], np.arange(similarity.shape[1] + 1))
    by_source, by_target = (similarity.indptr, columns, odds), (ends, rows[order], odds[order])
    source, target = np.ones(similarity.shape[0]), np.ones(similarity.shape[1])
    threads = min(thread_count(), 1 + len(odds) // WORTH_A_THREAD)
    for _ in range(rounds):
        _balance(*by_source, target, source, threads)
        _balance(*by_target, source, target, threads)
    _balance(*by_source, target, source, threads)
    shares = np.minimum(odds * source[rows] * target[columns], 1).astype(np.float32)
    return Similarity(similarity.shape, similarity.indptr, columns, shares)


def _balance(
    pointers: Int64, others: Int32, odds: Float64, fixed: Float64, scaled: Float64, threads: int
) -> None:
    """Scale every row (in place) so that its entries and its bin, which weighs 1, sum to one."""
    if threads == 1:
        _balance_rows(pointers, others, odds, fixed, scaled, 0, len(scaled))
    else:
        _balance_parts(pointers, others, odds, fixed, scaled, threads)


@compiled()
def _balance_rows(
    pointers: Int64, others: Int32, odds: Float64, fixed: Float64, scaled: Float64, first: int, last: int
) -> None:
    for row in range(first, last):
        total = 1.0
        for entry in range(pointers[row], pointers[row + 1]):
            total += odds[entry] * fixed[others[entry]]
        scaled[row] = 1 / total


@compiled(parallel=True)
def _balance_parts(
    pointers: Int64, others: Int32, odds: Float64, fixed: Float64, scaled: Float64, parts: int
) -> None:
    rows = len(scaled)
    for part in prange(parts):
        first, last = rows * part // parts, rows * (part + 1) // parts
        _balance_rows(pointers, others, odds, fixed, scaled, first, last)
