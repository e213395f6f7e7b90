"""Channel fusion: one matrix `M` out of what each channel found."""

from __future__ import annotations

from functools import reduce
from operator import add

from largeea.config import FusionConfig
from largeea.similarity import Similarity


def fuse(channels: list[Similarity], config: FusionConfig) -> Similarity:
    """`M = M_s + M_n`, scaled so that a target many sources are near to is less attractive to each.

    The scores of a channel may all be high or all be low. "sum", the paper's, adds them as they are;
    "calibrated" stretches each channel first, so that what it thinks worst and best counts the same in all.
    """
    if config.method == "calibrated":
        channels = [stretched(channel) for channel in channels]
    fused: Similarity = reduce(add, channels)
    return tight(fused).csls(config.csls) if config.csls else fused


def stretched(channel: Similarity) -> Similarity:
    """The channel's lowest kept score becomes 0, like those it has not kept, and its highest 1."""
    if not len(channel):
        return channel
    lowest, highest = channel.scores.min(), channel.scores.max()
    scores = (channel.scores - lowest) / (highest - lowest or 1)
    return Similarity(channel.shape, channel.indptr, channel.indices, scores, 0.0)


def tight(channel: Similarity) -> Similarity:
    """The same scores, but an absent one counts as the lowest of them.

    Local scaling averages over neighbours. Those that were not kept are little worse than those that were; as
    0 they would make every target that few sources know look lonely, and so attractive.
    """
    floor = float(channel.scores.min()) if len(channel) else channel.floor
    return Similarity(channel.shape, channel.indptr, channel.indices, channel.scores, floor)
