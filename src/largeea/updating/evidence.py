"""Anchors that still hold, and surroundings compared again where they changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from largeea.evidence import choose_anchors, without_seeds
from largeea.evidence.graphs import GraphPair
from largeea.evidence.labels import FIRST_SKETCHES
from largeea.evidence.propagation import surroundings_of
from largeea.formats.links import GivenPairs
from largeea.graph import Arrays, Bool, Links
from largeea.matching.forbidden import without_pairs
from largeea.matching.fusion import match
from largeea.matching.sums import top_k_of_sum
from largeea.similarity import Similarity
from largeea.updating.moved import SIDES, moved_matrix

MOSTLY = 0.5
"""Share of its triples and literals from which on an entity's surroundings are others than before."""


def anchors_that_hold(
    old: Similarity,
    moved: Arrays,
    given: Arrays,
    first: dict[str, Similarity],
    matching: tuple[Any, ...],
    known: Links,
    *how: Any,
) -> Links:
    """`choose_anchors` by the old matching probabilities and, for new entities, by a matching of their own.

    The `first` channels, which the first anchors of a full run are chosen by, are matched with the settings
    `matching`, as far as new entities and candidates without an anchor are concerned.
    """
    before = without_pairs(moved_matrix(old, moved), GivenPairs.from_arrays(given).forbidden)
    held = choose_anchors(without_seeds(before, known), known, *how)
    new = [_new_entities(moved, side) for side in SIDES]
    if not (first and any(side.any() for side in new)):
        return held
    free = {kind: without_seeds(channel, held) for kind, channel in first.items()}
    of_new = {
        kind: channel.keep(new[0][channel.rows] | new[1][channel.indices]) for kind, channel in free.items()
    }
    return choose_anchors(match(of_new, {}, *matching), held, *how)


def _new_entities(moved: Arrays, side: str) -> Bool:
    """Mask of the entities that the earlier graph does not have, `[size]`."""
    new = np.ones(len(moved[f"changed_{side}"]), bool)
    new[moved[side][moved[side] >= 0]] = False
    return new


def surroundings_again(
    old: Similarity,
    moved: Arrays,
    edges: dict[str, Any],
    anchors: Links,
    agreement: Similarity,
    candidates: list[Similarity],
    top_k: int,
    sketches: int,
    label_width: int,
    seed: int,
) -> Similarity:
    """`surroundings_evidence`: old cosines, new ones for new pairs and for entities of which half changed.

    The new ones are by `FIRST_SKETCHES`: to spread labels over both graphs takes as long for few pairs as for
    all.
    """
    pairs = top_k_of_sum(candidates, top_k)
    stale = {side: moved[f"changed_{side}"] >= MOSTLY for side in SIDES}
    kept = moved_matrix(old, moved, stale)
    known = Similarity(kept.shape, kept.indptr, kept.indices, 1 + kept.scores).scores_on(pairs)
    cosines, again = known - 1, known == 0
    made = surroundings_of(GraphPair.of(edges), anchors, agreement, label_width, seed)
    cosines[again] = made.cosines(pairs.keep(again), min(sketches, FIRST_SKETCHES))
    return Similarity(pairs.shape, pairs.indptr, pairs.indices, np.maximum(cosines, 0))
