"""`Batch` and `Embeddings`: what a structure model gets and what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from largeea.graph import Float32, Int32, Links, frozen


class Embeddings(NamedTuple):
    """Vectors of the entities of a batch, in its order: `source[n_s, d]`, `target[n_t, d]`, float32."""

    source: Float32
    target: Float32


@dataclass(frozen=True, eq=False)
class Batch:
    """One mini-batch: a part of the source graph and the matching part of the target graph, with global ids.

    `source[n_s]` and `target[n_t]` are ascending entity ids. Triples (`source_triples[m, 3]`,
    `target_triples[m, 3]`) and seeds are those with both ends inside the batch. A structure model sees
    nothing else of the task.
    """

    source: Int32
    target: Int32
    source_triples: Int32
    target_triples: Int32
    seeds: Links

    def __post_init__(self) -> None:
        for name, width in (("source", None), ("target", None), ("source_triples", 3), ("target_triples", 3)):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32, width))

    @property
    def size(self) -> int:
        """Number of entities, both sides together."""
        return len(self.source) + len(self.target)

    def local(self) -> Batch:
        """The same batch with the entities of each side numbered from 0.

        Entity i is `batch.source[i]` or `batch.target[i]`; relations keep their global ids.
        """
        seeds = [_positions(self.source, self.seeds.source), _positions(self.target, self.seeds.target)]
        return Batch(
            np.arange(len(self.source), dtype=np.int32),
            np.arange(len(self.target), dtype=np.int32),
            _renumbered(self.source_triples, self.source),
            _renumbered(self.target_triples, self.target),
            Links(np.column_stack(seeds), self.seeds.weight),
        )

    def inside(self, outer: Batch) -> Batch:
        """This batch of local ids with the ids of `outer`, the batch it is a part of."""
        return Batch(
            outer.source[self.source],
            outer.target[self.target],
            _with_ids(self.source_triples, outer.source),
            _with_ids(self.target_triples, outer.target),
            Links(
                np.column_stack([outer.source[self.seeds.source], outer.target[self.seeds.target]]),
                self.seeds.weight,
            ),
        )


def _renumbered(triples: Int32, entities: Int32) -> Int32:
    heads, relations, tails = triples.T
    return np.column_stack([_positions(entities, heads), relations, _positions(entities, tails)])


def _with_ids(triples: Int32, entities: Int32) -> Int32:
    heads, relations, tails = triples.T
    return np.column_stack([entities[heads], relations, entities[tails]])


def _positions(entities: Int32, ids: Int32) -> Int32:
    return np.searchsorted(entities, ids).astype(np.int32)
