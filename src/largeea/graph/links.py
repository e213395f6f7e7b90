"""Links between two graphs, the alignment task, and benchmark pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from largeea.graph.arrays import Bool, Float32, Int32, Int64, check_ids, frozen
from largeea.graph.types import KnowledgeGraph


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs (source entity, target entity), int32 `[n, 2]`, with an optional weight each, float32 `[n]`."""

    pairs: Int32
    weight: Float32 | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", frozen(self.pairs, np.int32, 2))
        if self.weight is not None:
            object.__setattr__(self, "weight", frozen(self.weight, np.float32))
            if len(self.weight) != len(self.pairs):
                raise ValueError(f"{len(self.pairs)} pairs but {len(self.weight)} weights")

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        return f"Links({len(self):,} pairs)"

    @classmethod
    def none(cls) -> Links:
        """Return an empty set of links."""
        return cls(np.empty((0, 2), np.int32))

    @property
    def source(self) -> Int32:
        """Source entity of each pair, `[n]`."""
        return self.pairs[:, 0]

    @property
    def target(self) -> Int32:
        """Target entity of each pair, `[n]`."""
        return self.pairs[:, 1]

    @property
    def keys(self) -> Int64:
        """A number for each pair, `[n]`: equal for equal pairs, in the order of source and target."""
        keys: Int64 = (self.source.astype(np.int64) << 32) | self.target
        return keys

    def are_in(self, other: Links) -> Bool:
        """Return the mask of the pairs that are also in `other`, `[n]`."""
        return np.isin(self.keys, other.keys)

    def reversed(self) -> Links:
        """Return the pairs with source and target swapped."""
        return Links(self.pairs[:, ::-1], self.weight)

    def take(self, rows: npt.NDArray[Any]) -> Links:
        """Return the links at `rows` (positions or a mask)."""
        return Links(self.pairs[rows], None if self.weight is None else self.weight[rows])

    def canonical(self) -> Links:
        """Return the sorted links without duplicates; a pair keeps its highest weight."""
        weight = np.ones(len(self), np.float32) if self.weight is None else self.weight
        order = np.lexsort((-weight, self.target, self.source))
        pairs = self.pairs[order]
        first = np.ones(len(pairs), bool)
        first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
        return self.take(order[first])


@dataclass(frozen=True, eq=False)
class Task:
    """The input of every alignment step: both graphs and the seeds (`psi'`). It never holds test links."""

    source: KnowledgeGraph
    target: KnowledgeGraph
    seeds: Links = field(default_factory=Links.none)

    def __post_init__(self) -> None:
        check_ids("seeds' source", self.seeds.source, self.source.size)
        check_ids("seeds' target", self.seeds.target, self.target.size)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of source and target entities: the shape of every similarity matrix between them."""
        return self.source.size, self.target.size


@dataclass(frozen=True, eq=False)
class Pair:
    """A benchmark: two graphs, all known links between them, and official train/test splits by fold name."""

    source: KnowledgeGraph
    target: KnowledgeGraph
    links: Links
    folds: dict[str, tuple[Links, Links]] = field(default_factory=dict)

    def reversed(self) -> Pair:
        """Return the benchmark with source and target swapped."""
        folds = {name: (train.reversed(), test.reversed()) for name, (train, test) in self.folds.items()}
        return Pair(self.target, self.source, self.links.reversed(), folds)
