"""Candidate pairs on a torch device, and what sketches say of them: the twin of `pairs.py`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch

from largeea.evidence.cuda_rows import row_products
from largeea.execution.devices import free_gpu_bytes, in_blocks, tensor
from largeea.graph import Int64
from largeea.similarity import Similarity

_MOST_BYTES = 4 << 30
"""Memory for the vectors of one block of rows."""
_MOST_PRODUCTS = 65_535
"""Matrix products of one call: what every library allows."""


def rows_at_once(bytes_per_row: int, device: Any) -> int:
    """Rows of a block that takes a quarter of the free memory at most."""
    room = min(_MOST_BYTES, free_gpu_bytes(device) // 4)
    return max(1, room // max(bytes_per_row, 1))


class VectorTable:
    """Room for vectors of so many nodes, rounded to whole numbers."""

    def __init__(self, count: int, dimension: int, device: Any) -> None:
        self.numbers = torch.empty((count, dimension), dtype=torch.float16, device=device)
        self.units, self.lengths = torch.empty((2, count), device=device)
        """What one whole number of each vector stands for, and its squared length."""


class DevicePairs:
    """Candidate pairs in CSR form, with the sums over all sketches so far. Every row has a pair."""

    def __init__(
        self, sources: torch.Tensor, lengths: Int64, columns: torch.Tensor, products: torch.Tensor
    ) -> None:
        self.sources = sources
        """The node of each row, int32 `[rows]`."""
        self.lengths = lengths
        """Pairs of each row, on the host; there are no rows without any."""
        self.columns = columns
        """The target of each pair, int32 `[pairs]`."""
        self.products = products
        """Inner products of their vectors, `[pairs]`."""
        self.device = columns.device
        self.pointers = np.concatenate([[0], np.cumsum(lengths)])

    @classmethod
    def of(cls, candidates: Similarity, device: Any) -> DevicePairs:
        """The pairs of a matrix."""
        lengths = np.diff(candidates.indptr)
        filled = np.flatnonzero(lengths)
        columns = tensor(candidates.indices, device)
        products = torch.zeros(len(columns), device=device)
        return cls(tensor(filled.astype(np.int32), device), lengths[filled], columns, products)

    @classmethod
    def of_top_k(
        cls,
        nodes: Sequence[torch.Tensor],
        ids: torch.Tensor,
        cosines: torch.Tensor,
        squares: Sequence[torch.Tensor],
    ) -> DevicePairs:
        """See `Pairs.of_top_k`; sources without any pair have no row."""
        ids, order = ids.sort(dim=1)
        is_pair = ids >= 0
        lengths = is_pair.sum(dim=1)
        rows = torch.nonzero(lengths).view(-1)
        place, products = ids[is_pair], cosines.gather(1, order)[is_pair]
        products *= squares[1].sqrt().index_select(0, place)
        counts = lengths.index_select(0, rows).cpu().numpy()
        found = cls(nodes[0].index_select(0, rows), counts, nodes[1].index_select(0, place), products)
        products *= squares[0].sqrt().index_select(0, rows).index_select(0, found.row)
        return found

    @cached_property
    def row(self) -> torch.Tensor:
        """The row of each pair, int32 `[pairs]`."""
        lengths = tensor(self.lengths, self.device)
        numbers = torch.arange(len(lengths), dtype=torch.int32, device=self.device)
        return torch.repeat_interleave(numbers, lengths, output_size=len(self.columns))

    @cached_property
    def _starts(self) -> torch.Tensor:
        """The first pair of each row, `[rows]`."""
        starts: torch.Tensor = tensor(self.pointers[:-1], self.device)
        return starts

    def add_products(self, source: VectorTable, target: VectorTable) -> None:
        """Add the inner products of all pairs; the vectors of both tables are at the ids of their nodes."""

        def add(first: int, last: int) -> None:
            pairs, place, longest = self._padded(first, last)
            column = self.columns[pairs]
            padded = torch.zeros((last - first) * longest, dtype=torch.int32, device=self.device)
            padded.index_copy_(0, place, column)
            gathered = target.numbers.index_select(0, padded).view(last - first, longest, -1)
            sources = self.sources[first:last]
            found = row_products(gathered, source.numbers.index_select(0, sources))
            found *= source.units.index_select(0, sources)[:, None]
            chosen = found.view(-1).index_select(0, place)
            self.products[pairs] += chosen.mul_(target.units.index_select(0, column))

        width, longest = source.numbers.shape[1], int(self.lengths.max(initial=0))
        size = rows_at_once(longest * (2 * width + 48), self.device)
        in_blocks(add, len(self.lengths), min(_MOST_PRODUCTS, size))

    def best(self, scores: torch.Tensor, count: int) -> tuple[DevicePairs, torch.Tensor]:
        """The best so many pairs of each row by scores from 0 on, with their sums, and their positions.

        Ties go to the first ones.
        """
        kept = np.minimum(self.lengths, count)
        found = []

        def choose(first: int, last: int) -> None:
            pairs, place, longest = self._padded(first, last)
            padded = torch.full(((last - first) * longest,), -1.0, device=self.device)
            padded.index_copy_(0, place, scores[pairs])
            order = padded.view(-1, longest).sort(dim=1, descending=True, stable=True).indices
            order = order[:, :count]
            inside = order < tensor(self.lengths[first:last], self.device)[:, None]
            position = torch.where(inside, order, longest).sort(dim=1).values
            position += self._starts[first:last, None]
            within = torch.arange(order.shape[1], device=self.device)
            found.append(position[within < tensor(kept[first:last], self.device)[:, None]])

        longest = int(self.lengths.max(initial=0))
        in_blocks(choose, len(self.lengths), rows_at_once(64 * longest, self.device))
        positions = torch.cat(found) if found else torch.zeros(0, dtype=torch.int64, device=self.device)
        fewer = (some.index_select(0, positions) for some in (self.columns, self.products))
        return DevicePairs(self.sources, kept, *fewer), positions

    def top_k(self, scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """See `Pairs.top_k`."""
        fewer, positions = self.best(scores, k)
        shape = len(self.lengths), k
        inside = torch.arange(k, device=self.device) < tensor(fewer.lengths, self.device)[:, None]
        ids = torch.full(shape, -1, dtype=torch.int32, device=self.device)
        best = torch.zeros(shape, device=self.device)
        ids[inside], best[inside] = fewer.columns, scores.index_select(0, positions)
        return ids, best

    def _padded(self, first: int, last: int) -> tuple[slice, torch.Tensor, int]:
        """The pairs of the rows `first:last`, their places if rows are padded to the longest one, and its
        length."""
        longest = int(self.lengths[first:last].max())
        pairs = slice(int(self.pointers[first]), int(self.pointers[last]))
        row = self.row[pairs].long()
        rank = torch.arange(pairs.start, pairs.stop, device=self.device)
        rank -= self._starts.index_select(0, row)
        return pairs, row.sub_(first).mul_(longest).add_(rank), longest
