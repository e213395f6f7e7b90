"""Anchors: pairs that are taken to be the same in a round, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph import Bool, Float32, Int32, Links
from largeea.similarity import Similarity


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
    def of(cls, links: Links, sources: int, targets: int, values: int = 0) -> Anchors:
        """From one-to-one links, whose weight is their probability.

        Behind the entities of both graphs come `values` literal values that both have: surely the same.
        """
        target, source = np.full(sources + values, -1, np.int32), np.full(targets + values, -1, np.int32)
        trust = np.zeros(sources + values, np.float32)
        target[links.source], source[links.target] = links.target, links.source
        trust[links.source] = 1 if links.weight is None else links.weight
        target[sources:], source[targets:] = np.arange(values) + targets, np.arange(values) + sources
        trust[sources:] = 1
        return cls(target, source, trust)

    def __len__(self) -> int:
        return int((self.target >= 0).sum())


def choose_anchors(probabilities: Similarity | None, seeds: Links, margin: float) -> Links:
    """The seeds, and pairs that are each other's best, likely, and well ahead of the second.

    `probabilities` are those of a one-to-one matching; None where there is nothing to match by yet.
    """
    trust = np.ones(len(seeds), np.float32) if seeds.weight is None else seeds.weight
    if probabilities is None:
        return Links(seeds.pairs, trust)
    mutual = probabilities.mutual_best()
    ahead = probabilities.margins()[mutual.source] >= margin
    assert mutual.weight is not None
    likely = mutual.take(ahead & (mutual.weight >= 0.5))
    return Links(np.concatenate([seeds.pairs, likely.pairs]), np.concatenate([trust, likely.weight]))


def share_of_new(before: Links, after: Links) -> float:
    """The share of the anchors that was not there before."""
    if not len(after):
        return 0.0
    shape = tuple(
        1 + max(before.pairs[:, side].max(initial=0), after.pairs[:, side].max()) for side in (0, 1)
    )
    old = Similarity.from_entries(before.source, before.target, np.ones(len(before)), shape)
    return 1 - np.count_nonzero(old.score_of(after)) / len(after)


def without_seeds(similarity: Similarity, seeds: Links) -> Similarity:
    """Only pairs of which neither end has a seed."""
    if not len(seeds):
        return similarity
    return similarity.restrict(*not_in(seeds, similarity.shape))


def all_but(links: Links, some: Links) -> Links:
    """The links whose source is in none of some others."""
    return links.take(~np.isin(links.source, some.source))


def not_in(links: Links, shape: tuple[int, int]) -> tuple[Bool, Bool]:
    """Which source and target entities are in none of the links."""
    free = np.ones(shape[0], bool), np.ones(shape[1], bool)
    free[0][links.source], free[1][links.target] = False, False
    return free
