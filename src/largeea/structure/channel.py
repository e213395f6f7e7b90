"""The structure channel: train a model on every mini-batch and compare its entities (M_s)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa

from largeea.errors import LargeEAError, ResourceError, UsageError
from largeea.graph import Arrays, Float32, Int32, KnowledgeGraph, Links, Task, strings
from largeea.progress import note, step
from largeea.randomness import child_seed
from largeea.search.dense import dense_top_k
from largeea.similarity import Similarity
from largeea.structure.batch import Batch
from largeea.structure.models import Embeddings, Model, TrainingOptions, find_model, load_model
from largeea.structure.partition import Batches, PartitionOptions
from largeea.structure.partition import partition as split_into_batches
from largeea.vectors import unit_rows

__all__ = ["Arrays", "Job", "PartitionOptions", "TrainingOptions", "find_model", "structure_channel"]

Entries = tuple[Int32, Int32, Float32]
"""Kept pairs with global ids: sources, targets, scores."""
Job = Callable[[], Arrays]
Keep = Callable[[str, Job], Arrays]
"""`(name, job)` to what the job makes: done now, or kept from a run that did not come to its end."""


def done_now(name: str, job: Job) -> Arrays:
    """Keeps nothing."""
    with step(name):
        return job()


def structure_channel(
    task: Task,
    seeds: Links,
    *,
    model: str = "rrea",
    partition: str = "metis-cps",
    partition_options: PartitionOptions | None = None,
    training: TrainingOptions | None = None,
    top_k: int = 50,
    metric: str = "manhattan",
    seed: int = 0,
    hints: Links | None = None,
    keep: Keep = done_now,
) -> Similarity:
    """M_s: the `top_k` most similar targets of each source within its mini-batch, `[sources, targets]`.

    Scores are in [0, 1]: the cosine, or `1 - distance / (2 sqrt(d))` for the Manhattan distance of vectors of
    length 1. Where batches overlap, a pair has its best score. `seeds` are those to train on, pseudo-seeds
    included; `hints` tell the partition where entities without triples may belong.

    Batches are independent jobs, each with a seed of its own: what `keep` has of one need not be done again.
    """
    if top_k < 1:
        raise UsageError(f"top_k = {top_k}: keep one candidate at least")
    if not len(seeds):
        raise UsageError(
            "the structure channel learns from seeds, and there are none: give some, let data augmentation "
            "(DA) make them from names, or go without the structure channel"
        )
    learner = load_model(model)
    task = Task(task.source, task.target, seeds.canonical())
    options = replace(partition_options or PartitionOptions(), seed=child_seed(seed, "partition"))
    batches = Batches(task, split_into_batches(task, partition, options, hints))

    def job(number: int) -> Arrays:
        own = replace(training or TrainingOptions(), seed=child_seed(seed, f"batch {number}"))
        return _trained(learner, batches[number - 1], own, f"batch {number} of {len(batches)}", top_k, metric)

    blocks = []
    for number in range(1, len(batches) + 1):
        made = keep(f"batch-{number}-of-{len(batches)}", partial(job, number))
        blocks.append((made["rows"], made["columns"], made["scores"]))
    rows, columns, scores = (np.concatenate(column) for column in zip(*blocks, strict=True))
    merged = Similarity.from_entries(rows, columns, scores, (task.source.size, task.target.size), 0.0)
    return merged.top_k(top_k)


def _trained(
    model: Model, batch: Batch, options: TrainingOptions, name: str, top_k: int, metric: str
) -> Arrays:
    """What a batch leaves behind: its block of M_s, and its entities with their vectors, by global ids.

    Vectors are only comparable within a piece; a batch is in one piece unless memory did not suffice.
    """
    vectors: Arrays = {}
    block: list[Entries] = [(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))]
    for piece, (part, embeddings) in enumerate(_fitted(model, batch, options, name)):
        block.append(_nearest(part, embeddings, top_k, metric))
        vectors |= {f"{piece}/source": part.source, f"{piece}/source_vectors": embeddings.source}
        vectors |= {f"{piece}/target": part.target, f"{piece}/target_vectors": embeddings.target}
    rows, columns, scores = (np.concatenate(column) for column in zip(*block, strict=True))
    return {"rows": rows, "columns": columns, "scores": scores, **vectors}


def _fitted(
    model: Model, batch: Batch, options: TrainingOptions, name: str
) -> Iterator[tuple[Batch, Embeddings]]:
    """The batch with its embeddings; in two halves, or more, if memory does not suffice for it as a whole.

    A batch without seeds has nothing to learn from and gives nothing; the user is told.
    """
    if not len(batch.seeds):
        note(f"{name} has no seeds: its {len(batch.source)} source entities get no structural similarity")
        return
    try:
        embeddings = model.fit(batch, options)
    except LargeEAError as error:
        raise type(error)(f"{name}: {error}") from error
    except Exception as error:
        if not _out_of_memory(error):
            error.add_note(f"in {name}")
            raise
        if len(batch.seeds) < 2:
            raise ResourceError(
                f"{name}: {len(batch.source)} + {len(batch.target)} entities do not fit into memory and "
                "cannot be split further: choose more batches (k), a lower dimension, or another device"
            ) from error
    else:
        yield batch, embeddings
        return
    note(f"{name} does not fit into memory: it is split in two")
    for half, part in enumerate(_halves(batch, options.seed), start=1):
        yield from _fitted(
            model, part, replace(options, seed=child_seed(options.seed, str(half))), f"{name}, half {half}"
        )


def _out_of_memory(error: Exception) -> bool:
    """Torch has an error of its own for GPUs, and a plain RuntimeError for the host's memory."""
    said = str(error).lower()
    telling = "out of memory" in said or "can't allocate memory" in said
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and telling)


def _halves(batch: Batch, seed: int) -> Iterator[Batch]:
    """Two batches of the entities of one."""
    local = batch.local()
    source, target = (
        _graph(len(entities), triples)
        for entities, triples in ((batch.source, local.source_triples), (batch.target, local.target_triples))
    )
    task = Task(source, target, local.seeds)
    for half in Batches(task, split_into_batches(task, "metis-cps", PartitionOptions(k=2, seed=seed))):
        yield Batch(
            batch.source[half.source],
            batch.target[half.target],
            _global(half.source_triples, batch.source),
            _global(half.target_triples, batch.target),
            Links(
                np.column_stack([batch.source[half.seeds.source], batch.target[half.seeds.target]]),
                half.seeds.weight,
            ),
        )


def _graph(size: int, triples: Int32) -> KnowledgeGraph:
    """Nothing but structure: no names, and ids for IRIs."""
    relations = int(triples[:, 1].max(initial=-1)) + 1
    iris = (strings(pa.array(np.arange(count)).cast(pa.large_string())) for count in (size, relations))
    entities, words = iris
    return KnowledgeGraph(entities, strings([None] * size), words, triples)


def _global(triples: Int32, entities: Int32) -> Int32:
    return np.column_stack([entities[triples[:, 0]], triples[:, 1], entities[triples[:, 2]]])


def _nearest(batch: Batch, embeddings: Embeddings, k: int, metric: str) -> Entries:
    """The k most similar targets of each source of a batch, with global ids.

    A zero vector says that nothing is known of its entity: it has no candidates and is none.
    """
    source, target = (unit_rows(vectors) for vectors in embeddings)
    ids, scores = dense_top_k(source, target, min(k, max(len(target), 1)), metric=metric)
    known_source, known_target = (np.any(vectors, axis=1) for vectors in (source, target))
    kept = (ids >= 0) & known_source[:, None] & known_target[ids]
    rows = np.repeat(batch.source, kept.sum(axis=1))
    return rows, batch.target[ids[kept]], scores[kept]
