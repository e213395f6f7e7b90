"""What can be chosen about mini-batches, and how many there should be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from largeea.config import PartitionConfig
from largeea.errors import ResourceError, UsageError
from largeea.graph import Task

BYTES_PER_ENTITY = 40_000
"""Memory a structure model needs for each entity of its batch: RREA on DBP15K FR-EN, 38,000 measured."""


@dataclass(frozen=True)
class PartitionOptions:
    """How to split the graphs into mini-batches.

    k: K, the number of mini-batches; chosen from the size of the graphs if not given.
    q: seeds of each group that virtual edges connect to all its others (METIS-CPS).
    virtual_weight: w', the weight of edges inside a group of seeds; other edges weigh 1 (METIS-CPS).
    overlap: D_ov, how many parts each batch is made of; 1 = disjoint batches.
    balance: how much larger than the average a part may be, as a share; up to 8 parts come out equal anyway.
    seed: root of all randomness.
    weigh_by_confidence: let unsure seeds (`Links.weight` below 1) pull less.
    memory_mb: memory one batch may take in training; more and smaller batches are made where it is short, and
        a given k that is too small for it is refused.
    """

    k: int | None = None
    q: int = 1
    virtual_weight: int = 1000
    overlap: int = 1
    balance: float = 0.03
    seed: int = 0
    weigh_by_confidence: bool = False
    memory_mb: int | None = None

    @classmethod
    def of(cls, config: PartitionConfig, seed: int = 0) -> Self:
        """As configured; 0 there stands for "not given"."""
        given = config.model_dump(exclude={"method"})
        return cls(**given | {"k": config.k or None, "memory_mb": config.memory_mb or None, "seed": seed})

    def __post_init__(self) -> None:
        for name in ("k", "q", "virtual_weight", "overlap", "memory_mb"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"partition option {name} = {value}: give a whole number of at least 1")
        if self.balance < 0:
            raise UsageError(
                f"partition option balance = {self.balance}: give a share of at least 0, like 0.03"
            )


def chosen_k(task: Task, options: PartitionOptions) -> int:
    """K as asked for, else from the size of the task and the memory a batch may take."""
    smaller = min(task.source.size, task.target.size)
    if options.k is not None:
        if options.k > max(smaller, 1):
            raise UsageError(f"k = {options.k} batches from {smaller} entities: give at most {smaller}")
        return options.k
    entities = task.source.size + task.target.size
    memory_mb = options.memory_mb and options.memory_mb / options.overlap
    wanted = min(automatic_k(entities, memory_mb), max(smaller, 1))
    return min(wanted, len(task.seeds)) or wanted


def check_memory(task: Task, k: int, options: PartitionOptions) -> None:
    """Refuse batches that cannot be trained within the memory allowed for one."""
    if options.memory_mb is None:
        return
    entities = (task.source.size + task.target.size) * min(options.overlap, k) / k
    needed = math.ceil(entities * BYTES_PER_ENTITY / 2**20)
    if needed > options.memory_mb:
        raise ResourceError(
            f"{k} batches of about {entities:,.0f} entities need about {needed:,} MB each in training, and "
            f"memory_mb = {options.memory_mb} is allowed: make at least "
            f"{math.ceil(k * needed / options.memory_mb)} batches (k) of as many seeds, or allow more"
        )


def automatic_k(entities: int, memory_mb: float | None = None) -> int:
    """The paper's K for a task of so many entities, both sides together.

    5 batches at 15,000 entities a side, 10 at 100,000, doubling with every tenfold size (20 at 1,000,000);
    more if a batch would not fit into `memory_mb`.
    """
    a_side = max(entities / 2, 1)
    by_size = int(10 * 2 ** math.log10(a_side / 100_000))
    by_memory = 1 if memory_mb is None else math.ceil(entities * BYTES_PER_ENTITY / (memory_mb * 2**20))
    return max(1, by_size, by_memory)
