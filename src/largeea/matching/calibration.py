"""Calibration of probabilities with held-out seeds (Platt scaling)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from largeea.graph import Bool, Float64, Links
from largeea.randomness import generator
from largeea.similarity import Similarity

MIN_SEEDS = 100
"""With fewer seeds than this, none are held out."""
SHARE, MOST = 0.2, 150
"""Share of the seeds that is held out, and the maximum number held out."""
_START = 8.0, -4.0
"""Prior slope and intercept, which leave probabilities nearly unchanged; few seeds stay close to it."""
_DOUBT = 0.1


def seeds_to_learn_from(seeds: Links, seed: int) -> Links:
    """Return the seeds that are not held out for calibration."""
    return seeds.take(~_held_out(seeds, seed))


def seeds_to_check_with(seeds: Links, seed: int) -> Links:
    """Return the seeds held out for calibration; none if there are fewer than `MIN_SEEDS`."""
    return seeds.take(_held_out(seeds, seed))


def _held_out(seeds: Links, seed: int) -> Bool:
    """Return the mask of the held-out seeds, `[n]`."""
    checked = np.zeros(len(seeds), bool)
    if len(seeds) >= MIN_SEEDS:
        order = generator(seed, "calibration").permutation(len(seeds))
        checked[order[: min(round(SHARE * len(seeds)), MOST)]] = True
    return checked


def calibrated(likelihood: Similarity, check: Links) -> Similarity:
    """Return the probabilities, rescaled to match the precision of pairs with an entity in a held-out seed.

    Platt scaling, `logit q = a p + b` with a > 0, so the order of the pairs does not change.
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
    """Return the slope and intercept of the logistic curve with the highest posterior probability."""
    from scipy.optimize import minimize  # imported lazily: slow, and most runs have no seeds

    start = np.array(_START)

    def surprise(curve: Float64) -> tuple[float, Float64]:
        odds = curve[0] * chance + curve[1]
        missed = _chance(odds) - right
        drift = curve - start
        cost = np.sum(np.logaddexp(0, odds) - right * odds) + _DOUBT / 2 * drift @ drift
        return float(cost), np.array([missed @ chance, missed.sum()]) + _DOUBT * drift

    found = minimize(surprise, start, jac=True, method="L-BFGS-B", bounds=[(0.1, None), (None, None)])
    return float(found.x[0]), float(found.x[1])
