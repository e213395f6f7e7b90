"""`Batch`: one mini-batch, a part of the source graph and the part of the target graph that belongs to it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph import Int32, Links, frozen


@dataclass(frozen=True, eq=False)
class Batch:
    """All a structure model may see of the task at a time. Every id is global.

    `source[n_s]` and `target[n_t]` are ascending entity ids. Triples (`source_triples[m, 3]`,
    `target_triples[m, 3]`) and seeds are those with both ends inside.
    """

    source: Int32
    target: Int32
    source_triples: Int32
    target_triples: Int32
    seeds: Links

    def __post_init__(self) -> None:
        for name, width in (("source", None), ("target", None), ("source_triples", 3), ("target_triples", 3)):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int32, width))

    def local(self) -> Batch:
        """The same batch with its entities numbered from 0 on each side, as a model's tensors want them.

        Row i of a model's output belongs to `batch.source[i]`; relations keep their global ids.
        """
        seeds = [_numbers(self.source, self.seeds.source), _numbers(self.target, self.seeds.target)]
        return Batch(
            np.arange(len(self.source), dtype=np.int32),
            np.arange(len(self.target), dtype=np.int32),
            _renumbered(self.source_triples, self.source),
            _renumbered(self.target_triples, self.target),
            Links(np.column_stack(seeds), self.seeds.weight),
        )


def _renumbered(triples: Int32, entities: Int32) -> Int32:
    heads, relations, tails = triples.T
    return np.column_stack([_numbers(entities, heads), relations, _numbers(entities, tails)])


def _numbers(entities: Int32, ids: Int32) -> Int32:
    return np.searchsorted(entities, ids).astype(np.int32)
