"""Label propagation on a torch device, with torch alone: the twin of `sketches.py`.

Sums over edges are those of sorted segments (`embedding_bag`), in a fixed order: no atomic additions, whose
order would change the last digits. Vectors are rounded to whole numbers as on the CPU, so their inner
products are exact in any order. Scores differ from those of the CPU by less than 0.005, where a number that
lies about halfway is rounded the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from largeea.evidence.cuda_rows import Segments, remove_labels, rounded, row_products, scaled_to
from largeea.evidence.graphs import GraphPair
from largeea.evidence.labels import HEAD_WIDTH, HOPS, REACHED_LENGTH, LabelledGraphs, Side, signs
from largeea.execution.devices import free_gpu_bytes, in_blocks, tensor, torch_device
from largeea.graph import Float32, Int32
from largeea.search.cuda import nearest_on_device
from largeea.similarity import Similarity

BYTES_PER_EDGE = 48
BYTES_PER_SOURCE = 1500
"""Of the candidates of a source entity, and their scores."""
_MOST_BYTES = 4 << 30
"""Memory for the vectors of one block of rows."""
_MOST_PRODUCTS = 65_535
"""Matrix products of one call: what every library allows."""


def fits(graphs: GraphPair, label_width: int) -> bool:
    """Whether the chosen device has the memory for one sketch of both graphs, and room for blocks."""
    sides = graphs.source, graphs.target
    known = 6 * max(side.nodes for side in sides) * (HOPS + 1) * label_width
    vectors = 2 * sum(graphs.shape) * (2 * HOPS + 1) * label_width
    edges = BYTES_PER_EDGE * sum(len(side.relation) for side in sides)
    needed = known + vectors + edges + BYTES_PER_SOURCE * graphs.shape[0]
    return 1.3 * needed <= free_gpu_bytes(torch_device())


class _DeviceSide:
    """One of both graphs on the device."""

    def __init__(self, side: Side, device: Any) -> None:
        edges = side.edges
        self.side, self.nodes = side, edges.nodes
        self.neighbour, self.relation, self.weights, self.labelled, self.label_of = (
            tensor(column, device)
            for column in (edges.neighbour, edges.relation, side.weights, side.labelled, side.label_of)
        )
        self.segments = Segments(edges.pointers, device)

    @cached_property
    def by_relation(self) -> tuple[Segments, torch.Tensor]:
        """The labels of the nodes that have each relation, once for each edge."""
        edges, device = self.side.edges, self.neighbour.device
        lengths = tensor(np.diff(edges.pointers), device)
        label = torch.repeat_interleave(self.label_of, lengths, output_size=len(self.neighbour))
        kept = torch.nonzero(label >= 0).view(-1)
        relation, order = torch.sort(self.relation.index_select(0, kept), stable=True)
        counts = torch.bincount(relation, minlength=len(edges.inverse_functionality)).cpu().numpy()
        pointers = np.concatenate([[0], np.cumsum(counts)])
        return Segments(pointers, device), label.index_select(0, kept.index_select(0, order))


@dataclass(frozen=True, eq=False)
class _Vectors:
    """Rounded vectors of the first nodes of a graph."""

    numbers: torch.Tensor
    """Whole numbers, float16 `[nodes, dimension]`."""
    steps: torch.Tensor
    """What one of them stands for, `[nodes]`."""
    lengths: torch.Tensor
    """Squared lengths, `[nodes]`."""


class CudaSketches:
    """Vectors of the entities of two graphs, made from their anchors, sketch by sketch, on a torch device."""

    def __init__(self, graphs: LabelledGraphs, device: Any = None) -> None:
        self.graphs = graphs
        self.device = device or torch_device()
        self._sides = tuple(_DeviceSide(side, self.device) for side in self.graphs.sides)

    def nearest(self, nodes: tuple[Int32, Int32], k: int) -> Similarity:
        """See `Surroundings.nearest`. The vectors do not leave the device."""
        unit = []
        for number, some in enumerate(nodes):
            made = self._vectors(0, number, int(some.max()) + 1)
            chosen = tensor(some, self.device)
            lengths = made.lengths.index_select(0, chosen).sqrt_()
            scale = made.steps.index_select(0, chosen) / torch.where(lengths > 0, lengths, 1)
            unit.append(made.numbers.index_select(0, chosen).mul_(scale[:, None].half()))
            del made
        ids, cosines = nearest_on_device(unit[0], unit[1], k)
        ids, order = ids.sort(dim=1)  # the matrix wants them so, and a GPU sorts faster
        return Similarity.from_top_k(ids.cpu().numpy(), cosines.gather(1, order).cpu().numpy(), len(nodes[1]))

    def cosines(self, candidates: Similarity, sketches: int) -> Float32:
        """See `Surroundings.cosines`."""
        rows, columns = (tensor(some, self.device) for some in (candidates.rows, candidates.indices))
        products = torch.zeros(len(candidates), device=self.device)
        squares = [torch.zeros(size, device=self.device) for size in candidates.shape]
        for number in range(sketches):
            made = [self._vectors(number, side, candidates.shape[side]) for side in (0, 1)]
            self._add_products(made[0], made[1], candidates, rows, columns, products)
            for total, vectors in zip(squares, made, strict=True):
                total += vectors.lengths
            del made
        for total, ends in zip(squares, (rows, columns), strict=True):
            products *= torch.where(total > 0, total.rsqrt(), 0).index_select(0, ends)
        products /= self._share_kept(rows, columns)
        found: Float32 = products.clamp_(0, 1).mul_(1e5).round_().div_(1e5).cpu().numpy()
        return found

    def _share_kept(self, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
        """See `LabelledGraphs.share_kept`."""
        ours, theirs = (
            side.label_of.index_select(0, ends)
            for side, ends in zip(self._sides, (rows, columns), strict=True)
        )
        removed = torch.where(ours == theirs, 0, (ours >= 0).int() + (theirs >= 0).int())
        shares: torch.Tensor = tensor(self.graphs.shares_kept, self.device)
        return shares.index_select(0, removed)

    def _known(self, side: _DeviceSide, labels: torch.Tensor) -> torch.Tensor:
        """What every node knows, rounded, rows of about length 1, `[nodes, (HOPS + 1) * width]`."""
        width = labels.shape[1]
        known = torch.zeros((side.nodes, (HOPS + 1) * width), device=self.device)
        known[:, :width].index_copy_(0, side.labelled.long(), labels * width**-0.5)
        before = known[:, :width].contiguous()
        for hop in range(1, HOPS + 1):
            before = scaled_to(1, side.segments.sums(before, side.neighbour, side.weights, 0, side.nodes))
            known[:, hop * width : (hop + 1) * width] = before
        del before

        def finish(first: int, last: int) -> None:
            numbers, steps = rounded(scaled_to(1, known[first:last]))
            known[first:last] = numbers.mul_(steps[:, None])

        in_blocks(finish, side.nodes, self._rows_at_once(16 * known.shape[1]))
        return known

    def _vectors(self, number: int, which: int, count: int) -> _Vectors:
        """The vectors of the first `count` nodes of a graph by one sketch."""
        bits, by_agreement, by_ends = self.graphs.random(number)
        side, width = self._sides[which], self.graphs.label_width
        labels = tensor(signs(bits, width), self.device)
        known = self._known(side, labels)
        segments, having = side.by_relation
        once = torch.ones(len(having), device=self.device)
        sums = segments.sums(labels, having, once, 0, len(segments.pointers) - 1).cpu().numpy()
        mixed = tensor(side.side.relation_vectors(sums, by_agreement, by_ends).T.copy(), self.device)
        dimension = (2 * HOPS + 1) * width
        numbers = torch.empty((count, dimension), dtype=torch.float16, device=self.device)
        steps, lengths = torch.empty((2, count), device=self.device)

        def make(first: int, last: int) -> None:
            vectors = torch.empty((last - first, dimension), device=self.device)
            seen, reached = vectors[:, : known.shape[1]], vectors[:, known.shape[1] :]
            edges = slice(*(int(side.segments.pointers[node]) for node in (first, last)))
            for head in range(self.graphs.heads):
                part = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
                weights = mixed[head].index_select(0, side.relation[edges]).mul_(side.weights[edges])
                seen[:, part] = side.segments.sums(
                    known[:, part], side.neighbour[edges], weights, first, last
                )
            reached[:] = known[first:last, width:]
            for part_of in (seen, reached):
                remove_labels(part_of, labels, side.label_of[first:last])
            seen[:], reached[:] = scaled_to(1, seen), scaled_to(REACHED_LENGTH, reached)
            whole, steps[first:last] = rounded(vectors)
            numbers[first:last] = whole
            lengths[first:last] = whole.square_().sum(dim=1).mul_(steps[first:last].square())

        in_blocks(make, count, self._rows_at_once(12 * dimension))
        return _Vectors(numbers, steps, lengths)

    def _add_products(
        self,
        source: _Vectors,
        target: _Vectors,
        candidates: Similarity,
        rows: torch.Tensor,
        columns: torch.Tensor,
        products: torch.Tensor,
    ) -> None:
        """Add the inner products of all candidate pairs to `products[entries]`.

        The targets of a block of rows are padded to the longest row, and multiplied row by row.
        """
        longest = int(np.diff(candidates.indptr).max(initial=0))
        pointers = tensor(candidates.indptr, self.device)

        def add(first: int, last: int) -> None:
            entries = slice(int(candidates.indptr[first]), int(candidates.indptr[last]))
            row, column = rows[entries].long(), columns[entries]
            rank = torch.arange(entries.start, entries.stop, device=self.device) - pointers.index_select(
                0, row
            )
            place = (row - first).mul_(longest).add_(rank)
            padded = torch.zeros((last - first) * longest, dtype=torch.int32, device=self.device)
            padded.index_copy_(0, place, column)
            gathered = target.numbers.index_select(0, padded).view(last - first, longest, -1)
            found = row_products(gathered, source.numbers[first:last]).view(-1).index_select(0, place)
            found *= source.steps.index_select(0, row)
            products[entries] += found.mul_(target.steps.index_select(0, column))

        width = source.numbers.shape[1]
        size = min(_MOST_PRODUCTS, self._rows_at_once(longest * (2 * width + 48)))
        in_blocks(add, candidates.shape[0], size)

    def _rows_at_once(self, bytes_per_row: int) -> int:
        room = min(_MOST_BYTES, free_gpu_bytes(self.device) // 4)
        return max(1, room // max(bytes_per_row, 1))
