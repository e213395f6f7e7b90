"""Compiled loops over the probabilities of pairs: what the mixture knows of them, and what it says."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Float32, Float64, Int32, Int64

MOST_LOG_ODDS = 6.0
VARIABLES = 4
"""Log odds of a pair in the matching; its name score, its fourth power, so that the slope may grow towards
equal names, and whether main names are equal. Without names, the first one alone."""


@njit(cache=True, nogil=True, inline="always")
def _describe(chance: np.float32, name: np.float32, equal_names: float, pair: Float64) -> None:
    kept = min(max(np.float64(chance), 1e-9), 1 - 1e-9)
    pair[0] = min(max(np.log(kept / (1 - kept)), -MOST_LOG_ODDS), MOST_LOG_ODDS)
    if len(pair) == VARIABLES:
        square = np.float64(name) * name
        pair[1], pair[2], pair[3] = name, square * square, name > equal_names


@njit(cache=True, nogil=True)
def describe(chances: Float32, names: Float32, equal_names: float, variables: Float64) -> None:
    """Write the variables of pairs, `[n, VARIABLES]` or, without names, `[n, 1]`."""
    for pair in range(len(variables)):
        _describe(chances[pair], names[pair], equal_names, variables[pair])


@njit(cache=True, nogil=True)
def fill_chances(
    first: int, last: int, pointers: Int64, columns: Int32, matched: Float32,
    name_pointers: Int64, name_columns: Int32, names: Float32, no_name: np.float32, equal_names: float,
    slopes: Float64, intercept: float, chances: Float32,
) -> None:  # fmt: skip
    """Write the probability of each pair in the rows `first:last`, whatever it competes with.

    `matched[entries]` are the probabilities of a matching, `names` a matrix of name scores.
    """
    pair = np.empty(len(slopes), np.float64)
    for row in range(first, last):
        at, end = name_pointers[row], name_pointers[row + 1]
        for entry in range(pointers[row], pointers[row + 1]):
            column = columns[entry]
            while at < end and name_columns[at] < column:
                at += 1
            name = names[at] if at < end and name_columns[at] == column else no_name
            _describe(matched[entry], name, equal_names, pair)
            log_odds = intercept
            for one in range(len(slopes)):
                log_odds += slopes[one] * pair[one]
            chances[entry] = 1 / (1 + np.exp(-log_odds))


@njit(cache=True, nogil=True)
def lower_by_rivals(
    first: int, last: int, pointers: Int64, columns: Int32, chances: Float32, sharp: Float32,
    one_target: bool, of_target: Float64, lowered: Float32,
) -> None:  # fmt: skip
    """Write the probability of each pair in the rows `first:last`, lowered if it is not clearly the best.

    `sharp[entries]` are the probabilities of a sharp matching and `of_target[targets]` their sums, 0 where
    the candidates of a target do not compete; those of a source compete if it has `one_target`. A pair with
    an equal competitor is half as likely. Knock-outs show what pairs look like whose counterpart is missing,
    not how often equals are mixed up.
    """
    for row in range(first, last):
        of_source = 0.0
        if one_target:
            for entry in range(pointers[row], pointers[row + 1]):
                of_source += sharp[entry]
        for entry in range(pointers[row], pointers[row + 1]):
            share = sharp[entry] / max(of_source, of_target[columns[entry]], 1e-30)
            lowered[entry] = min(max(2 * share - 0.5, 0.0), 1.0) * chances[entry]
