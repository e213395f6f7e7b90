"""The mini-batches of an assignment, made one at a time so that only one needs to be in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from largeea.graph import Bool, Int32, KnowledgeGraph, Task
from largeea.structure.batch import Batch
from largeea.structure.partition.parts import Assignment


class Batches(Sequence[Batch]):
    """A sequence of mini-batches; batch i is made when `batches[i]` is called.

    Example: `for batch in Batches(task, assignment): model.fit(batch, settings, seed)`.
    """

    def __init__(self, task: Task, assignment: Assignment) -> None:
        self._cover = assignment.cover
        self._source = _Side(task.source, assignment.source, assignment.k)
        self._target = _Side(task.target, assignment.target, assignment.k)
        self._seeds = task.seeds
        self._seeds_by_part = _Grouped(assignment.source[task.seeds.source], assignment.k)

    def __len__(self) -> int:
        return len(self._cover)

    @overload
    def __getitem__(self, index: int) -> Batch: ...
    @overload
    def __getitem__(self, index: slice) -> list[Batch]: ...
    def __getitem__(self, index: int | slice) -> Batch | list[Batch]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        parts = self._cover[index]
        rows = self._seeds_by_part.members(parts)
        seeds = self._seeds.take(rows[parts[self._target.part[self._seeds.target[rows]]]])
        return Batch(
            self._source.entities.members(parts),
            self._target.entities.members(parts),
            self._source.triples_inside(parts),
            self._target.triples_inside(parts),
            seeds,
        )


class _Side:
    """One graph with its entities and triples grouped by part."""

    def __init__(self, graph: KnowledgeGraph, part: Int32, k: int) -> None:
        self.part = part
        self.entities = _Grouped(part, k)
        self._triples = graph.triples
        self._by_head = _Grouped(part[graph.triples[:, 0]], k)

    def triples_inside(self, parts: Bool) -> Int32:
        triples = self._triples[self._by_head.members(parts)]
        return np.asarray(triples[parts[self.part[triples[:, 2]]]])


class _Grouped:
    """Positions grouped by part, so that the members of a part are found without a full scan."""

    def __init__(self, part: Int32, k: int) -> None:
        narrow = part.astype(np.uint16) if k < 1 << 16 else part  # numpy sorts 16 bits ten times as fast
        self._order = np.argsort(narrow, kind="stable").astype(np.int32)
        self._starts = np.searchsorted(part[self._order], np.arange(k + 1))

    def members(self, parts: Bool) -> Int32:
        """Ascending positions of the members of the parts in the mask `[k]`."""
        spans = [self._order[self._starts[i] : self._starts[i + 1]] for i in np.flatnonzero(parts)]
        return np.sort(np.concatenate(spans)) if len(spans) != 1 else spans[0]
