"""Where the true target of each test link ranks among the candidates of its source."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from largeea.graph import Bool, Links
from largeea.graph.ranges import expand_ranges
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.matching.forbidden import both_ways
from largeea.similarity import Similarity

HITS = (1, 5, 10)


def ranked_links(alignment: Alignment, test: Links) -> Links:
    """Return the links to rank: within one graph, either end of a pair is to be found from the other."""
    if alignment.cardinality is not Cardinality.WITHIN:
        return test
    return both_ways(test)


def ranking(similarity: Similarity, test: Links, candidates: Bool) -> dict[str, float]:
    """Return Hits@k and the mean reciprocal rank (MRR) of the test links among the candidate targets."""
    ranks = realistic_ranks(similarity, test, candidates)
    if not len(ranks):
        return {**{f"hits@{k}": 0.0 for k in HITS}, "mrr": 0.0}
    worst = max(int(candidates.sum()), 1)
    reciprocal = 1 / np.where(np.isfinite(ranks), ranks, worst)
    return {**{f"hits@{k}": float((ranks <= k).mean()) for k in HITS}, "mrr": float(reciprocal.mean())}


def realistic_ranks(similarity: Similarity, test: Links, candidates: Bool) -> npt.NDArray[np.float64]:
    """Return the rank of each test link's target, float64 `[n]`; infinite if the pair was not kept.

    Targets of other test links of the same source are left out: they are right, too.
    """
    kept = similarity.restrict(targets=candidates)
    pairs = kept.rows.astype(np.int64) * kept.shape[1] + kept.indices
    wanted = test.source.astype(np.int64) * kept.shape[1] + test.target
    at = np.searchsorted(pairs, wanted)
    present = at < len(pairs)
    present[present] = pairs[at[present]] == wanted[present]
    true_score = np.where(present, kept.scores[np.where(present, at, 0)] if len(pairs) else 0, np.inf)

    starts, ends = kept.indptr[test.source], kept.indptr[test.source + 1]
    better, equal = _above(true_score, starts, ends, kept.scores)
    order = np.argsort(test.source, kind="stable")
    first = np.searchsorted(test.source[order], test.source)
    behind = np.searchsorted(test.source[order], test.source, side="right")
    also_right = _above(true_score, first, behind, np.where(present, true_score, -np.inf)[order])
    return np.where(present, 1 + better - also_right[0] + (equal - also_right[1]) / 2, np.inf)


def _above(
    own: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    scores: npt.NDArray[Any],
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return how many of `scores[starts[i] : ends[i]]` are above `own[i]`, and how many are equal to it."""
    link, place = expand_ranges(starts, ends - starts)
    compared = scores[place]
    better = np.bincount(link, compared > own[link], minlength=len(own))
    return better, np.bincount(link, compared == own[link], minlength=len(own))


def protocols(
    similarity: Similarity, test: Links, seeds: Links, linkable: Bool | None = None
) -> dict[str, dict[str, float]]:
    """Return the ranking figures under both protocols.

    `linkable` is the mask `[m]` of the targets that an answer may contain; without it, all are ranked.
    """
    not_seeds = np.ones(similarity.shape[1], bool) if linkable is None else linkable.copy()
    is_linkable = not_seeds.copy()
    not_seeds[seeds.target] = False
    not_seeds[test.target] = is_linkable[test.target]
    test_targets = np.zeros(similarity.shape[1], bool)
    test_targets[test.target] = True
    return {
        "open": ranking(similarity, test, not_seeds),
        "paper": ranking(similarity, test, test_targets),
    }
