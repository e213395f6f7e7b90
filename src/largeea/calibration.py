"""Confidence that means what it says: some seeds are kept from the method to see how often it is right."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from largeea.graph import Float64, Links
from largeea.randomness import generator
from largeea.similarity import Similarity

FEWEST = 100
"""Fewer seeds are all needed to learn from."""
SHARE, MOST = 0.2, 150
"""Of the seeds, the share that is kept back, and how many at most."""
_START = 8.0, -4.0
"""The curve that is nearest to leaving probabilities as they are; the fewer seeds, the more it counts."""
_DOUBT = 0.1


def hold_out(seeds: Links, seed: int) -> tuple[Links, Links]:
    """Seeds to learn from, and seeds to check with: none of the latter where there are few."""
    if len(seeds) < FEWEST:
        return seeds, seeds.take(np.zeros(len(seeds), bool))
    order = generator(seed, "calibration").permutation(len(seeds))
    checked = np.zeros(len(seeds), bool)
    checked[order[: min(round(SHARE * len(seeds)), MOST)]] = True
    return seeds.take(~checked), seeds.take(checked)


def calibrated(likelihood: Similarity, check: Links) -> Similarity:
    """Likelihoods bent so that they agree with how often pairs with an end that was kept back are right.

    `logit q = a p + b` with a > 0, so no order changes (Platt scaling).
    """
    found = likelihood.mutual_best()
    judged = found.take(np.isin(found.source, check.source) | np.isin(found.target, check.target))
    if not len(judged):
        return likelihood
    assert judged.weight is not None
    counterpart = np.full(likelihood.shape[0], -1)
    counterpart[check.source] = check.target
    right = counterpart[judged.source] == judged.target
    a, b = _fit(judged.weight.astype(np.float64), right.astype(np.float64))
    scores = _chance(a * likelihood.scores + b)
    return Similarity(likelihood.shape, likelihood.indptr, likelihood.indices, scores.astype(np.float32))


def _chance(log_odds: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    return (1 + np.tanh(log_odds / 2)) / 2


def _fit(chance: Float64, right: Float64) -> tuple[float, float]:
    """Slope and shift of the likeliest logistic curve."""
    from scipy.optimize import minimize  # takes a quarter of a second, and most runs have no seeds

    start = np.array(_START)

    def surprise(curve: Float64) -> tuple[float, Float64]:
        odds = curve[0] * chance + curve[1]
        missed = _chance(odds) - right
        drift = curve - start
        cost = np.sum(np.logaddexp(0, odds) - right * odds) + _DOUBT / 2 * drift @ drift
        return float(cost), np.array([missed @ chance, missed.sum()]) + _DOUBT * drift

    found = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=[(0.1, None), (None, None)])
    return float(found.x[0]), float(found.x[1])
