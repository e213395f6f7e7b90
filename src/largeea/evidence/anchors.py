"""Anchors: pairs that are taken to be the same in a round, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph import Bool, Float32, Int32, Links
from largeea.matching.cardinality import Cardinality
from largeea.matching.forbidden import without_pairs
from largeea.similarity import Similarity

LEAST_LIKELY = 0.02
"""With a smaller share of likely pairs among those that are each other's best, there is no beginning."""


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


def choose_anchors(
    probabilities: Similarity | None,
    seeds: Links,
    margin: float,
    cardinality: str = Cardinality.ONE_TO_ONE,
) -> Links:
    """The seeds, and pairs that are each other's best, likely, and well ahead of the second.

    `probabilities` are those of a matching; None where there is nothing to match by yet. A pair is ahead of
    what it competes with: the other candidates of its source or, if only targets compete, of its target.
    Where hardly any pair is, as where everything has a double of almost the same name, the half that is
    furthest ahead has to do for a beginning.
    """
    trust = np.ones(len(seeds), np.float32) if seeds.weight is None else seeds.weight
    if probabilities is None:
        return Links(seeds.pairs, trust)
    mutual = probabilities.mutual_best()
    if Cardinality(cardinality).one_target:
        lead = probabilities.margins()[mutual.source]
    else:
        lead = probabilities.transpose().margins()[mutual.target]
    assert mutual.weight is not None
    is_likely = (lead >= margin) & (mutual.weight >= 0.5)
    if len(seeds) + is_likely.sum() < LEAST_LIKELY * len(mutual):
        is_likely = (lead > 0) & (lead >= np.median(lead))
    likely = mutual.take(is_likely)
    likely = likely.take(~np.isin(likely.source, seeds.source) & ~np.isin(likely.target, seeds.target))
    return Links(np.concatenate([seeds.pairs, likely.pairs]), np.concatenate([trust, likely.weight]))


def agreeing_pairs(names: Similarity, others: Similarity, seeds: Links) -> Links:
    """The seeds, and pairs that are each other's best by names and by other evidence; all have weight 1.

    Within one graph, most entities have no duplicate, and the best by either alone is often another thing of
    the same name, or of the same place. Both are hardly ever wrong about the same pair. Where several are
    equally good by names, the others decide.
    """
    best = others.mutual_best()
    both = best.take(_unsurpassed(best, names))
    both = both.take(~np.isin(both.source, seeds.source) & ~np.isin(both.target, seeds.target))
    return Links(np.concatenate([seeds.pairs, both.pairs]), np.ones(len(seeds) + len(both), np.float32))


def _unsurpassed(links: Links, similarity: Similarity) -> Bool:
    """Whether no other candidate of either end has a higher score, `[n]`."""
    scores = similarity.score_of(links)
    of_source, of_target = similarity.best()[1], similarity.transpose().best()[1]
    unsurpassed: Bool = (scores > similarity.floor) & (scores >= of_source[links.source])
    return unsurpassed & (scores >= of_target[links.target])


def share_of_new(before: Links, after: Links) -> float:
    """The share of the anchors that was not there before."""
    if not len(after):
        return 0.0
    shape = tuple(
        1 + max(before.pairs[:, side].max(initial=0), after.pairs[:, side].max()) for side in (0, 1)
    )
    old = Similarity.from_entries(before.source, before.target, np.ones(len(before)), shape)
    return 1 - np.count_nonzero(old.score_of(after)) / len(after)


def without_seeds(
    similarity: Similarity, seeds: Links, cardinality: str = Cardinality.ONE_TO_ONE
) -> Similarity:
    """Only pairs that the seeds leave open: no end that may have one counterpart has a seed."""
    if not len(seeds):
        return similarity
    allowed, free = Cardinality(cardinality), not_in(seeds, similarity.shape)
    left = similarity.restrict(
        free[0] if allowed.one_target else None, free[1] if allowed.one_source else None
    )
    return without_pairs(left, seeds)


def all_but(links: Links, some: Links) -> Links:
    """The links whose source is in none of some others."""
    return links.take(~np.isin(links.source, some.source))


def not_in(links: Links, shape: tuple[int, int]) -> tuple[Bool, Bool]:
    """Which source and target entities are in none of the links."""
    free = np.ones(shape[0], bool), np.ones(shape[1], bool)
    free[0][links.source], free[1][links.target] = False, False
    return free
