"""Channel fusion: combines the channels into one matrix `M`."""

from __future__ import annotations

from functools import reduce
from operator import add

import numpy as np

from largeea.matching.cardinality import Cardinality
from largeea.matching.sinkhorn import sinkhorn
from largeea.matching.sums import Masks, top_k_of_sum
from largeea.similarity import Similarity

Channels = dict[str, Similarity]
"""The matrix of each kind of evidence, such as "name" or "neighbours"; missing kinds have no entry."""
Matching = tuple[dict[str, float], int, float, float, int, str]
"""What `match` takes besides: weights, top k, temperature, no-match score, iterations, cardinality."""
LONE = 8.0
"""Temperature of pairs without competitors, in multiples of that of competing ones. The sum of all channels
is about 3 at most: with this factor, its log odds stay below those that confidence tells apart."""


def fuse(channels: Channels, method: str, csls: int) -> Similarity:
    """Return `M = M_s + M_n`, the paper's fusion, after CSLS over `csls` neighbours (0: without CSLS).

    The method "sum", as in the paper, adds the scores unchanged. "calibrated" rescales each channel to [0, 1]
    first, because channels may have different ranges of scores.
    """
    parts = list(channels.values())
    if method == "calibrated":
        parts = [stretched(channel) for channel in parts]
    fused: Similarity = reduce(add, parts)
    return with_lowest_floor(fused).csls(csls) if csls else fused


def weighted_sum(
    channels: Channels, weights: dict[str, float], top_k: int, masks: Masks | None = None
) -> Similarity:
    """Return the weighted sum of all channels, with the `top_k` best of each source.

    A channel missing in `weights` has weight 1; a channel with weight 0 is left out. Only the sources and
    targets in the masks count.
    """
    counted = {kind: channel for kind, channel in channels.items() if weights.get(kind, 1.0)}
    if not counted:
        return Similarity.empty(next(iter(channels.values())).shape)
    counted_weights = [weights.get(kind, 1.0) for kind in counted]
    return top_k_of_sum(list(counted.values()), top_k, counted_weights, masks=masks)


def match(
    channels: Channels,
    weights: dict[str, float],
    top_k: int,
    temperature: float,
    no_match_score: float,
    iterations: int,
    cardinality: str = Cardinality.ONE_TO_ONE,
    masks: Masks | None = None,
) -> Similarity:
    """Return `M` with evidence: matching probabilities from the weighted sum of all channels.

    One-to-one, rows and columns sum to 1 at most; where only one end competes, rows or columns do; else every
    pair has a probability of its own. Only the sources and targets in the masks are matched.
    """
    total, allowed = weighted_sum(channels, weights, top_k, masks), Cardinality(cardinality)
    if allowed is Cardinality.ONE_TO_ONE:
        return sinkhorn(total, temperature, no_match_score, iterations)
    if allowed.one_target:
        return sinkhorn(total, temperature, no_match_score, 0)
    if allowed.one_source:
        return sinkhorn(total.transpose(), temperature, no_match_score, 0).transpose()
    odds = np.exp((total.scores - no_match_score) / (LONE * temperature))
    return Similarity(total.shape, total.indptr, total.indices, odds / (1 + odds))


def stretched(channel: Similarity) -> Similarity:
    """Rescale the kept scores to [0, 1] by their minimum and maximum; the floor becomes 0."""
    if not len(channel):
        return channel
    lowest, highest = channel.scores.min(), channel.scores.max()
    scores = (channel.scores - lowest) / (highest - lowest or 1)
    return Similarity(channel.shape, channel.indptr, channel.indices, scores, 0.0)


def with_lowest_floor(channel: Similarity) -> Similarity:
    """Return the same scores with the lowest kept score as floor.

    CSLS averages over neighbours. Entries that were not kept are only a little worse than the kept ones; with
    0 instead, a target with few kept entries would get a low mean and be ranked too high.
    """
    floor = float(channel.scores.min()) if len(channel) else channel.floor
    return Similarity(channel.shape, channel.indptr, channel.indices, channel.scores, floor)
