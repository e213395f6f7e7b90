"""How good an answer is. The only place that may see test links.

Protocols: *paper* ranks test sources against test targets only; *open*, the honest default, against all
targets that are not seeds. Ties count half (the mean of best and worst rank); a true target that was not kept
is a miss.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from largeea.alignment import Alignment
from largeea.graph import Bool, KnowledgeGraph, Links
from largeea.similarity import Similarity

HITS = (1, 5, 10)


@dataclass(frozen=True)
class PrecisionRecall:
    """Of what was said, how much is right; of what is right, how much was said."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    def to_json(self) -> dict[str, float]:
        """The three figures."""
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1}


def evaluate(alignment: Alignment, test: Links, seeds: Links | None = None) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of the accepted pairs and of the "no counterpart" decision.

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
    """Hits@k and mean reciprocal rank of the test links, each source ranked against the candidate targets."""
    ranks = realistic_ranks(similarity, test, candidates)
    if not len(ranks):
        return {**{f"hits@{k}": 0.0 for k in HITS}, "mrr": 0.0}
    worst = max(int(candidates.sum()), 1)
    reciprocal = 1 / np.where(np.isfinite(ranks), ranks, worst)
    return {**{f"hits@{k}": float((ranks <= k).mean()) for k in HITS}, "mrr": float(reciprocal.mean())}


def realistic_ranks(similarity: Similarity, test: Links, candidates: Bool) -> npt.NDArray[np.float64]:
    """The rank of each test link's target, `[n]`; infinite where it was not kept."""
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
    """Ranking figures under both protocols."""
    not_seeds = np.ones(similarity.shape[1], bool)
    not_seeds[seeds.target] = False
    test_targets = np.zeros(similarity.shape[1], bool)
    test_targets[test.target] = True
    return {
        "open": ranking(similarity, test, not_seeds),
        "paper": ranking(similarity, test, test_targets),
    }


def accepted_pairs(alignment: Alignment, test: Links, seeds: Links) -> PrecisionRecall:
    """The accepted pairs against the test links; seeds count on neither side."""
    width = alignment.target.size
    emitted, true = (
        np.setdiff1d(_keys(links, width), _keys(seeds, width)) for links in (alignment.links, test)
    )
    return _share(len(np.intersect1d(emitted, true)), len(emitted), len(true))


def with_a_linked_end(alignment: Alignment, test: Links) -> Alignment:
    """Only the pairs that can be judged where a benchmark does not link everything that has a counterpart."""
    ends = np.isin(alignment.pairs[:, 0], test.source) | np.isin(alignment.pairs[:, 1], test.target)
    return Alignment(
        alignment.source,
        alignment.target,
        alignment.pairs[ends],
        alignment.confidence[ends],
        alignment.accepted[ends],
    )


def calibration(alignment: Alignment, test: Links, seeds: Links, bins: int = 10) -> float:
    """Expected calibration error: how far confidence is from the share that is right, over ten bins.

    Over all pairs with a linked end, accepted or for review, seeds left out.
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
    """The entities of both sides said to have no counterpart, against those in no link at all."""
    right = said = true = 0
    for graph, unmatched, linked in (
        (alignment.source, alignment.unmatched_source, np.concatenate([test.source, seeds.source])),
        (alignment.target, alignment.unmatched_target, np.concatenate([test.target, seeds.target])),
    ):
        lonely = _unlinked(graph, linked)
        right += int(lonely[unmatched].sum())
        said += len(unmatched)
        true += int(lonely.sum())
    return _share(right, said, true)


def pseudo_seeds(found: Links, test: Links, given: Links) -> dict[str, float]:
    """How many pseudo-seeds there are beyond the given ones, and the share that is right.

    A benchmark does not link everything that has a counterpart: only pairs with a linked end are judged.
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
