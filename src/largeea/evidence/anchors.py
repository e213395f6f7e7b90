"""Anchors: pairs of nodes that are taken to be the same, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph import Float32, Int32, Links


@dataclass(frozen=True, eq=False)
class Anchors:
    """One-to-one pairs between nodes of two graphs, each with a probability."""

    target: Int32
    """The counterpart of each source node, -1 where there is none, `[sources]`."""
    source: Int32
    """The counterpart of each target node, -1 where there is none, `[targets]`."""
    trust: Float32
    """The probability of each source node's pair, 0 where there is none, `[sources]`."""

    @classmethod
    def of(cls, links: Links, sources: int, targets: int) -> Anchors:
        """From one-to-one links; their weight is their probability."""
        target, source = np.full(sources, -1, np.int32), np.full(targets, -1, np.int32)
        trust = np.zeros(sources, np.float32)
        target[links.source], source[links.target] = links.target, links.source
        trust[links.source] = 1 if links.weight is None else links.weight
        return cls(target, source, trust)

    def __len__(self) -> int:
        return int((self.target >= 0).sum())
