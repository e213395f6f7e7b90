"""Exact assignment: the one-to-one matching of sources and targets with the highest total score."""

from __future__ import annotations

import numpy as np

from largeea.graph import Links
from largeea.matching import kernels
from largeea.similarity import Similarity


def exact_one_to_one(similarity: Similarity) -> Links:
    """Return the one-to-one pairs of kept entries with the highest sum of scores, weighted by score.

    An entity may stay unmatched, which scores the floor, but at least one end of every kept entry is matched.
    Memory is linear in the number of entries. scipy's sparse matching needs a full matching; with dummy nodes
    it takes twice as long.
    """
    gains = similarity.scores.astype(np.float64) - similarity.floor
    targets = similarity.indices.astype(np.int64)
    partner = kernels.best_partners(similarity.indptr, targets, gains, similarity.shape[1])
    paired = np.flatnonzero(partner >= 0)
    links = Links(np.column_stack([paired, partner[paired]]))
    return Links(links.pairs, similarity.score_of(links))
