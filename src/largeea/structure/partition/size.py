"""How many mini-batches there are (K), and how much memory training on one of them takes."""

from __future__ import annotations

import math

from largeea.config import PartitionConfig, StructureConfig
from largeea.errors import ResourceError, UsageError
from largeea.execution.devices import cuda_is_chosen, free_gpu_bytes, torch_device
from largeea.execution.memory import resident_bytes
from largeea.execution.settings import current
from largeea.graph import Task
from largeea.structure.models.training_memory import COSTS, bytes_per_entity


def automatic_k(entities: int) -> int:
    """The paper's K for a task with so many entities, both sides together.

    5 batches at 15,000 entities per side, 10 at 100,000, 20 at 1,000,000: K doubles with every tenfold size.
    """
    per_side = max(entities / 2, 1)
    return max(1, int(10 * 2 ** math.log10(per_side / 100_000)))


def chosen_k(task: Task, config: PartitionConfig) -> int:
    """K as configured. If it is left open, K by size, but no more batches than seeds."""
    smaller = min(task.shape)
    if config.method == "none":
        return 1
    if config.k:
        if config.k > max(smaller, 1):
            raise UsageError(f"k = {config.k} batches from {smaller} entities: give at most {smaller}")
        return config.k
    by_size = min(automatic_k(sum(task.shape)), max(smaller, 1))
    return min(by_size, len(task.seeds)) or by_size


def memory_per_batch(entities: int, k: int, overlap: int = 1, dimension: int = 0, model: str = "rrea") -> int:
    """Bytes that training on one of K batches takes; `entities` are those of both graphs together."""
    per_batch = entities * min(overlap, k) / k
    return math.ceil(per_batch * bytes_per_entity(model, dimension))


def smallest_k(
    entities: int, memory_bytes: int, overlap: int = 1, dimension: int = 0, model: str = "rrea"
) -> int:
    """The smallest K whose batches fit into the memory."""
    undivided = memory_per_batch(entities, 1, 1, dimension, model)
    return 1 if undivided <= memory_bytes else math.ceil(overlap * undivided / memory_bytes)


def batches_at_once(entities: int, k: int, overlap: int, settings: StructureConfig) -> int:
    """How many of K batches are trained at a time, within half of the free memory.

    One a thread: batches with a thread each are trained faster than one that all threads share, for threads
    that share work wait for each other. On a GPU two, so that one is prepared while the other is trained.
    Models of other packages may not be made for several threads.
    """
    if settings.model not in COSTS:
        return 1
    needed = memory_per_batch(entities, k, overlap, settings.dimension, settings.model)
    most = min(k, current().thread_count)
    if cuda_is_chosen():
        most, free = min(most, 2), free_gpu_bytes(torch_device())
    else:
        free = max(0, current().memory_bytes - resident_bytes())
    return max(1, min(most, free // 2 // max(needed, 1)))


def check_memory(entities: int, k: int, overlap: int, settings: StructureConfig) -> None:
    """Refuse batches that are too large for the memory limit: the GPU's if one is used, else the host's."""
    limit = current().gpu_memory if cuda_is_chosen() else current().memory_bytes
    needed = memory_per_batch(entities, k, overlap, settings.dimension, settings.model)
    if limit is None or needed <= int(limit):
        return
    least = smallest_k(entities, int(limit), overlap, settings.dimension, settings.model)
    raise ResourceError(
        f"K = {k}: a mini-batch of about {entities * min(overlap, k) / k:,.0f} entities needs about "
        f"{_mb(needed)} in training, and the memory limit is {_mb(int(limit))}; set partition.k to {least} "
        "or more, or raise the limit"
    )


def _mb(size: int) -> str:
    return f"{math.ceil(size / 10**6):,} MB"
