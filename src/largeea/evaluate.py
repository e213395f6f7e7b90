"""Accuracy of an answer: ranking, precision and recall, calibration. Only this module may use test links.

Ranking protocols: *paper* ranks each test source against the test targets only; *open*, the default, ranks it
against all targets that are not seeds. A tie gets the mean of its best and worst rank. A true target that was
not kept as a candidate is a miss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from largeea.graph import Bool, KnowledgeGraph, Links
from largeea.matching.alignment import Alignment
from largeea.similarity import Similarity

HITS = (1, 5, 10)


@dataclass(frozen=True)
class PrecisionRecall:
    """Precision and recall, both in [0, 1]."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def to_json(self) -> dict[str, float]:
        """Return precision, recall and F1 by name."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def evaluate(alignment: Alignment, test: Links, seeds: Links | None = None) -> dict[str, dict[str, float]]:
    """Return precision, recall and F1 of the accepted pairs and of the "no counterpart" decision.

    Example: `evaluate(align(source, target), links)["alignment"]["f1"]`.
    """
    seeds = seeds or Links.none()
    return {
        "alignment": accepted_pairs(alignment, test, seeds).to_json()
        | {"ece": calibration(alignment, test, seeds)},
        "linked_ends": accepted_pairs(with_a_linked_end(alignment, test), test, seeds).to_json(),
        "no_counterpart": no_counterpart(alignment, test, seeds).to_json(),
    }


def ranking(similarity: Similarity, test: Links, candidates: Bool) -> dict[str, float]:
    """Return Hits@k and the mean reciprocal rank (MRR) of the test links among the candidate targets."""
    ranks = realistic_ranks(similarity, test, candidates)
    if not len(ranks):
        return {**{f"hits@{k}": 0.0 for k in HITS}, "mrr": 0.0}
    worst = max(int(candidates.sum()), 1)
    reciprocal = 1 / np.where(np.isfinite(ranks), ranks, worst)
    return {**{f"hits@{k}": float((ranks <= k).mean()) for k in HITS}, "mrr": float(reciprocal.mean())}


def realistic_ranks(similarity: Similarity, test: Links, candidates: Bool) -> npt.NDArray[np.float64]:
    """Return the rank of each test link's target, float64 `[n]`; infinite if the pair was not kept."""
    kept = similarity.restrict(targets=candidates)
    pairs = kept.rows.astype(np.int64) * kept.shape[1] + kept.indices
    wanted = test.source.astype(np.int64) * kept.shape[1] + test.target
    at = np.searchsorted(pairs, wanted)
    present = at < len(pairs)
    present[present] = pairs[at[present]] == wanted[present]
    true_score = np.where(present, kept.scores[np.where(present, at, 0)] if len(pairs) else 0, np.inf)

    starts, ends = kept.indptr[test.source], kept.indptr[test.source + 1]
    link = np.repeat(np.arange(len(test)), ends - starts)
    offset = np.arange(len(link)) - np.repeat(np.cumsum(ends - starts) - (ends - starts), ends - starts)
    scores = kept.scores[starts[link] + offset]
    better = np.bincount(link, scores > true_score[link], minlength=len(test))
    equal = np.bincount(link, scores == true_score[link], minlength=len(test)) - 1
    return np.where(present, 1 + better + equal / 2, np.inf)


def protocols(similarity: Similarity, test: Links, seeds: Links) -> dict[str, dict[str, float]]:
    """Return the ranking figures under both protocols."""
    not_seeds = np.ones(similarity.shape[1], bool)
    not_seeds[seeds.target] = False
    test_targets = np.zeros(similarity.shape[1], bool)
    test_targets[test.target] = True
    return {
        "open": ranking(similarity, test, not_seeds),
        "paper": ranking(similarity, test, test_targets),
    }


def accepted_pairs(alignment: Alignment, test: Links, seeds: Links) -> PrecisionRecall:
    """Return precision and recall of the accepted pairs; seeds are excluded from pairs and test links."""
    width = alignment.target.size
    emitted, true = (
        np.setdiff1d(_keys(links, width), _keys(seeds, width)) for links in (alignment.links, test)
    )
    return _share(len(np.intersect1d(emitted, true)), len(emitted), len(true))


def with_a_linked_end(alignment: Alignment, test: Links) -> Alignment:
    """Keep the pairs with an entity in a test link; others cannot be judged, as true links may be missing."""
    ends = np.isin(alignment.pairs[:, 0], test.source) | np.isin(alignment.pairs[:, 1], test.target)
    return Alignment(
        alignment.source,
        alignment.target,
        alignment.pairs[ends],
        alignment.confidence[ends],
        alignment.accepted[ends],
    )


def calibration(alignment: Alignment, test: Links, seeds: Links, bins: int = 10) -> float:
    """Return the expected calibration error (ECE): the gap between confidence and precision, over all bins.

    It covers the accepted pairs and those for review that have an entity in a test link, without seeds.
    """
    judged = with_a_linked_end(alignment, test)
    keys = _keys(Links(judged.pairs), alignment.target.size)
    new = ~np.isin(keys, _keys(seeds, alignment.target.size))
    right = np.isin(keys[new], _keys(test, alignment.target.size))
    confidence = judged.confidence[new].astype(np.float64)
    place = np.minimum((confidence * bins).astype(int), bins - 1)
    gap = np.bincount(place, right, bins) - np.bincount(place, confidence, bins)
    return float(np.abs(gap).sum() / max(len(right), 1))


def no_counterpart(alignment: Alignment, test: Links, seeds: Links) -> PrecisionRecall:
    """Return precision and recall of the unmatched entities; entities in no link are the true ones."""
    right = said = true = 0
    for graph, unmatched, linked in (
        (alignment.source, alignment.unmatched_source_ids, np.concatenate([test.source, seeds.source])),
        (alignment.target, alignment.unmatched_target_ids, np.concatenate([test.target, seeds.target])),
    ):
        lonely = _unlinked(graph, linked)
        right += int(lonely[unmatched].sum())
        said += len(unmatched)
        true += int(lonely.sum())
    return _share(right, said, true)


def pseudo_seeds(found: Links, test: Links, given: Links) -> dict[str, float]:
    """Return the number of pseudo-seeds that are not given seeds, and their precision.

    A benchmark may omit true links, so only pairs with an entity in a test link are judged.
    """
    width = 1 + max(links.target.max(initial=0) for links in (found, test, given))
    new = found.take(~np.isin(_keys(found, width), _keys(given, width)))
    judged = new.take(np.isin(new.source, test.source) | np.isin(new.target, test.target))
    right = np.isin(_keys(judged, width), _keys(test, width))
    return {"pseudo_seeds": len(new), "precision": float(right.mean()) if len(right) else 0.0}


def _unlinked(graph: KnowledgeGraph, linked: npt.NDArray[np.int32]) -> Bool:
    lonely = ~graph.anonymous
    lonely[linked] = False
    return lonely


def _keys(links: Links, width: int) -> npt.NDArray[np.int64]:
    return links.source.astype(np.int64) * width + links.target


def _share(right: int, said: int, true: int) -> PrecisionRecall:
    return PrecisionRecall(right / said if said else 0.0, right / true if true else 0.0)
