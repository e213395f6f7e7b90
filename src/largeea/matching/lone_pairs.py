"""Confidence where no candidates compete: how likely each pair is right, whatever other pairs say."""

from __future__ import annotations

import numpy as np

from largeea.graph import Bool, Float64, Int64, Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.confidence import LEAST_WRONG, MOST_PAIRS, lowered
from largeea.matching.fusion import Channels, match
from largeea.matching.mixture import Labelled, fit_contrast, fit_mixture
from largeea.progress import note
from largeea.similarity import Similarity

NEAREST = 10
"""Best candidates of each source that the mixture is fitted to; of others, hardly any is right."""
TAIL = 0.003
"""Share of the wrong pairs above the score from which on pairs are counted as right."""
TOP = 0.1
"""Share of the wrong pairs that the mixture is fitted to: those that score highest, as right pairs do."""


def likelihood_by_anchors(
    channels: Channels,
    anchors: Links,
    weights: dict[str, float],
    top_k: int,
    temperature: float,
    no_match_score: float,
    equal_names: float,
    reviewed: Links | None,
    cardinality: str,
) -> Similarity:
    """Return the probability that each candidate pair is right, `[sources, targets]`.

    Anchors are right, and pairs of entities that anchors keep apart are wrong (see `_kept_apart`). What tells
    one from the other is the score of a pair (`fit_contrast`). A mixture (`fit_mixture`) turns it into a
    probability: of all other pairs, as many are right as score higher than the wrong ones do. What people say
    of the `reviewed` pairs is added. Main names are equal above the score `equal_names`.
    """
    allowed = Cardinality(cardinality)
    matched = match(channels, weights, top_k, temperature, no_match_score, 0, allowed)
    few = matched.top_k(NEAREST)
    pairs = Links(np.column_stack([few.rows, few.indices]))
    is_wrong = _kept_apart(pairs, anchors, matched, allowed is Cardinality.WITHIN)
    if min(TOP * is_wrong.sum(), len(anchors)) < LEAST_WRONG or is_wrong.all():
        return lowered(_sharing_something(matched, channels), channels)
    kinds = [kind for kind in channels if kind != "name"] if allowed is Cardinality.WITHIN else []

    def variables(links: Links) -> Float64:
        return _variables(matched, channels, kinds, equal_names, links)

    wrong = variables(pairs.take(_some(is_wrong)))
    slopes = fit_contrast(variables(anchors), wrong)
    others, apart = (variables(pairs.take(_some(~is_wrong))) @ slopes)[:, None], (wrong @ slopes)[:, None]
    tail, top = np.quantile(apart, (1 - TAIL, 1 - TOP))
    right = ((others > tail).mean() - TAIL) / (1 - TAIL) * len(others)
    others, apart = others[others > top][:, None], apart[apart > top][:, None]
    labelled = None
    if reviewed is not None and reviewed.weight is not None:
        known = reviewed.take(reviewed.are_in(pairs))
        assert known.weight is not None
        labelled = Labelled((variables(known) @ slopes)[:, None], known.weight > 0)
    mixture = fit_mixture(others, apart, labelled, wrong_share=1 - right / max(len(others), 1))
    chance = mixture.chance([others[:, 0]])  # counts right pairs that score no higher than wrong ones, too
    mixture = fit_mixture(others, apart, labelled, wrong_share=1 - float(chance.mean()))
    note(f"{1 - mixture.wrong_share:.1%} of the {len(others):,} best candidates are right")
    chances = np.empty(len(matched), np.float32)
    for first in range(0, len(matched), MOST_PAIRS):
        block = slice(first, first + MOST_PAIRS)
        some = Links(np.column_stack([matched.rows[block], matched.indices[block]]))
        chances[block] = mixture.chance([variables(some) @ slopes])
    return Similarity(matched.shape, matched.indptr, matched.indices, chances)


def _sharing_something(matched: Similarity, channels: Channels) -> Similarity:
    """The probabilities, halved where the ends of a pair share no neighbour, if any pair does."""
    near = channels.get("neighbours")
    if near is None or not len(near):
        return matched
    scores = np.where(near.scores_on(matched) > 0, matched.scores, matched.scores / 2)
    return Similarity(matched.shape, matched.indptr, matched.indices, scores)


def _kept_apart(pairs: Links, anchors: Links, matched: Similarity, within: bool) -> Bool:
    """Which pairs are wrong as surely as anchors are right, `[n]`: both ends have another anchor.

    Within one graph, a thing may have more than two duplicates, so a pair that scores as high as one of these
    anchors is not counted. An entity without an anchor is kept apart from the ends of all anchors but that of
    its best candidate.
    """
    target, source = (np.full(size, -1) for size in matched.shape)
    target[anchors.source], source[anchors.target] = anchors.target, anchors.source
    if within:
        target = source = np.where(target >= 0, target, source)
    theirs, ours = target[pairs.source], source[pairs.target]
    apart: Bool = (theirs >= 0) & (ours >= 0) & (theirs != pairs.target)
    if within:
        some = pairs.take(apart)
        own = np.column_stack([some.source, theirs[apart]]), np.column_stack([ours[apart], some.target])
        anchored = np.minimum(*(matched.score_of(Links(ends)) for ends in own))
        apart[apart] = matched.score_of(some) < anchored
        best = matched.best()[0][pairs.source]
        apart |= (theirs < 0) & (ours >= 0) & (best != pairs.target) & (best != ours)
    return apart


def _variables(
    matched: Similarity, channels: Channels, kinds: list[str], equal_names: float, links: Links
) -> Float64:
    """What is known of pairs: log odds of the weighted sum, names, and the scores of some channels, `[n, d]`.

    The fourth power of a name score lets the slope grow towards equal names.
    """
    chance = np.clip(matched.score_of(links), 1e-6, 1 - 1e-6)
    found = [np.log(chance / (1 - chance))]
    if "name" in channels:
        name = channels["name"].score_of(links)
        found += [name, name**4, (name > equal_names).astype(np.float32)]
    return np.column_stack(found + [channels[kind].score_of(links) for kind in kinds]).astype(np.float64)


def _some(mask: Bool) -> Int64:
    """Positions in a mask, at most `MOST_PAIRS`, evenly spread."""
    places = np.flatnonzero(mask)
    return places[:: max(1, -(-len(places) // MOST_PAIRS))]
