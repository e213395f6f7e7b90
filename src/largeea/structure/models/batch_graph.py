"""Both graphs of a mini-batch as one graph, the form in which networks read it."""

from __future__ import annotations

import numpy as np

from largeea.graph import Int64
from largeea.structure.batch import Batch


def merged_triples(local: Batch) -> Int64:
    """Triples of both graphs, `[n, 3]`: target entities are numbered after the source entities.

    Relations are numbered without gaps; the graphs share none.
    """
    source, target = (part.astype(np.int64) for part in (local.source_triples, local.target_triples))
    first = np.array([len(local.source), source[:, 1].max(initial=-1) + 1, len(local.source)])
    both = np.concatenate([source, target + first])
    both[:, 1] = np.unique(both[:, 1], return_inverse=True)[1]
    return both


def with_inverses(triples: Int64) -> Int64:
    """All triples `[n, 3]`, then all inverse triples: `[2 n, 3]`; inverse relations come after the others."""
    inverse = triples[:, ::-1] + np.array([0, triples[:, 1].max(initial=-1) + 1, 0])
    return np.concatenate([triples, inverse])
