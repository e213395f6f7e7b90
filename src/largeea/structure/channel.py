"""The structure channel (M_s), in two stages: split the graphs into mini-batches, train a model on each."""

from __future__ import annotations

from largeea.config import StructureConfig
from largeea.errors import UsageError
from largeea.execution.jobs import run_jobs
from largeea.graph import Arrays, KnowledgeGraph, Links, Task
from largeea.similarity import Similarity
from largeea.structure.batch_training import train_batch
from largeea.structure.best_pairs import BestPairs
from largeea.structure.partition import Assignment, Batches, partition_graphs
from largeea.structure.partition.size import batches_at_once, check_memory

__all__ = ["partition_graphs", "train_batches"]


def train_batches(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    seeds: Links,
    parts: Arrays,
    settings: StructureConfig,
    seed: int,
    plugin: str = "",
) -> Similarity:
    """M_s: the `top_k` most similar targets of each source within its mini-batch, `[sources, targets]`.

    `parts` come from `partition_graphs`; every mini-batch is one job with its own seed. `seeds` include
    pseudo-seeds. Scores are in [0, 1]: the cosine, or `1 - distance / (2 sqrt(d))` for the Manhattan distance
    of unit vectors. Where batches overlap, a pair has its best score. `plugin` is the fingerprint of the
    model: as an argument it is part of the stage's key.
    """
    if not len(seeds):
        raise UsageError(
            "the structure channel learns from seeds, and there are none: give some, let data augmentation "
            "(DA) make them from names, or go without the structure channel"
        )
    task, assignment = Task(source, target, seeds.canonical()), Assignment.from_arrays(parts)
    sizes = source.size + target.size, assignment.k, assignment.overlap
    check_memory(*sizes, settings)
    numbers = [(number,) for number in range(1, assignment.k + 1)]
    batches = Batches(task, assignment)
    at_once = batches_at_once(*sizes, settings)
    best = BestPairs(source.size, settings.top_k)
    for _, block in run_jobs(train_batch, numbers, batches, settings, seed, at_once=at_once):
        best.add(block["rows"], block["ids"], block["scores"])
    return best.matrix(target.size)
