"""Mini-batch generation: split both graphs into K pairs of parts so that equivalent entities meet.

>>> assignment = partition(task, "metis-cps", PartitionOptions(k=5))
>>> for batch in Batches(task, assignment): ...
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

import numpy as np

from largeea.errors import UsageError
from largeea.graph import Int32, Links, Task
from largeea.structure.partition.assignment import Assignment, settle
from largeea.structure.partition.batches import Batches
from largeea.structure.partition.options import PartitionOptions, automatic_k, check_memory, chosen_k
from largeea.structure.partition.overlap import overlapping

__all__ = [
    "GROUP",
    "Assignment",
    "Batches",
    "PartitionOptions",
    "Partitioner",
    "automatic_k",
    "partition",
    "partitioners",
]

GROUP = "largeea.partitioners"
"""Entry-point group for partitioners of other packages; an entry point names a `Partitioner`."""

_BUILT_IN = (
    EntryPoint("metis-cps", "largeea.structure.partition.metis_cps:metis_cps", GROUP),
    EntryPoint("merged", "largeea.structure.partition.merged:merged", GROUP),
    EntryPoint("vps", "largeea.structure.partition.vps:vps", GROUP),
    EntryPoint("none", "largeea.structure.partition:undivided", GROUP),
)


class Partitioner(Protocol):
    """A way to split a task with seeds into k >= 2 pairs of parts."""

    def __call__(self, task: Task, k: int, options: PartitionOptions, /) -> tuple[Int32, Int32]:
        """Part of each source entity `[n_s]` and target entity `[n_t]`; -1 where nothing speaks for any."""


def partitioners() -> dict[str, EntryPoint]:
    """Every partitioner by name; loading one imports what it needs, not before."""
    return {point.name: point for point in (*entry_points(group=GROUP), *_BUILT_IN)}


def partition(
    task: Task,
    method: str = "metis-cps",
    options: PartitionOptions | None = None,
    hints: Links | None = None,
) -> Assignment:
    """Put every entity of both graphs into one of K mini-batches.

    `hints` (best name candidates, say) tell where entities without triples and seeds may belong.

    Example: `partition(task, options=PartitionOptions(k=10, overlap=2))`.
    """
    options = options or PartitionOptions()
    known = partitioners()
    if method not in known:
        raise UsageError(f"unknown partition method {method!r}; there are: {', '.join(sorted(known))}")
    k = 1 if method == "none" else chosen_k(task, options)
    if options.overlap > k > 1:
        raise UsageError(f"overlap = {options.overlap} of only {k} batches: give at most {k}")
    check_memory(task, k, options)
    if k == 1:
        return Assignment(*undivided(task, 1, options), 1)
    if not len(task.seeds):
        raise UsageError(
            f"{method} needs seeds to tell which parts belong together, and there are none: give some, let "
            "data augmentation (DA) make them from names, or do not partition (method none, or k = 1)"
        )
    partitioner: Partitioner = known[method].load()
    source, target = partitioner(task, k, options)
    source, target = settle(source, target, k, task.seeds, hints)
    return overlapping(task, Assignment(source, target, k), options.overlap)


def undivided(task: Task, k: int, options: PartitionOptions) -> tuple[Int32, Int32]:
    """No partition: everything in one batch."""
    return np.zeros(task.source.size, np.int32), np.zeros(task.target.size, np.int32)
