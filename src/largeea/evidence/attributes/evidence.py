"""Literal evidence: how much the attributes of candidate pairs speak for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.evidence.attributes.correspondence import learn_partners
from largeea.evidence.attributes.score_kernels import score_candidates
from largeea.evidence.attributes.values import Values
from largeea.execution.jobs import over_rows
from largeea.graph import Links, frozen
from largeea.similarity import Similarity

MAX_RATIO = 12.0
"""Log odds that attributes approach however many agree: properties are not independent of each other."""


def literal_evidence(
    values: dict[str, Any], anchors: Links, candidates: Similarity, seed: int, within: bool = False
) -> Similarity:
    """How likely candidate pairs match, given their attributes: `1 / (1 + exp(-llr))`, in (0, 1).

    `llr` is the sum of Fellegi and Sunter's weights `log(m / u)` of all properties that correspond, see
    `learn_partners`. It is 0 for a pair whose attributes tell nothing either way, and stays below
    `MAX_RATIO`. Candidates without corresponding properties are absent.
    """
    columns = Values.of(values)
    partners = learn_partners(columns, anchors, candidates, seed, within)
    ratios, compared = np.zeros(len(candidates), np.float32), np.zeros(len(candidates), bool)
    width = tuple(int(np.diff(side.pointers).max(initial=0)) for side in (columns.source, columns.target))
    if len(partners.partner):  # else nothing is compared, and the kernel need not be compiled
        over_rows(
            score_candidates, candidates.shape[0], candidates.indptr, candidates.indices,
            columns.source, columns.target, columns.table, partners, width, ratios, compared, least=256,
        )  # fmt: skip
    kept = ratios[compared]
    scores = 1 / (1 + np.exp(-MAX_RATIO * np.tanh(kept / MAX_RATIO)))
    before = np.zeros(len(candidates) + 1, np.int64)
    np.cumsum(compared, out=before[1:])
    indptr = before[candidates.indptr]
    return Similarity(candidates.shape, indptr, candidates.indices[compared], frozen(scores, np.float32))
