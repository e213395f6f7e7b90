"""The best pairs of every source entity, gathered from one mini-batch after another."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32
from largeea.similarity import Similarity


class BestPairs:
    """The `top_k` best pairs of each source so far: `ids[sources, top_k]` and `scores`, best first.

    Memory: 8 bytes for each of them. Batches may come in any order.
    """

    def __init__(self, sources: int, top_k: int) -> None:
        self.ids = np.full((sources, top_k), -1, np.int32)
        self.scores = np.zeros((sources, top_k), np.float32)

    def add(self, rows: Int32, ids: Int32, scores: Float32) -> None:
        """Add the pairs of some distinct sources, `ids[rows, n]` and `scores`, best first, padded with -1.

        A pair that was there before keeps its higher score.
        """
        over_rows(_add_rows, len(rows), rows, ids, scores, self.ids, self.scores)

    def matrix(self, targets: int) -> Similarity:
        """All pairs, `[sources, targets]`, with floor 0."""
        return Similarity.from_top_k(self.ids, self.scores, targets, 0.0)


@njit(cache=True, nogil=True)
def _add_rows(
    first: int, last: int, rows: Int32, ids: Int32, scores: Float32, best_ids: Int32, best_scores: Float32
) -> None:
    """Insert the pairs of `rows[first:last]` into the sorted rows of the best; ties go to smaller ids."""
    k = best_ids.shape[1]
    for at in range(first, last):
        kept, kept_scores = best_ids[rows[at]], best_scores[rows[at]]
        known = k
        while known > 0 and kept[known - 1] < 0:
            known -= 1
        if known == 0:
            for rank in range(min(k, ids.shape[1])):
                kept[rank], kept_scores[rank] = ids[at, rank], scores[at, rank]
            continue
        for rank in range(ids.shape[1]):
            new, score = ids[at, rank], scores[at, rank]
            if new < 0:
                break
            size, place = known, known
            for earlier in range(known):
                if kept[earlier] == new:
                    size, place = known - 1, earlier
                    break
            if size < known:
                if kept_scores[place] >= score:
                    continue
            elif known < k:
                known += 1
            elif _ranks_before(kept_scores[k - 1], kept[k - 1], score, new):
                break
            else:
                place = k - 1
            while place > 0 and not _ranks_before(kept_scores[place - 1], kept[place - 1], score, new):
                kept[place], kept_scores[place] = kept[place - 1], kept_scores[place - 1]
                place -= 1
            kept[place], kept_scores[place] = new, score


@njit(cache=True, nogil=True)
def _ranks_before(score: float, target: int, other_score: float, other: int) -> bool:
    """Whether a pair is better than another one."""
    return score > other_score or (score == other_score and target < other)
