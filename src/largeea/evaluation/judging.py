"""Precision, recall and calibration of the pairs of an answer, its clusters, and the entities left over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from largeea.evaluation.measures import PrecisionRecall, Reliability
from largeea.graph import Bool, Int32, Links
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.matching.clusters import b_cubed_agreement, cluster_numbers, pairwise_agreement


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


def without_known(links: Links, known: Links) -> Links:
    """Return the links that are not known."""
    return links.take(~links.are_in(known))


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


def accepted_pairs(alignment: Alignment, test: Links, seeds: Links) -> PrecisionRecall:
    """Return precision and recall of the accepted pairs; seeds are excluded from pairs and test links."""
    emitted, true = (np.setdiff1d(links.keys, seeds.keys) for links in (alignment.links, test))
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
    pairs = Links(alignment.pairs)
    new = ~pairs.are_in(seeds)
    return Reliability.of(alignment.confidence[new].astype(np.float64), pairs.are_in(test)[new])


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
    new = without_known(found, given)
    judged = new.take(np.isin(new.source, test.source) | np.isin(new.target, test.target))
    right = judged.are_in(test)
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


def _share(right: int, said: int, true: int) -> PrecisionRecall:
    return PrecisionRecall(right / said if said else 0.0, right / true if true else 0.0)
