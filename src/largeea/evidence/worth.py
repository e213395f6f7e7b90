"""How much a kind of evidence tells, measured without labels on pairs that names or seeds are sure of."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Arrays, Float64, Int64, Links
from largeea.randomness import generator
from largeea.similarity import Similarity

MOST_PAIRS = 2000
"""Sure pairs that are looked at."""
ENOUGH_KNOWN = 100
"""Known pairs from which on they are judged by, instead of anchors by name."""
PRIOR, NAMES_PRIOR = 0.5, 1.0
"""Worth of evidence, and of names, before anything was measured."""
PRIOR_PAIRS = 10
"""How many pairs that counts as."""
LEAST_LEAD = 0.2
"""Cosine by which a pair that structure is sure of is ahead of the second."""
LEAST_GAIN = 0.03
"""What translated names tell beyond names, as a share of the entropy, from which on they count."""
RATIOS = (0.5, 1.0, 2.0, 4.0)
"""Weights of translated names next to names that are tried."""
STRUCTURAL = ("neighbours", "surroundings")
_STEEPEST, _LEAST_CHANCE = 1000.0, 1e-30
"""Bounds of the slope of a logistic choice, and of the chance of the right one."""
Views = tuple[Similarity, Similarity]
"""The rows of the sure sources, `[pairs, targets]`, and the columns of their targets, `[pairs, sources]`."""


def known_judges(known: Links, kinds: Arrays, seed: int) -> Links:
    """At most `MOST_PAIRS` of the known pairs whose entities are matched, and so have scores."""
    return pairs_to_judge(known.take(kinds["source"][known.source] >= 0), seed)


def pairs_to_judge(sure: Links, seed: int) -> Links:
    """At most `MOST_PAIRS` of some sure pairs, drawn at random, to measure worth on them."""
    order = generator(seed, "worth").permutation(len(sure))[:MOST_PAIRS]
    return sure.take(np.sort(order))


def measure_worth(
    evidence: dict[str, Similarity],
    names: Similarity,
    weights: dict[str, float],
    candidates: list[Similarity],
    judged: Links,
    anchors: Links,
    seed: int,
) -> Arrays:
    """Return the worth of each kind of evidence, float64 `[1]` each.

    A sure pair stands among the other candidates of its source, and of its target. Evidence that tells which
    candidate is the right one removes all uncertainty (worth 1); evidence that does not removes none (0). In
    between, worth is the share of the entropy that is removed: McFadden's pseudo-R2 of a logistic choice
    with the evidence as its only variable. Both kinds of structural evidence are judged together.

    The sure pairs are the `judged` ones, which are known, if there are enough; else those of the `anchors`
    that names are sure of, so that evidence does not choose the pairs that it is judged by.
    """
    sure = pairs_to_judge(judged if _enough(judged) else sure_by_name(anchors, names), seed)
    others = [_around(one, sure) for one in candidates]
    worth: Arrays = {}
    for group in (STRUCTURAL, *((kind,) for kind in evidence if kind not in STRUCTURAL)):
        parts = [_around(evidence[kind], sure, weights[kind]) for kind in group if weights.get(kind)]
        share = _share_told(parts, others, sure, PRIOR) if parts else 0.0
        worth |= {kind: np.round([share], 3) for kind in group}
    return worth


def measure_names(
    names: Similarity, evidence: dict[str, Similarity], candidates: list[Similarity], judged: Links, seed: int
) -> Arrays:
    """Return the `worth` of names, float64 `[1]`, as `measure_worth` does that of other evidence.

    Without enough known pairs, names are judged by the pairs that structure is sure of. That holds in the
    first round only: later, structure has chosen some of the anchors that it is drawn from.
    """
    structure = (evidence[kind] for kind in STRUCTURAL)
    sure = pairs_to_judge(judged if _enough(judged) else sure_by_structure(*structure), seed)
    others = [_around(one, sure) for one in candidates]
    return {"worth": np.round([_share_told([_around(names, sure)], others, sure, NAMES_PRIOR)], 3)}


def measure_learnt(
    learnt: Similarity,
    names: Similarity,
    evidence: dict[str, Similarity],
    candidates: list[Similarity],
    judged: Links,
    seed: int,
) -> Arrays:
    """Return the `worth` of names that are translated by what anchors teach, float64 `[1]`, and two others.

    It is the share of what names leave untold that both together tell, with the best of some `RATIOS`. Where
    both tell hardly more than names alone, it is 0. `names` is what names tell alone, and `together` what
    both do. The judges are those of `measure_names`, but of this round: names tell less about pairs that
    structure finds later.
    """
    structure = (evidence[kind] for kind in STRUCTURAL)
    sure = pairs_to_judge(judged if _enough(judged) else sure_by_structure(*structure), seed)
    others = [_around(one, sure) for one in candidates]
    by_name, (rows, columns) = _around(names, sure), _around(learnt, sure)
    alone = _share_told([by_name], others, sure, NAMES_PRIOR)
    mixed = ([by_name, (rows.scale(ratio), columns.scale(ratio))] for ratio in RATIOS)
    together = max(_share_told(both, others, sure, NAMES_PRIOR) for both in mixed)
    gain = together - alone
    told = {
        "worth": gain / (1 - alone) if gain >= LEAST_GAIN else 0.0,
        "names": alone,
        "together": together,
    }
    return {kind: np.round([share], 3) for kind, share in told.items()}


def sure_by_name(anchors: Links, names: Similarity) -> Links:
    """The half of the anchors with the most similar names: of the others, more are wrong."""
    score = names.score_of(anchors)
    return anchors.take(score >= np.median(score)) if len(anchors) else anchors


def sure_by_structure(neighbours: Similarity, surroundings: Similarity) -> Links:
    """Pairs that are each other's best by neighbours, and likely, and well ahead by surroundings."""
    best = neighbours.mutual_best()
    also = surroundings.best()[0][best.source] == best.target
    also &= surroundings.margins()[best.source] >= LEAST_LEAD
    assert best.weight is not None
    return best.take(also & (best.weight >= 0.5))


def _enough(judged: Links) -> bool:
    return len(judged) >= ENOUGH_KNOWN


def _around(matrix: Similarity, sure: Links, weight: float = 1.0) -> Views:
    """A matrix as the sure pairs see it."""
    some, place = np.unique(sure.target, return_inverse=True)
    row_of = np.full(matrix.shape[1], -1)
    row_of[some] = np.arange(len(some))
    few = matrix.restrict(targets=row_of >= 0)
    columns = Similarity.from_entries(
        row_of[few.indices], few.rows, few.scores, (len(some), matrix.shape[0]), matrix.floor
    )
    return matrix.take(sure.source).scale(weight), columns.take(place.astype(np.int32)).scale(weight)


def _share_told(parts: list[Views], candidates: list[Views], sure: Links, prior: float) -> float:
    """The worth of the sum of some matrices, seen from both graphs."""
    told = [(prior, PRIOR_PAIRS)]
    for side, links in enumerate((sure, sure.reversed())):
        scores, others = ([views[side] for views in some] for some in (parts, candidates))
        told.append(_entropy_removed(_total(scores), _total(scores + others), links))
    return float(np.average([share for share, _ in told], weights=[pairs for _, pairs in told]))


def _total(matrices: list[Similarity]) -> Similarity:
    return sum(matrices[1:], matrices[0])


def _entropy_removed(scores: Similarity, candidates: Similarity, sure: Links) -> tuple[float, int]:
    """The share of entropy that the best logistic choice by these scores removes, and the pairs judged."""
    group, lengths = candidates.rows, np.diff(candidates.indptr)
    is_right = candidates.indices == sure.target[group]
    judged = np.zeros(len(sure), bool)
    judged[group[is_right]] = True
    judged &= lengths > 1
    kept = judged[group]
    group, is_right = group[kept], is_right[kept]
    if not len(group):
        return 0.0, 0
    value = scores.scores_on(candidates)[kept].astype(np.float64)
    pointers = np.append(np.flatnonzero(np.diff(group, prepend=-1)), len(group))
    before = np.log(lengths[judged]).mean()
    after = least_loss(value, pointers, value[is_right])
    return float(np.clip(1 - after / before, 0, 1)), int(judged.sum())


@njit(cache=True, nogil=True)
def least_loss(value: Float64, pointers: Int64, right: Float64) -> float:
    """The mean of `-log(chance of the right entry)` over groups of entries, by the best slope.

    The chances are the softmax of `slope * value` within a group; `right[groups]` are the values of the right
    entries. The loss is convex in the slope: Newton's steps, halved intervals where a step leads out of them.
    """
    low, high, slope = 0.0, _STEEPEST, 1.0
    for _ in range(50):
        excess, spread = -right.sum(), 0.0
        for group in range(len(right)):
            total, first, second = softmax_sums(value[pointers[group] : pointers[group + 1]], slope)
            excess += first / total
            spread += second / total - (first / total) ** 2
        if excess > 0:
            high = slope
        else:
            low = slope
        step = slope - excess / spread if spread > 0 else high
        step = step if low < step < high else (low + high) / 2
        if abs(step - slope) < 1e-3:
            break
        slope = step
    loss = 0.0
    for group in range(len(right)):
        entries = value[pointers[group] : pointers[group + 1]]
        total = softmax_sums(entries, slope)[0]
        loss += min(np.log(total) - slope * (right[group] - entries.max()), -np.log(_LEAST_CHANCE))
    return float(loss / len(right))


@njit(cache=True, nogil=True)
def softmax_sums(entries: Float64, slope: float) -> tuple[float, float, float]:
    """The sums of `exp(slope * (entry - highest))`, and of these times the entry and times its square."""
    highest = entries.max()
    total, first, second = 0.0, 0.0, 0.0
    for entry in entries:
        weight = np.exp(slope * (entry - highest))
        total += weight
        first += weight * entry
        second += weight * entry * entry
    return total, first, second
