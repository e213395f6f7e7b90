"""DA, name-based data augmentation: pseudo-seeds from names, for a structure channel that needs seeds."""

from __future__ import annotations

import numpy as np

from largeea.graph import Links
from largeea.similarity import Similarity


def augment(seeds: Links, names: Similarity, margin: float) -> Links:
    """The given seeds (`psi'`, weight 1) and pseudo-seeds: pairs that are each other's best in `M_n`.

    Given seeds win: their ends take part in no other pair. A pseudo-seed must be ahead of its source's
    second candidate by `margin`, both measured after local scaling (CSLS). Its weight is its score.
    """
    free_sources, free_targets = (np.ones(size, bool) for size in names.shape)
    free_sources[seeds.source], free_targets[seeds.target] = False, False
    candidates = names.restrict(free_sources, free_targets)
    scaled = candidates.csls(1)
    mutual = scaled.mutual_best()
    clear = mutual.take(scaled.margins()[mutual.source] >= margin)
    weight = np.concatenate([np.ones(len(seeds), np.float32), candidates.score_of(clear)])
    return Links(np.concatenate([seeds.pairs, clear.pairs]), weight)


def augment_memory(entries: int) -> int:
    """Bytes that `augment` needs at its peak, for so many entries of `M_n`."""
    return 32 * entries
