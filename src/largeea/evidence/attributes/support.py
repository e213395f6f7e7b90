"""What literals say for candidate pairs, on the scale of the other channels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from largeea.evidence.attributes.evidence import MAX_RATIO, literal_evidence
from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Links
from largeea.matching.sums import top_k_of_sum
from largeea.similarity import Similarity

_LEAST = np.float32(1e-6)
"""Chances below, and as near to 1, count as this one."""


def literal_support(
    values: dict[str, Any],
    anchors: Links,
    candidates: list[Similarity],
    top_k: int,
    seed: int,
    within: bool = False,
) -> Similarity:
    """Log odds that attributes give candidate pairs, scaled to [0, 1].

    Pairs that they speak against are absent. The candidates are those of all given matrices, the `top_k` of
    each source with the highest sum.

    `within` one graph, nothing competes, so what speaks against a pair counts, too: it is below 0.5, and a
    pair whose attributes tell nothing has 0.5.
    """
    pool = top_k_of_sum(candidates, top_k)
    found = literal_evidence(values, anchors, pool, seed, within)
    if within:
        chances = np.clip(found.scores_on(pool), _LEAST, 1 - _LEAST)
        compared = Similarity(found.shape, found.indptr, found.indices, np.ones(len(found), np.float32))
        ratios = np.where(compared.scores_on(pool) > 0, np.log(chances / (1 - chances)), 0) / MAX_RATIO
        support = np.asarray((1 + ratios) / 2, np.float32)
        return Similarity(pool.shape, pool.indptr, pool.indices, support)
    speaking = found.keep(found.scores > 0.5)
    support = np.empty(len(speaking), np.float32)
    over_rows(_log_odds, len(support), speaking.scores, support)
    return Similarity(speaking.shape, speaking.indptr, speaking.indices, support)


@njit(cache=True, nogil=True)
def _log_odds(first: int, last: int, chances: Float32, support: Float32) -> None:
    """Write the log odds of the chances `first:last` as shares of the highest ratio, not above 1."""
    for entry in range(first, last):
        chance = np.float64(chances[entry])
        support[entry] = min(np.log(chance / (1 - chance)) / MAX_RATIO, 1.0)
