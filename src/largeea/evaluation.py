"""Accuracy of an answer: ranking, precision and recall, calibration. Only this module may use test links.

Ranking protocols: *paper* ranks each test source against the test targets only; *open*, the default, ranks it
against all targets that can be linked and are not seeds. A tie gets the mean of its best and worst rank. A
true target that was not kept as a candidate is a miss.

Pairs are judged twice. Over *all* pairs, a pair that is not a test link is wrong: right where the links are
complete. Over pairs with a *linked end*, only pairs with an entity in a test link count: for links that cover
a part of the graphs, where other pairs cannot be judged.

Where an entity has several counterparts, each link is judged and ranked: the other counterparts of its source
do not count as better. Clusters, the entities that pairs join, are judged by the pairs in them and by
B-cubed. Within one graph, the true pairs are all pairs of a true cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from largeea.graph import Bool, Int32, Links
from largeea.graph.ranges import expand_ranges
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.matching.clusters import b_cubed_agreement, cluster_numbers, pairwise_agreement
from largeea.matching.forbidden import both_ways
from largeea.similarity import Similarity

HITS = (1, 5, 10)
BINS = 10
"""Number of bins of confidence, of equal width."""


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


@dataclass(frozen=True, eq=False)
class Reliability:
    """Confidence and correctness of decisions by bins of confidence: three columns `[BINS]`.

    `count` is the number of decisions, `confidence` the sum of their confidences, and `right` the number of
    those that are right.
    """

    count: npt.NDArray[np.float64]
    confidence: npt.NDArray[np.float64]
    right: npt.NDArray[np.float64]

    @classmethod
    def of(cls, confidence: npt.NDArray[np.float64], right: Bool) -> Reliability:
        """Sort decisions into bins; both columns are `[n]`, and `confidence` is in [0, 1]."""
        place = np.minimum((confidence * BINS).astype(int), BINS - 1)
        columns = np.ones(len(place)), confidence, right.astype(np.float64)
        return cls(*(np.bincount(place, column, BINS).astype(np.float64) for column in columns))

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean gap between confidence and share right, over all bins."""
        return float(np.abs(self.right - self.confidence).sum() / max(self.count.sum(), 1))

    def to_json(self) -> list[dict[str, float]]:
        """Return bounds, number of decisions, mean confidence and share right of each bin that has any."""
        return [
            {
                "from": place / BINS,
                "to": (place + 1) / BINS,
                "count": int(self.count[place]),
                "confidence": float(self.confidence[place] / self.count[place]),
                "right": float(self.right[place] / self.count[place]),
            }
            for place in np.flatnonzero(self.count).tolist()
        ]


def evaluate(alignment: Alignment, test: Links, seeds: Links | None = None) -> dict[str, Any]:
    """Return precision, recall, F1 and calibration of the pairs and of the "no counterpart" decision.

    `alignment` judges all pairs, `linked_ends` those with an entity in a test link, `no_counterpart` the
    entities in no accepted pair. Each has its expected calibration error, `ece`; the bins that it was
    computed from are in `reliability`.

    Seeds and pairs of equal IRIs are known and not judged. Where an entity may have several counterparts,
    `clusters` has `pairwise` and `b_cubed` precision, recall and F1 of the clusters, known pairs included.

    Example: `evaluate(align(source, target), links)["alignment"]["f1"]`.
    """
    test = true_pairs(alignment, test)
    known = known_links(alignment, seeds or Links.none())
    judged = with_a_linked_end(alignment, test)
    judgements = {
        "alignment": (accepted_pairs(alignment, test, known), pair_reliability(alignment, test, known)),
        "linked_ends": (accepted_pairs(judged, test, known), pair_reliability(judged, test, known)),
        "no_counterpart": (
            no_counterpart(alignment, test, known),
            no_counterpart_reliability(alignment, test, known),
        ),
    }
    figures: dict[str, Any] = {
        name: share.to_json() | {"ece": bins.ece} for name, (share, bins) in judgements.items()
    }
    if alignment.cardinality is not Cardinality.ONE_TO_ONE or _has_several(test):
        figures["clusters"] = cluster_figures(alignment, Links(np.concatenate([test.pairs, known.pairs])))
    return figures | {"reliability": {name: bins.to_json() for name, (_, bins) in judgements.items()}}


def known_links(alignment: Alignment, seeds: Links) -> Links:
    """Return the seeds and the pairs of equal IRIs: nothing had to be found out about them."""
    return Links(np.concatenate([seeds.pairs, alignment.same.pairs])).canonical()


def true_pairs(alignment: Alignment, links: Links) -> Links:
    """Return the links; within one graph, all pairs of different entities that they join, each once."""
    if alignment.cardinality is not Cardinality.WITHIN:
        return links
    cluster = cluster_numbers(links, alignment.source.size, 0, within=True)
    members = np.flatnonzero(cluster >= 0)
    joins = sp.csr_array(
        (np.ones(len(members), np.int32), (members, cluster[members])),
        shape=(len(cluster), int(cluster.max(initial=-1)) + 1),
    )
    together = (joins @ joins.T).tocoo()
    ends = np.column_stack([together.row, together.col])
    return Links(ends[ends[:, 0] < ends[:, 1]]).canonical()


def ranked_links(alignment: Alignment, test: Links) -> Links:
    """Return the links to rank: within one graph, either end of a pair is to be found from the other."""
    if alignment.cardinality is not Cardinality.WITHIN:
        return test
    return both_ways(test)


def cluster_figures(alignment: Alignment, links: Links) -> dict[str, dict[str, float]]:
    """Return precision, recall and F1 of the clusters of accepted pairs, pairwise and by B-cubed."""
    within = alignment.cardinality is Cardinality.WITHIN
    truth = cluster_numbers(links, alignment.source.size, alignment.target.size, within)
    return {
        name: PrecisionRecall(*agreement(alignment.clusters, truth)).to_json()
        for name, agreement in (("pairwise", pairwise_agreement), ("b_cubed", b_cubed_agreement))
    }


def _has_several(links: Links) -> bool:
    """Whether an entity is in several links."""
    return any(len(np.unique(ends)) < len(links) for ends in (links.source, links.target))


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


def pair_reliability(alignment: Alignment, test: Links, seeds: Links) -> Reliability:
    """Return the reliability of all pairs, accepted or doubtful, without seeds; test links are right."""
    width = alignment.target.size
    keys = _keys(Links(alignment.pairs), width)
    new = ~np.isin(keys, _keys(seeds, width))
    return Reliability.of(
        alignment.confidence[new].astype(np.float64), np.isin(keys[new], _keys(test, width))
    )


def no_counterpart(alignment: Alignment, test: Links, seeds: Links) -> PrecisionRecall:
    """Return precision and recall of "no counterpart", said of every entity in no accepted pair."""
    right = said = true = 0
    for side in _sides(alignment):
        lonely, left_over = _without_link(alignment, side, test, seeds), _left_over(alignment, side)
        right += int((lonely & left_over).sum())
        said += int(left_over.sum())
        true += int(lonely.sum())
    return _share(right, said, true)


def no_counterpart_reliability(alignment: Alignment, test: Links, seeds: Links) -> Reliability:
    """Return the reliability of "no counterpart", said of every entity in no accepted pair.

    Its confidence is 1 minus that of the entity's best pair, which is 0 for an entity in no pair.
    """
    confidence, right = [], []
    for side in _sides(alignment):
        left_over = _left_over(alignment, side)
        best = np.zeros(len(left_over))
        for column in _columns(alignment, alignment.pairs, side):
            np.maximum.at(best, column, alignment.confidence)
        confidence.append(1 - best[left_over])
        right.append(_without_link(alignment, side, test, seeds)[left_over])
    return Reliability.of(np.concatenate(confidence), np.concatenate(right))


def pseudo_seeds(found: Links, test: Links, given: Links) -> dict[str, float]:
    """Return the number of pseudo-seeds that are not given seeds, and their precision.

    A benchmark may omit true links, so only pairs with an entity in a test link are judged.
    """
    width = 1 + max(links.target.max(initial=0) for links in (found, test, given))
    new = found.take(~np.isin(_keys(found, width), _keys(given, width)))
    judged = new.take(np.isin(new.source, test.source) | np.isin(new.target, test.target))
    right = np.isin(_keys(judged, width), _keys(test, width))
    return {"pseudo_seeds": len(new), "precision": float(right.mean()) if len(right) else 0.0}


def _left_over(alignment: Alignment, side: int) -> Bool:
    """The mask of the linkable entities of one side in no accepted pair and no pair of equal IRIs."""
    matched = *_columns(alignment, alignment.links.pairs, side), alignment.same.pairs[:, side]
    return _linkable_except(alignment, side, np.concatenate(matched))


def _without_link(alignment: Alignment, side: int, test: Links, seeds: Links) -> Bool:
    """The mask of the linkable entities of one side in no link."""
    linked = [column for links in (test, seeds) for column in _columns(alignment, links.pairs, side)]
    return _linkable_except(alignment, side, np.concatenate(linked))


def _sides(alignment: Alignment) -> tuple[int, ...]:
    """The sides with entities of their own; within one graph, all are sources."""
    return (0,) if alignment.cardinality is Cardinality.WITHIN else (0, 1)


def _columns(alignment: Alignment, pairs: Int32, side: int) -> list[Int32]:
    """The columns of pairs that hold entities of a side."""
    return [pairs[:, at] for at in ((0, 1) if alignment.cardinality is Cardinality.WITHIN else (side,))]


def _linkable_except(alignment: Alignment, side: int, ids: npt.NDArray[np.int32]) -> Bool:
    kept = (alignment.source, alignment.target)[side].linkable.copy()
    kept[ids] = False
    return kept


def _keys(links: Links, width: int) -> npt.NDArray[np.int64]:
    return links.source.astype(np.int64) * width + links.target


def _share(right: int, said: int, true: int) -> PrecisionRecall:
    return PrecisionRecall(right / said if said else 0.0, right / true if true else 0.0)
