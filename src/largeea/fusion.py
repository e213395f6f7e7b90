"""Channel fusion: one matrix `M` out of what each channel found."""

from __future__ import annotations

from largeea.config import FusionConfig
from largeea.similarity import Similarity


def fuse(names: Similarity, config: FusionConfig) -> Similarity:
    """`M`, scaled so that a target many sources are near to is less attractive to each."""
    return names.csls(config.csls) if config.csls else names
