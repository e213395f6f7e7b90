"""Cardinality: how many counterparts an entity may have, and so which candidates compete."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from largeea.graph import Links
from largeea.similarity import Similarity


class Cardinality(StrEnum):
    """Sources that one target may have, and targets that one source may have; `n:1` are several sources."""

    ONE_TO_ONE = "1:1"
    ONE_TO_MANY = "1:n"
    MANY_TO_ONE = "n:1"
    MANY_TO_MANY = "n:m"
    WITHIN = "within"
    """Duplicates in one graph, which is both source and target: as `n:m`, but each pair counts once."""

    @property
    def one_target(self) -> bool:
        """Whether a source has at most one target, so that its candidates compete."""
        return self in (Cardinality.ONE_TO_ONE, Cardinality.MANY_TO_ONE)

    @property
    def one_source(self) -> bool:
        """Whether a target has at most one source, so that its candidates compete."""
        return self in (Cardinality.ONE_TO_ONE, Cardinality.ONE_TO_MANY)

    def is_single(self, side: str) -> bool:
        """Whether an entity of the "source" or the "target" side has at most one counterpart."""
        return self.one_target if side == "source" else self.one_source

    @property
    def of_anchors(self) -> Cardinality:
        """What anchors are matched by: where nothing competes, no candidate could be ahead of the others."""
        return self if self.one_source or self.one_target else Cardinality.ONE_TO_ONE

    def best_pairs(self, similarity: Similarity) -> Links:
        """Return the pairs that are each other's best or, where only one end competes, the best of that end.

        Where no end competes, the best of each source. They are weighted by score.
        """
        if self is Cardinality.ONE_TO_ONE:
            return similarity.mutual_best()
        if self is Cardinality.ONE_TO_MANY:
            return best_of_sources(similarity.transpose()).reversed()
        return best_of_sources(similarity)


def best_of_sources(similarity: Similarity) -> Links:
    """Return the best pair of each source that has one, weighted by score."""
    target, score = similarity.best()
    sources = np.flatnonzero(target >= 0)
    return Links(np.column_stack([sources, target[sources]]), score[sources])


def each_pair_once(similarity: Similarity) -> Similarity:
    """Return the pairs of different entities of one graph once, with the smaller id as source.

    A pair has the higher of its two scores.
    """
    rows, columns = similarity.rows, similarity.indices
    different = rows != columns
    rows, columns, scores = rows[different], columns[different], similarity.scores[different]
    ends = np.minimum(rows, columns), np.maximum(rows, columns)
    return Similarity.from_entries(*ends, scores, similarity.shape, similarity.floor)
