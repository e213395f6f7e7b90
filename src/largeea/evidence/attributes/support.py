"""What literals say for candidate pairs, on the scale of the other channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.evidence.attributes.evidence import MAX_RATIO, literal_evidence
from largeea.graph import Links
from largeea.matching.sums import top_k_of_sum
from largeea.similarity import Similarity


def literal_support(
    values: dict[str, Any], anchors: Links, candidates: list[Similarity], top_k: int, seed: int
) -> Similarity:
    """Log odds that attributes give candidate pairs, scaled to [0, 1].

    Pairs that they speak against are absent. The candidates are those of all given matrices, the `top_k` of
    each source with the highest sum.
    """
    pool = top_k_of_sum(candidates, top_k)
    found = literal_evidence(values, anchors, pool, seed)
    chance = found.scores.astype(np.float64)
    support = np.log(chance / (1 - chance)) / MAX_RATIO
    speaks_for = support > 0
    pointers = np.concatenate([[0], np.cumsum(speaks_for)])[found.indptr]
    scores = np.minimum(support[speaks_for], 1)
    return Similarity(found.shape, pointers, found.indices[speaks_for], scores)
