"""The triples of a batch as edges between numbered entities: sources first, then targets."""

from __future__ import annotations

import numpy as np

from largeea.graph import Float64, Int64
from largeea.structure.batch import Batch


def triples_of_both(local: Batch) -> Int64:
    """Triples of both graphs, `[n, 3]`: entities in one range, relations in one without gaps, none shared."""
    source, target = (part.astype(np.int64) for part in (local.source_triples, local.target_triples))
    first = np.array([len(local.source), source[:, 1].max(initial=-1) + 1, len(local.source)])
    both = np.concatenate([source, target + first])
    both[:, 1] = np.unique(both[:, 1], return_inverse=True)[1]
    return both


def directed(triples: Int64) -> Int64:
    """Every triple `[n, 3]` in both directions, `[2 n, 3]`; inverse relations come after all others."""
    inverse = triples[:, ::-1] + np.array([0, triples[:, 1].max(initial=-1) + 1, 0])
    return np.concatenate([triples, inverse])


def functionality(triples: Int64) -> tuple[Float64, Float64]:
    """How far the head settles the tail, and the tail the head, for every relation.

    These are its distinct heads, and its distinct tails, for each of its triples.
    """
    relation = triples[:, 1]
    count = np.bincount(relation)

    def distinct(column: int) -> Float64:
        pairs = np.unique(triples[:, column] * len(count) + relation)
        return np.bincount(pairs % max(len(count), 1), minlength=len(count)) / count

    return distinct(0), distinct(2)
