"""`Assignment`: which part each entity belongs to, and which parts each mini-batch is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from largeea.graph import Bool, Int32, Int64, Links, frozen

UNPLACED = -1


@dataclass(frozen=True, eq=False)
class Assignment:
    """Part numbers `source[n_s]` and `target[n_t]` in `[0, k)`; parts of the same number belong together.

    `cover[k, k]` tells which parts (columns) each batch (row) is made of: the identity for disjoint batches.
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

    @property
    def together(self) -> Bool:
        """Which parts share a batch, `[k, k]`; the identity for disjoint batches."""
        cover = self.cover.astype(np.int64)
        return np.asarray(cover.T @ cover > 0)


def settle(
    source: Int32, target: Int32, k: int, seeds: Links, hints: Links | None = None
) -> tuple[Int32, Int32]:
    """Give every unplaced (-1) entity a part, so that all entities are in a batch.

    It goes with its seed's counterpart, else with its best hint's counterpart (a name's best guess, say),
    else where there is room. Seeds and hints with both ends unplaced stay together.
    """
    source, target = source.copy(), target.copy()
    for links in (seeds, hints or Links.none()):
        best_last = links.take(strongest_first(links)[::-1])
        _follow(source, target, best_last)
        lonely = np.unique(best_last.source[source[best_last.source] == UNPLACED])
        source[lonely] = spread(part_sizes(k, source, target), len(lonely))
        _follow(source, target, best_last)
    for part in (source, target):
        left = np.flatnonzero(part == UNPLACED)
        part[left] = spread(part_sizes(k, source, target), len(left))
    return source, target


def strongest_first(links: Links) -> Int64:
    """The order of links by weight, highest first; ties by source, then target."""
    weight = np.ones(len(links), np.float32) if links.weight is None else links.weight
    return np.lexsort((links.target, links.source, -weight))


def part_sizes(k: int, *parts: Int32) -> Int64:
    """Placed entities in each part, all sides together, `[k]`."""
    together = np.concatenate(parts)
    return np.bincount(together[together != UNPLACED], minlength=k)


def spread(sizes: Int64, count: int) -> Int32:
    """Part numbers for `count` more entities, so that the smallest parts fill up to a common level."""
    parts = np.arange(len(sizes), dtype=np.int32)
    level = int(((count + np.cumsum(np.sort(sizes))) // (parts + 1)).min())
    room = np.maximum(level - sizes, 0)
    room[np.flatnonzero(sizes <= level)[: count - room.sum()]] += 1
    return np.repeat(parts, room)


def _follow(source: Int32, target: Int32, links: Links) -> None:
    """Put unplaced ends of links where the other end is; of several links the last one decides."""
    rows = (source[links.source] == UNPLACED) & (target[links.target] != UNPLACED)
    source[links.source[rows]] = target[links.target[rows]]
    rows = (target[links.target] == UNPLACED) & (source[links.source] != UNPLACED)
    target[links.target[rows]] = source[links.source[rows]]
