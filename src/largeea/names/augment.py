"""DA, name-based data augmentation: seeds out of names, for a structure channel that needs some."""

from __future__ import annotations

import numpy as np

from largeea.config import AugmentationConfig
from largeea.graph import Links, Task
from largeea.similarity import Similarity


def augment(task: Task, names: Similarity, config: AugmentationConfig) -> Links:
    """The given seeds (`psi'`, weight 1) and pseudo-seeds: pairs that are each other's best in `M_n`.

    Given seeds win: their ends take part in no other pair. A pseudo-seed must be ahead of its source's
    second candidate by `config.margin`, both measured after local scaling (CSLS). It weighs its score.
    """
    free_sources, free_targets = np.ones(task.source.size, bool), np.ones(task.target.size, bool)
    free_sources[task.seeds.source], free_targets[task.seeds.target] = False, False
    candidates = names.restrict(free_sources, free_targets)
    scaled = candidates.csls(1)
    mutual = scaled.mutual_best()
    clear = mutual.take(scaled.margins()[mutual.source] >= config.margin)
    given = np.ones(len(task.seeds), np.float32)
    pairs = np.concatenate([task.seeds.pairs, clear.pairs])
    return Links(pairs, np.concatenate([given, candidates.score_of(clear)]))
