"""A mixture of right and wrong pairs, told apart by a sample of pairs that are surely wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from largeea.graph import Bool, Float64
from largeea.matching.descent import Bounds, minimise
from largeea.matching.mixture_kernels import mixture_loss

_RIDGE = 0.2
"""Penalty on squared slopes of scaled variables: few pairs give gentle slopes."""
_PRIOR_PENALTY = 0.05
"""Penalty on the squared log odds that a found pair is wrong, and the bounds of these log odds."""
_BOUNDS = -8.0, 4.0
_STEEPEST = 30.0
_SHARES = 0.02, 0.999
"""Bounds of a known share of wrong pairs."""


@dataclass(frozen=True)
class Mixture:
    """`log odds of right = slopes . variables + intercept`, for the variables of a pair."""

    slopes: Float64
    intercept: float
    wrong_share: float
    """Estimated share of wrong pairs among the found ones."""

    def chance(self, variables: Iterable[Float64]) -> Float64:
        """Return the probability that each pair is right, `[n]`, given its variables, one column each."""
        log_odds: Any = self.intercept
        for slope, column in zip(self.slopes.tolist(), variables, strict=True):
            log_odds = log_odds + slope * column
        return logistic(log_odds)


@dataclass(frozen=True)
class Labelled:
    """Pairs that people have looked at: their variables, `[n, d]`, and whether they are right, `[n]`."""

    variables: Float64
    right: Bool


def fit_mixture(
    found: Float64,
    wrong: Float64,
    labelled: Labelled | None = None,
    wrong_share: float | None = None,
    weights: Float64 | None = None,
    begin: Mixture | None = None,
) -> Mixture:
    """Fit a mixture to the variables of found pairs, `[n, d]`, and of surely wrong pairs, `[m, d]`.

    Found pairs are right or wrong: their density is `(1 - w) f1 + w f0`, that of wrong pairs is f0. With
    `f1 / f0 = exp(linear)`, the odds that a pair comes from the found ones rather than the wrong ones are
    `n / m (w + (1 - w) exp(linear))`, which is fitted by maximum likelihood. No pair is labelled right.
    Slopes are not negative: more evidence never lowers a probability.

    Maximum likelihood tends to take w too low, and Storey's estimate, the share of found pairs among those
    that look worst, too high: their mean is taken, unless the `wrong_share` is known. The first variable says
    which pairs look worst.

    Pairs that people have looked at add the likelihood of what they say, with an intercept of their own.
    People choose which pairs they look at, doubtful ones first, so the share of right pairs among these says
    nothing about other pairs. How right pairs differ from wrong ones does.

    `weights` say how much each of the wrong pairs counts, `[m]`; all count 1 unless given. To `begin` with a
    mixture that is much the same saves time.
    """
    weights = np.ones(len(wrong)) if weights is None else weights
    if wrong_share is not None:
        return _fit(found, wrong, weights, labelled, _log_odds(float(np.clip(wrong_share, *_SHARES))), begin)
    by_likelihood = _fit(found, wrong, weights, labelled, None, begin)
    worst = _median(wrong[:, 0], weights)
    of_wrong = np.average(wrong[:, 0] <= worst, weights=weights)
    share = np.clip((found[:, 0] <= worst).mean() / of_wrong, 0.002, 0.98)
    log_odds = (_log_odds(by_likelihood.wrong_share) + _log_odds(float(share))) / 2
    return _fit(found, wrong, weights, labelled, log_odds, by_likelihood)


def fit_contrast(right: Float64, wrong: Float64) -> Float64:
    """Return slopes, not negative, of a logistic regression that tells right pairs from wrong ones, `[d]`.

    Given are the variables of both, `[n, d]` and `[m, d]`; both count the same.
    """
    both = np.concatenate([right, wrong])
    centre, scale = both.mean(axis=0), both.std(axis=0) + 1e-6
    both = (both - centre) / scale
    sign = np.concatenate([np.ones(len(right)), -np.ones(len(wrong))])
    fewer = min(len(right), len(wrong))
    weight = np.where(sign > 0, fewer / len(right), fewer / len(wrong))

    def loss(point: Float64) -> tuple[float, Float64]:
        slopes = point[:-1]
        margin = sign * (both @ slopes + point[-1])
        pull = -weight * sign * logistic(-margin)
        value = (weight * np.logaddexp(0, -margin)).sum() + slopes @ slopes / 2
        return float(value), np.append(both.T @ pull + slopes, pull.sum())

    width = both.shape[1]
    start = np.append(np.full(width, 0.5), 0.0)
    bounds: Bounds = [(0.0, None)] * width + [(None, None)]
    best = minimise(loss, start, bounds)
    return np.asarray(best[:-1] / scale, np.float64)


def _fit(
    found: Float64,
    wrong: Float64,
    weights: Float64,
    labelled: Labelled | None,
    wrong_log_odds: float | None,
    begin: Mixture | None,
) -> Mixture:
    """Fit slopes and intercept and, unless they are given, the log odds that a found pair is wrong."""
    centre = np.average(wrong, axis=0, weights=weights)
    spread = np.sqrt(np.average((wrong - centre) ** 2, axis=0, weights=weights))
    scale = found.std(axis=0) + spread + 1e-6
    both = (np.concatenate([found, wrong]) - centre) / scale
    sign = np.concatenate([np.ones(len(found)), -np.ones(len(wrong))])
    counts = np.concatenate([np.ones(len(found)), weights])
    ratio, width = np.log(len(found) / weights.sum()), found.shape[1]

    def loss(point: Float64) -> tuple[float, Float64]:
        slopes, odds_wrong = point[:width], point[width + 1]
        gradient = np.zeros_like(point)
        value = mixture_loss(both, sign, counts, ratio, slopes, point[width], odds_wrong, gradient)
        value += _RIDGE / 2 * slopes @ slopes + _PRIOR_PENALTY * odds_wrong**2
        gradient[:width] += _RIDGE * slopes
        gradient[width + 1] += 2 * _PRIOR_PENALTY * odds_wrong
        if labelled is not None:
            wanted = np.where(labelled.right, 1.0, -1.0)
            margin = wanted * (judged @ slopes + point[width + 2])
            value += np.logaddexp(0, -margin).sum() + _PRIOR_PENALTY * point[width + 2] ** 2
            pull = -wanted * logistic(-margin)
            gradient[:width] += judged.T @ pull
            gradient[width + 2] = pull.sum() + 2 * _PRIOR_PENALTY * point[width + 2]
        return float(value), gradient

    bound = _BOUNDS if wrong_log_odds is None else (wrong_log_odds, wrong_log_odds)
    start = np.append(np.full(width, 0.5), [0.0, -1.0])
    if begin is not None:
        odds_wrong = _log_odds(begin.wrong_share)
        at_centre = begin.intercept + centre @ begin.slopes + odds_wrong
        start = np.append(begin.slopes * scale, [at_centre, odds_wrong])
    bounds: list[tuple[float | None, float | None]] = [(0.0, _STEEPEST)] * width + [(None, None), bound]
    if labelled is not None:
        judged = (labelled.variables - centre) / scale
        start, bounds = np.append(start, 0.0), [*bounds, (None, None)]
    best = minimise(loss, start, bounds)
    slopes = best[:width] / scale
    intercept = float(best[width] - centre @ slopes - best[width + 1])
    return Mixture(slopes, intercept, float(logistic(best[width + 1 : width + 2])[0]))


def _median(values: Float64, weights: Float64) -> float:
    """The value that half of the weight lies below."""
    order = np.argsort(values)
    below = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(weights.sum() / 2, below, values[order]))


def _log_odds(chance: float) -> float:
    return float(np.log(chance / (1 - chance)))


def logistic(log_odds: Float64) -> Float64:
    """Return the probabilities that have these log odds."""
    chance: Float64 = (1 + np.tanh(log_odds / 2)) / 2
    return chance
