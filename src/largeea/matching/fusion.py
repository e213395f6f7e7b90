"""Channel fusion: combines the channels into one matrix `M`."""

from __future__ import annotations

from functools import reduce
from operator import add

from largeea.matching.sinkhorn import sinkhorn
from largeea.matching.sums import Masks, top_k_of_sum
from largeea.similarity import Similarity

Channels = dict[str, Similarity]
"""The matrix of each kind of evidence, such as "name" or "neighbours"; missing kinds have no entry."""


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


def match_one_to_one(
    channels: Channels,
    weights: dict[str, float],
    top_k: int,
    temperature: float,
    no_match_score: float,
    iterations: int,
    masks: Masks | None = None,
) -> Similarity:
    """Return `M` with evidence: one-to-one matching probabilities from the weighted sum of all channels.

    Only the sources and targets in the masks are matched.
    """
    total = weighted_sum(channels, weights, top_k, masks)
    return sinkhorn(total, temperature, no_match_score, iterations)


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
