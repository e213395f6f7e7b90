"""What reviews teach beyond the reviewed pairs: how much a feature changes the odds that a pair is right."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from largeea.graph import Bool, Float64
from largeea.matching.mixture import logistic
from largeea.progress import note
from largeea.randomness import generator

PRECISIONS = (1.0, 3.0, 10.0)
"""Precisions of the normal prior of a shift that are tried. By the widest one, a feature hardly changes the
odds by more than a factor e before anything was reviewed."""
FOLDS = 10
"""Parts of the reviews, each held out once; with fewer right or fewer wrong pairs, nothing is learnt."""
_WIDEST = 10.0
"""Bounds of the intercept and of the slope, which have no prior."""


def learn_shifts(features: csr_matrix, right: Bool, log_odds: Float64, seed: int) -> Float64:
    """Return what each feature adds to the log odds that a pair is right, `[features]`.

    `features[pairs, features]` are those of reviewed pairs, `log_odds[pairs]` what is known of them besides.
    A logistic regression is fitted to both. Its intercept takes up how people chose the pairs; its prior is
    the one that predicts held-out reviews best. All shifts are 0 if these predictions are not better, by more
    than a standard error, than those by log odds alone.
    """
    nothing = np.zeros(features.shape[1])
    if min(right.sum(), (~right).sum()) < FOLDS:
        return nothing
    fold = generator(seed, "lessons").permutation(len(right)) % FOLDS
    without = _held_out(features[:, :0], right, log_odds, fold, PRECISIONS[0])
    tried = [_held_out(features, right, log_odds, fold, precision) for precision in PRECISIONS]
    best = int(np.argmax([likelihood.mean() for likelihood in tried]))
    gain = tried[best] - without
    if gain.mean() <= gain.std() / np.sqrt(len(gain)):
        return nothing
    note(f"what {len(right):,} reviews teach makes a held-out one {np.expm1(gain.mean()):.0%} more likely")
    return _fit(features, right, log_odds, PRECISIONS[best])[2:]


def _held_out(
    features: csr_matrix, right: Bool, log_odds: Float64, fold: np.ndarray, precision: float
) -> Float64:
    """The log likelihood of each review, predicted by the reviews of the other folds, `[pairs]`."""
    margin = np.empty(len(right))
    for number in range(FOLDS):
        out, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        point = _fit(features[rest], right[rest], log_odds[rest], precision)
        margin[out] = features[out] @ point[2:] + point[1] * log_odds[out] + point[0]
    return -np.logaddexp(0, np.where(right, -margin, margin))


def _fit(features: csr_matrix, right: Bool, log_odds: Float64, precision: float) -> Float64:
    """Intercept, slope of the log odds and shifts, `[2 + features]`, by maximum a posteriori."""
    from scipy.optimize import minimize  # imported lazily: slow

    sign = np.where(right, 1.0, -1.0)

    def loss(point: Float64) -> tuple[float, Float64]:
        shifts = point[2:]
        margin = sign * (features @ shifts + point[1] * log_odds + point[0])
        pull = -sign * logistic(-margin)
        value = np.logaddexp(0, -margin).sum() + precision / 2 * shifts @ shifts
        slopes = np.array([pull.sum(), pull @ log_odds])
        return float(value), np.concatenate([slopes, features.T @ pull + precision * shifts])

    width = features.shape[1]
    bounds = [(-_WIDEST, _WIDEST), (0.0, _WIDEST)] + [(None, None)] * width
    best = minimize(loss, np.zeros(2 + width), jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.asarray(best, np.float64)
