"""Knock-outs: what pairs look like that are surely wrong, because the right counterpart was taken away.

Nobody can tell which entities have no counterpart. But if the counterpart of an entity is taken away, all
pairs it is still in are wrong: they show what wrong pairs score in these two graphs.
"""

from __future__ import annotations

import numpy as np

from largeea.graph import Arrays, Bool, Links
from largeea.matching.cardinality import Cardinality, best_of_sources
from largeea.matching.forbidden import without_links
from largeea.randomness import generator
from largeea.similarity import Similarity

SHARE = 0.15
"""Share of the pairs whose target is taken away, and of those whose source is."""
NO_PAIRS = np.empty((0, 2), np.int32)


def knock_outs(
    fused: Similarity, known: Links, seed: int, cardinality: str = Cardinality.ONE_TO_ONE
) -> Arrays:
    """Choose pairs, found and known ones, to be taken apart: int32 `[n, 2]` each.

    `without_target` are the pairs whose target is taken away, `without_source` those whose source is. What is
    taken away must leave no other counterpart: a target that several sources may have is taken from all.
    """
    allowed, random = Cardinality(cardinality), generator(seed, "knock-outs")
    if allowed is Cardinality.ONE_TO_MANY:
        swapped = knock_outs(fused.transpose(), known.reversed(), seed, Cardinality.MANY_TO_ONE)
        return {"without_target": NO_PAIRS, "without_source": swapped["without_target"][:, ::-1]}
    if allowed is Cardinality.MANY_TO_ONE:
        pairs = np.concatenate([best_of_sources(fused).pairs, known.pairs])
        targets = random.permutation(np.unique(pairs[:, 1]))
        count = int(np.ceil(2 * SHARE * len(targets))) if len(targets) > 1 else 0
        return {
            "without_target": pairs[np.isin(pairs[:, 1], targets[:count])],
            "without_source": NO_PAIRS,
        }
    pairs = np.concatenate([fused.mutual_best().pairs, known.pairs])
    order = random.permutation(len(pairs))
    count = int(np.ceil(SHARE * len(pairs))) if len(pairs) > 1 else 0
    return {"without_target": pairs[order[:count]], "without_source": pairs[order[count : 2 * count]]}


def spared(links: Links, knocked_out: Arrays, reviewed: Links | None) -> Links:
    """Return the links that have no entity in a knocked-out pair and were not reviewed."""
    pairs = np.concatenate(list(knocked_out.values()))
    touched = np.isin(links.source, pairs[:, 0]) | np.isin(links.target, pairs[:, 1])
    left = links.take(~touched)
    return left if reviewed is None else without_links(left, reviewed)


def taken_away(knocked_out: Arrays, shape: tuple[int, int]) -> tuple[Bool, Bool]:
    """Return the masks of the sources and targets that are taken away."""
    return _mask(knocked_out["without_source"][:, 0], shape[0]), _mask(
        knocked_out["without_target"][:, 1], shape[1]
    )


def left_alone(knocked_out: Arrays, shape: tuple[int, int]) -> tuple[Bool, Bool]:
    """Return the masks of the sources and targets whose counterpart is taken away."""
    return _mask(knocked_out["without_target"][:, 0], shape[0]), _mask(
        knocked_out["without_source"][:, 1], shape[1]
    )


def knocked_out_pairs(knocked_out: Arrays, links: Links, shape: tuple[int, int]) -> Links:
    """Return the knocked-out pair of an end of each link, which was left alone."""
    target, source = np.full(shape[0], -1, np.int32), np.full(shape[1], -1, np.int32)
    target[knocked_out["without_target"][:, 0]] = knocked_out["without_target"][:, 1]
    source[knocked_out["without_source"][:, 1]] = knocked_out["without_source"][:, 0]
    by_source = target[links.source] >= 0
    return Links(
        np.column_stack(
            [
                np.where(by_source, links.source, source[links.target]),
                np.where(by_source, target[links.source], links.target),
            ]
        )
    )


def _mask(ids: np.ndarray, size: int) -> Bool:
    mask = np.zeros(size, bool)
    mask[ids] = True
    return mask
