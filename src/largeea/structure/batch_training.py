"""Training on one mini-batch: a job that returns the batch's block of M_s."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from largeea.config import PartitionConfig, StructureConfig
from largeea.errors import LargeEAError, ResourceError
from largeea.graph import Arrays, Int32, KnowledgeGraph, Task, strings
from largeea.progress import note, step
from largeea.randomness import child_seed
from largeea.search.dense import dense_top_k
from largeea.search.vectors import unit_rows
from largeea.structure.batch import Batch, Embeddings
from largeea.structure.models import Model, load_model
from largeea.structure.partition import Batches, partition


def train_batch(number: int, batches: Batches, settings: StructureConfig, seed: int) -> Arrays:
    """The most similar targets of each source in batch `number`, counted from 1, with global ids.

    `rows[n]` are the sources, `ids[n, top_k]` (int32) and `scores[n, top_k]` (float32) their targets, best
    first, padded with -1 and 0.
    """
    name = f"batch {number} of {len(batches)}"
    model = load_model(settings.model)
    with step(name):
        fitted = _fitted(model, batches[number - 1], settings, child_seed(seed, f"batch {number}"), name)
        blocks = [_nearest(part, embeddings, settings.top_k, settings.metric) for part, embeddings in fitted]
    nothing = {
        "rows": np.empty(0, np.int32),
        "ids": np.empty((0, settings.top_k), np.int32),
        "scores": np.empty((0, settings.top_k), np.float32),
    }
    return {
        column: np.concatenate([empty, *(block[column] for block in blocks)])
        for column, empty in nothing.items()
    }


def _fitted(
    model: Model, batch: Batch, settings: StructureConfig, seed: int, name: str
) -> Iterator[tuple[Batch, Embeddings]]:
    """The batch with its embeddings. A batch that does not fit into memory is split in two, again if need be.

    A batch without seeds gives nothing: there is nothing to learn from.
    """
    if not len(batch.seeds):
        note(f"{name} has no seeds: its {len(batch.source)} source entities get no structural similarity")
        return
    try:
        embeddings = model.fit(batch, settings, seed)
    except LargeEAError as error:
        raise type(error)(f"{name}: {error}") from error
    except Exception as error:
        if not _is_out_of_memory(error):
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
    for half, part in enumerate(_halves(batch, seed), start=1):
        yield from _fitted(model, part, settings, child_seed(seed, str(half)), f"{name}, half {half}")


def _is_out_of_memory(error: Exception) -> bool:
    """Torch has its own error for a GPU's memory and raises a plain RuntimeError for the host's."""
    message = str(error).lower()
    torch_says_so = "out of memory" in message or "can't allocate memory" in message
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and torch_says_so)


def _halves(batch: Batch, seed: int) -> Iterator[Batch]:
    """The batch split in two by METIS-CPS."""
    local = batch.local()
    source = _unnamed_graph(len(batch.source), local.source_triples)
    target = _unnamed_graph(len(batch.target), local.target_triples)
    task = Task(source, target, local.seeds)
    for half in Batches(task, partition(task, PartitionConfig(method="metis-cps", k=2), seed)):
        yield half.inside(batch)


def _unnamed_graph(size: int, triples: Int32) -> KnowledgeGraph:
    """A graph of triples alone, with ids for IRIs."""
    relations = int(triples[:, 1].max(initial=-1)) + 1
    entity_iris, relation_iris = (
        pa.array(np.arange(count)).cast(pa.large_string()) for count in (size, relations)
    )
    return KnowledgeGraph(entity_iris, strings([None] * size), relation_iris, triples)


def _nearest(batch: Batch, embeddings: Embeddings, k: int, metric: str) -> Arrays:
    """The k most similar targets of each source of a batch: `rows`, `ids` and `scores` of `train_batch`.

    An entity with the zero vector has no candidates and is nobody's candidate.
    """
    source, target = (unit_rows(vectors) for vectors in embeddings)
    ids, scores = dense_top_k(source, target, k, metric=metric)
    return {"rows": batch.source, "ids": np.where(ids < 0, -1, batch.target[ids]), "scores": scores}
