"""Confidence: the probability that each pair is right, calibrated with knock-outs instead of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from largeea.execution.jobs import over_rows
from largeea.graph import Arrays, Float32, Float64, Links
from largeea.matching.fusion import Channels, match_one_to_one
from largeea.matching.knockouts import left_alone, taken_away
from largeea.matching.mixture import Mixture, fit_mixture
from largeea.progress import note
from largeea.similarity import Similarity

LEAST_WRONG_PAIRS = 10
"""With fewer knocked-out pairs, there is too little to learn from."""
MOST_PAIRS = 50_000
"""Found pairs, and as many wrong ones, that the mixture is fitted to."""
_STEEP = 4
"""A power of the name score, so that its slope may grow towards equal names."""
_MOST_LOG_ODDS = 6.0


def likelihood(
    channels: Channels,
    fused: Similarity,
    trial: Channels,
    knocked_out: Arrays,
    weights: dict[str, float],
    top_k: int,
    temperature: float,
    no_match_score: float,
    iterations: int,
    equal_names: float,
) -> Similarity:
    """Return the probability that each candidate pair is right, `[sources, targets]`.

    `trial` holds the channels without the anchors in `knocked_out`. In the trial, entities whose counterpart
    was taken away are matched like all others: their pairs are surely wrong. A mixture (`fit_mixture`) tells
    them from the other pairs by their scores and by the probability of a one-to-one matching. Its chances
    hold for entities with and without a counterpart. They are lowered where two candidates are equally good
    in `fused`, the sharp matching that ranks pairs. Main names are equal above the score `equal_names`.
    """
    matching = weights, top_k, temperature, no_match_score, iterations
    matched = match_one_to_one(channels, *matching)
    gone, alone = taken_away(knocked_out, matched.shape), left_alone(knocked_out, matched.shape)
    tried = match_one_to_one(
        {kind: channel.restrict(~gone[0], ~gone[1]) for kind, channel in trial.items()}, *matching
    )
    pairs = tried.mutual_best()
    is_wrong = alone[0][pairs.source] | alone[1][pairs.target]
    if is_wrong.sum() < LEAST_WRONG_PAIRS or is_wrong.all():
        return _lowered(matched, channels)
    found, wrong = (
        _matrix(_variables(trial, tried, equal_names, _score_of(_some(pairs.take(mask)))))
        for mask in (~is_wrong, is_wrong)
    )
    mixture = fit_mixture(found, wrong)
    note(f"by {len(wrong):,} knock-outs, {mixture.wrong_share:.1%} of the best pairs are wrong")
    chances = np.empty(len(matched), np.float32)
    over_rows(
        _fill_chances, matched.shape[0], matched, channels, equal_names, mixture, chances, least=1 << 15
    )
    chances *= _without_equals(fused, matched)
    return Similarity(matched.shape, matched.indptr, matched.indices, chances)


def _fill_chances(
    first: int,
    last: int,
    matched: Similarity,
    channels: Channels,
    equal_names: float,
    mixture: Mixture,
    chances: Float32,
) -> None:
    """Write the probabilities of the pairs in the rows `first:last`."""
    pairs = matched.block(first, last)
    parts = {kind: channel.block(first, last) for kind, channel in channels.items()}
    variables = _variables(parts, pairs, equal_names, lambda one: one.scores_on(pairs))
    chances[matched.indptr[first] : matched.indptr[last]] = mixture.chance(variables)


def _without_equals(fused: Similarity, pattern: Similarity) -> Float64:
    """A factor for each pair of `pattern`: 1 if it is clearly the best of its ends, 0.5 if it has an equal.

    Knock-outs show what pairs look like whose counterpart is missing, not how often equals are mixed up.
    """
    chance = fused.scores_on(pattern)
    of_source = np.repeat(np.bincount(pattern.rows, chance, pattern.shape[0]), np.diff(pattern.indptr))
    of_target = np.bincount(pattern.indices, chance, pattern.shape[1])[pattern.indices]
    share = chance / np.maximum(np.maximum(of_source, of_target), 1e-30)
    return np.asarray(np.clip(2 * share - 0.5, 0, 1))


def _lowered(matched: Similarity, channels: Channels) -> Similarity:
    """Matching probabilities, lowered where neither names nor neighbours agree well.

    For graphs too small for knock-outs: without competitors, any candidate has a high probability.
    """
    agreed = [channels[kind].scores_on(matched) for kind in ("name", "neighbours") if kind in channels]
    if not agreed:
        return matched
    scores = matched.scores * np.max(agreed, axis=0) ** 2
    return Similarity(matched.shape, matched.indptr, matched.indices, scores)


def _variables(
    channels: Channels,
    matched: Similarity,
    equal_names: float,
    score: Callable[[Similarity], Float32],
) -> Iterator[Float64]:
    """What the mixture knows of each pair, one column at a time: log odds in the matching, name scores.

    Structure counts through the matching alone: wrong pairs that are anchors support each other, so that
    their structural scores are higher than those of knocked-out pairs.
    """
    chance = np.clip(score(matched).astype(np.float64), 1e-9, 1 - 1e-9)
    yield np.clip(np.log(chance / (1 - chance)), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
    if "name" in channels:
        name = score(channels["name"]).astype(np.float64)
        yield name
        yield name**_STEEP
        yield (name > equal_names).astype(np.float64)


def _score_of(links: Links) -> Callable[[Similarity], Float32]:
    return lambda matrix: matrix.score_of(links)


def _matrix(columns: Iterator[Float64]) -> Float64:
    return np.column_stack(list(columns))


def _some(links: Links) -> Links:
    """At most `MOST_PAIRS` of the links, evenly spread."""
    step = max(1, -(-len(links) // MOST_PAIRS))
    return links.take(np.arange(0, len(links), step))
