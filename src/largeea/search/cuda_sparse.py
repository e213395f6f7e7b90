"""The sparse search on a torch device, with torch alone; see `sparse.py`.

The postings of a block of queries are laid out flat and sorted by query and item, so that the parts of a
score stand side by side. Scores are sums of whole numbers, which do not depend on the order of the parts:
equal items have equal scores. For vectors of length 1, scores differ from those of the compiled search by
less than 1e-6; items differ only where scores do.
"""

from __future__ import annotations

from functools import cached_property
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from largeea.execution.devices import free_gpu_bytes, in_blocks, to_host, torch_device
from largeea.graph import Float32, Int32
from largeea.search.sparse_index import Csr, SparseIndex
from largeea.search.sparse_kernels import PROPOSED_PER_KEPT

FRACTION_BITS = 40
"""Bits of a score behind the binary point."""
BYTES_PER_POSTING = 128
"""Working memory for a posting that a query walks, or for a feature of an item that is scored again."""
MOST_WORK = 4 << 30
"""Bytes of working memory of a block of queries, and of their weights as a table, at most."""


def fits_on_device(entries: int, free: int) -> bool:
    """Whether an index of so many entries takes up at most half of the free bytes of a device."""
    return 8 * entries <= free // 2


def working_memory(free: int) -> int:
    """Bytes that a block of queries may take, of so many free ones."""
    return min(MOST_WORK, free // 4)


def sparse_gpu_memory(entries: int, free: int) -> int:
    """Bytes that the search takes on a device with so many free ones, for an index of so many entries."""
    return 8 * entries + 2 * working_memory(free - 8 * entries)


class DeviceCsr(NamedTuple):
    """A sparse matrix on a device: where each row starts, how long it is, its columns and weights."""

    starts: torch.Tensor
    sizes: torch.Tensor
    columns: torch.Tensor
    weights: torch.Tensor

    @classmethod
    def of(cls, matrix: Csr, device: torch.device) -> DeviceCsr:
        """A copy on the device."""
        pointer, columns, weights = (_on_device(array, device) for array in matrix)
        return cls(pointer[:-1], pointer.diff(), columns, weights)


class Asked(NamedTuple):
    """Features of a block of queries, from rare to common: whose they are, their ranks and weights."""

    query: torch.Tensor
    rank: torch.Tensor
    weight: torch.Tensor

    def at(self, chosen: torch.Tensor) -> Asked:
        """Those where `chosen` holds."""
        places = chosen.nonzero()[:, 0]
        return Asked(*(column[places] for column in self))


class CudaSparseSearch:
    """An index on the chosen device. Memory: 8 bytes an entry and posting, and half of what is left."""

    at_once: int | None = 1
    order: Int32 | None = None

    def __init__(self, queries: Csr, index: SparseIndex, budget: int) -> None:
        self.queries, self.index, self.budget = queries, index, budget

    def fits(self) -> bool:
        """Whether the index takes up at most half of the device's free memory."""
        return fits_on_device(self.index.entries, free_gpu_bytes(torch_device()))

    def find(self, first: int, last: int, k: int) -> tuple[Int32, Float32]:
        """The answers to the queries `first:last`: `(ids[n, k], scores[n, k])`."""
        device = self._items.columns.device
        ids = torch.full((last - first, k), -1, dtype=torch.int32, device=device)
        scores = torch.zeros((last - first, k), dtype=torch.float32, device=device)

        def answer(start: int, end: int) -> None:
            found = self._block(first + start, first + end, k)
            width = found[0].shape[1]
            ids[start:end, :width], scores[start:end, :width] = found

        if len(self.index.items.pointer) > 1:
            in_blocks(answer, last - first, self._queries_at_once(k))
        return to_host(ids), to_host(scores)

    @cached_property
    def _items(self) -> DeviceCsr:
        return DeviceCsr.of(self.index.items, torch_device())

    @cached_property
    def _postings(self) -> DeviceCsr:
        return DeviceCsr.of(self.index.postings, torch_device())

    @cached_property
    def _rank(self) -> torch.Tensor:
        return _on_device(self.index.rank, torch_device())

    @cached_property
    def _scale(self) -> float:
        """What scores are multiplied with to become whole numbers, a power of 2."""
        largest = [float(side.weights.max(initial=1)) for side in (self.queries, self.index.items)]
        return 2.0 ** (FRACTION_BITS - ceil(log2(largest[0] * largest[1])))

    def _room(self) -> int:
        """Bytes that a step may take."""
        return working_memory(free_gpu_bytes(self._rank.device))

    def _queries_at_once(self, k: int) -> int:
        """Queries of a block: their keys fit into 32 bits, and their postings and candidates into memory."""
        items = len(self.index.items.pointer) - 1
        features = -(-len(self.index.items.columns) // items)
        needed = BYTES_PER_POSTING * (self.budget + PROPOSED_PER_KEPT * k * features)
        return max(1, min((2**32 - 1) // items, self._room() // needed))

    def _block(self, first: int, last: int, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """`(ids[n, <= k], scores)` of the queries `first:last`, best first, padded with -1 and 0."""
        asked = self._asked(first, last)
        walked = self._walked(asked, last - first)
        items, parts = self._propose(asked.at(walked), last - first, PROPOSED_PER_KEPT * k)
        parts = torch.where(parts > 0, parts + self._rest(asked.at(~walked), items), 0)
        scores = parts.float() / self._scale
        # positive floats have the order of their bits: one key for scores from high to low, then ids
        keys = (-scores.view(torch.int32).long() << 32) + items
        order = keys.topk(min(k, keys.shape[1]), dim=1, largest=False).indices
        scores, items = scores.gather(1, order), items.gather(1, order)
        return torch.where(scores > 0, items, -1).int(), scores

    def _asked(self, first: int, last: int) -> Asked:
        """The features of the queries `first:last`."""
        device = self._rank.device
        pointer = self.queries.pointer[first : last + 1]
        part = slice(pointer[0], pointer[-1])
        columns = _on_device(self.queries.columns[part], device)
        weights = _on_device(self.queries.weights[part], device)
        sizes = _on_device(np.diff(pointer), device)
        query = torch.arange(last - first, device=device).repeat_interleave(sizes, output_size=len(columns))
        keys, order = ((query << 32) + self._rank[columns]).sort()
        return Asked(query, keys & 0xFFFFFFFF, weights[order])

    def _walked(self, asked: Asked, queries: int) -> torch.Tensor:
        """Which features propose: those of each query that have at most `budget` postings in all."""
        postings = self._postings.sizes[asked.rank].cumsum(0)
        starts = torch.searchsorted(asked.query, torch.arange(queries, device=postings.device))
        before = torch.cat([postings.new_zeros(1), postings])[starts]
        return postings - before[asked.query] <= self.budget

    def _propose(self, asked: Asked, queries: int, wanted: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The `wanted` best items of each query by these features: `(items[queries, <= wanted], scores)`.

        Scores are whole numbers; where a query has fewer items, they are 0.
        """
        count = len(self._items.sizes)
        owner, item, weight = _entries(self._postings, asked.rank)
        keys, order = ((asked.query * count - 2**31)[owner] + item).int().sort()
        parts = self._whole(weight * asked.weight[owner]).clamp_(min=1)[order].cumsum(0)
        ends = torch.cat([keys.diff() != 0, torch.ones_like(keys[:1], dtype=torch.bool)]).nonzero()[:, 0]
        keys, parts = keys[ends].long() + 2**31, parts[ends].diff(prepend=parts.new_zeros(1))
        query = keys // count
        starts = torch.searchsorted(query, torch.arange(queries + 1, device=query.device))
        width = max(1, int(starts.diff().max()))
        place = query * width + torch.arange(len(query), device=query.device) - starts[query]
        table = parts.new_zeros((2, queries * width))
        table[0, place], table[1, place] = parts, keys % count
        scores, items = table.view(2, queries, width)
        if width > wanted:
            best = scores.float().topk(wanted, dim=1).indices
            scores, items = scores.gather(1, best), items.gather(1, best)
        return items, scores

    def _rest(self, asked: Asked, items: torch.Tensor) -> torch.Tensor:
        """What these features add to the scores of `items[queries, n]`, in whole numbers."""
        added = torch.zeros_like(items)
        if not len(asked.rank):
            return added
        lowest = int(asked.rank.min())
        width = len(self._postings.sizes) - lowest
        step = max(1, self._room() // (4 * width))
        for first in range(0, len(items), step):
            some = items[first : first + step].reshape(-1)
            ours = asked.at((asked.query >= first) & (asked.query < first + step))
            table = torch.zeros((min(step, len(items) - first), width), device=items.device)
            table[ours.query - first, ours.rank - lowest] = ours.weight
            owner, rank, weight = _entries(self._items, some)
            asks = table[owner // items.shape[1], (rank - lowest).clamp_(min=0)]
            parts = self._whole(torch.where(rank >= lowest, asks * weight, 0)).cumsum(0)
            ends = self._items.sizes[some].cumsum(0)
            sums = torch.cat([parts.new_zeros(1), parts])[ends].diff(prepend=parts.new_zeros(1))
            added[first : first + step] = sums.view(-1, items.shape[1])
        return added

    def _whole(self, scores: torch.Tensor) -> torch.Tensor:
        """Scores as whole numbers."""
        return (scores * self._scale).long()


def _entries(matrix: DeviceCsr, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """All entries of some rows, one after the other: the place in `rows`, the column and the weight."""
    sizes = matrix.sizes[rows]
    ends = sizes.cumsum(0)
    total = int(sizes.sum())
    owner = torch.arange(len(rows), device=rows.device).repeat_interleave(sizes, output_size=total)
    place = (matrix.starts[rows] - ends + sizes)[owner] + torch.arange(total, device=rows.device)
    return owner, matrix.columns[place], matrix.weights[place]


def _on_device(array: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """A copy on the device; torch takes no array that cannot be written to."""
    return torch.from_numpy(np.require(array, requirements=["C", "W"])).to(device)
