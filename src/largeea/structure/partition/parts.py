"""`Assignment`: the part of each entity, and the parts that each mini-batch is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from largeea.graph import Arrays, Bool, Int32, Int64, Links, frozen

UNPLACED = -1
"""The part of an entity that has none yet."""


@dataclass(frozen=True, eq=False)
class Assignment:
    """Part numbers `source[n_s]` and `target[n_t]` in `[0, k)`; parts with the same number belong together.

    `cover[k, k]` marks the parts (columns) of each batch (row): the identity for disjoint batches.
    """

    source: Int32
    target: Int32
    k: int
    cover: Bool = field(default_factory=lambda: np.empty((0, 0), bool))

    def __post_init__(self) -> None:
        cover = self.cover if self.cover.size else np.eye(self.k, dtype=bool)
        object.__setattr__(self, "cover", frozen(cover, np.bool_, self.k))
        for name in ("source", "target"):
            part = frozen(getattr(self, name), np.int32)
            object.__setattr__(self, name, part)
            if part.size and not 0 <= part.min() <= part.max() < self.k:
                raise ValueError(f"{name} parts must be in [0, {self.k}): {part.min()} to {part.max()}")

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        """The assignment that `to_arrays` was called on."""
        return cls(arrays["source"], arrays["target"], len(arrays["cover"]), arrays["cover"])

    def to_arrays(self) -> Arrays:
        """The assignment as arrays to store."""
        return {"source": self.source, "target": self.target, "cover": self.cover}

    @property
    def overlap(self) -> int:
        """D_ov: the largest number of parts in a batch."""
        return int(self.cover.sum(axis=1).max())

    @property
    def together(self) -> Bool:
        """Whether two parts are in the same batch, `[k, k]`; the identity for disjoint batches."""
        cover = self.cover.astype(np.int64)
        return np.asarray(cover.T @ cover > 0)


def place_unplaced(
    source: Int32, target: Int32, k: int, seeds: Links, hints: Links | None = None
) -> tuple[Int32, Int32]:
    """The same parts, with a part for every entity that had none (-1).

    An entity follows its counterpart in a seed, else in its best hint, else it goes to the smallest part. The
    ends of seeds and hints that are both unplaced stay together.
    """
    source, target = source.copy(), target.copy()
    for links in (seeds, hints or Links.none()):
        best_last = links.take(strongest_first(links)[::-1])
        _follow_links(source, target, best_last)
        lonely = np.unique(best_last.source[source[best_last.source] == UNPLACED])
        source[lonely] = fill_evenly(part_sizes(k, source, target), len(lonely))
        _follow_links(source, target, best_last)
    for part in (source, target):
        left = np.flatnonzero(part == UNPLACED)
        part[left] = fill_evenly(part_sizes(k, source, target), len(left))
    return source, target


def strongest_first(links: Links) -> Int64:
    """The order of links by weight, highest first; ties by source, then by target."""
    weight = np.ones(len(links), np.float32) if links.weight is None else links.weight
    return np.lexsort((links.target, links.source, -weight))


def part_sizes(k: int, *parts: Int32) -> Int64:
    """Number of placed entities in each part, all sides together, `[k]`."""
    together = np.concatenate(parts)
    return np.bincount(together[together != UNPLACED], minlength=k)


def fill_evenly(sizes: Int64, count: int) -> Int32:
    """Parts of `count` further entities, `[count]`: the smallest parts are filled up to a common size."""
    parts = np.arange(len(sizes), dtype=np.int32)
    level = int(((count + np.cumsum(np.sort(sizes))) // (parts + 1)).min())
    room = np.maximum(level - sizes, 0)
    room[np.flatnonzero(sizes <= level)[: count - room.sum()]] += 1
    return np.repeat(parts, room)


def _follow_links(source: Int32, target: Int32, links: Links) -> None:
    """Put the unplaced end of each link into the part of its other end; the last link of an entity counts."""
    rows = (source[links.source] == UNPLACED) & (target[links.target] != UNPLACED)
    source[links.source[rows]] = target[links.target[rows]]
    rows = (target[links.target] == UNPLACED) & (source[links.source] != UNPLACED)
    target[links.target[rows]] = source[links.source[rows]]
