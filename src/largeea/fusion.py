"""Channel fusion: one matrix `M` out of what each channel found."""

from __future__ import annotations

from functools import reduce
from operator import add

from largeea.config import FusionConfig
from largeea.similarity import Similarity


def fuse(channels: list[Similarity], config: FusionConfig) -> Similarity:
    """`M = M_s + M_n`, scaled so that a target many sources are near to is less attractive to each."""
    fused: Similarity = reduce(add, channels)
    return fused.csls(config.csls) if config.csls else fused
