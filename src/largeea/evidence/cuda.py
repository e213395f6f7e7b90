"""Label propagation on a torch device, with torch alone: the twin of `sketches.py`.

Sums over edges are those of sorted segments (`embedding_bag`), in a fixed order: no atomic additions, whose
order would change the last digits. Vectors are rounded to whole numbers as on the CPU, so their inner
products are exact in any order. Scores differ from those of the CPU by less than 0.005, where a number that
lies about halfway is rounded the other way. Which of the pairs that are about equally promising are scored by
all sketches may differ too.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch

from largeea.evidence.cuda_pairs import DevicePairs, VectorTable, rows_at_once
from largeea.evidence.cuda_rows import (
    DeviceEdges,
    Segments,
    inverse_root,
    remove_labels,
    rounded,
    scaled_to,
    signs,
)
from largeea.evidence.graphs import GraphPair
from largeea.evidence.labels import (
    FIRST_SKETCHES,
    HEAD_WIDTH,
    HOPS,
    LABEL_LEVEL,
    LEVELS,
    POOL,
    REACHED_LENGTH,
    SCORED_BY_ALL,
    LabelledGraphs,
    Side,
)
from largeea.evidence.sketch import relation_vectors
from largeea.execution.devices import free_gpu_bytes, in_blocks, tensor, to_host, torch_device
from largeea.graph import Float32, Int32
from largeea.progress import track
from largeea.search.cuda import nearest_on_device
from largeea.similarity import Similarity

BYTES_PER_EDGE = 48
BYTES_PER_SOURCE = 1500
"""Of the candidates of a source entity, and their scores."""


def fits(graphs: GraphPair, label_width: int) -> bool:
    """Whether the chosen device has the memory for one sketch of both graphs, and room for blocks."""
    sides = graphs.source, graphs.target
    known = 6 * max(side.nodes for side in sides) * (HOPS + 1) * label_width
    vectors = 2 * sum(graphs.shape) * (2 * HOPS + 1) * label_width
    edges = BYTES_PER_EDGE * sum(len(side.relation) for side in sides)
    needed = known + vectors + edges + BYTES_PER_SOURCE * graphs.shape[0]
    return 1.3 * needed <= free_gpu_bytes(torch_device())


class _DeviceSide:
    """One of both graphs on the device, with its labelled nodes."""

    def __init__(self, side: Side, device: Any) -> None:
        self.side, self.edges = side, DeviceEdges.of(side.edges, device)
        self.nodes = self.edges.nodes
        self.labelled, self.label_of, self.counts = (
            tensor(column, device) for column in (side.labelled, side.label_of, side.counts)
        )

    @cached_property
    def by_relation(self) -> tuple[Segments, torch.Tensor]:
        """The labels of the nodes that have each relation, once for each edge."""
        label = self.edges.of_node(self.label_of)
        kept = torch.nonzero(label >= 0).view(-1)
        relation, order = torch.sort(self.edges.relation.index_select(0, kept), stable=True)
        relations = len(self.side.edges.inverse_functionality)
        counts = torch.bincount(relation, minlength=relations).cpu().numpy()
        pointers = np.concatenate([[0], np.cumsum(counts)])
        return Segments(pointers, label.device), label.index_select(0, kept.index_select(0, order))

    def known(self, labels: torch.Tensor) -> torch.Tensor:
        """What every node knows, times what it counts for others, `[nodes, (HOPS + 1) * width]`.

        See `sketch_kernels.py`.
        """
        width = labels.shape[1]
        known = torch.empty((self.nodes, (HOPS + 1) * width), device=labels.device)
        hops = (self.label_of >= 0).float()
        before = torch.zeros((self.nodes, width), device=labels.device)
        before.index_copy_(0, self.labelled.long(), labels * LABEL_LEVEL)
        for hop in range(HOPS + 1):
            if hop:
                before = self.edges.segments.sums(before, self.edges.neighbour, 0, self.nodes)
                hops += before.any(dim=1)
                before = scaled_to(LABEL_LEVEL * width**0.5, before).clamp_(-LEVELS, LEVELS).round_()
            before *= self.counts[:, None]
            known[:, hop * width : (hop + 1) * width] = before
        return known.mul_(hops.clamp_(min=1).rsqrt_()[:, None])


class CudaSketches:
    """Vectors of the entities of two graphs, made from their anchors, sketch by sketch, on a torch device."""

    def __init__(self, graphs: LabelledGraphs, device: Any = None) -> None:
        self.graphs = graphs
        self.device = device or torch_device()
        self._sides = tuple(_DeviceSide(side, self.device) for side in self.graphs.sides)

    def nearest(self, nodes: tuple[Int32, Int32], k: int, sketches: int) -> tuple[Int32, Float32]:
        """See `Surroundings.nearest`. The vectors do not leave the device."""
        unit, squares = [], []
        chosen = [tensor(some, self.device) for some in nodes]
        for side, places in enumerate(chosen):
            made = self.vectors(0, side, int(nodes[side].max()) + 1)
            squares.append(made.lengths.index_select(0, places))
            scale = made.units.index_select(0, places) * inverse_root(squares[side])
            unit.append(made.numbers.index_select(0, places).mul_(scale[:, None].half()))
            del made
        found = nearest_on_device(unit[0], unit[1], POOL * k)
        del unit
        pairs = DevicePairs.of_top_k(chosen, *found, squares)
        lengths = self._no_lengths()
        for total, places, known in zip(lengths, chosen, squares, strict=True):
            total.index_copy_(0, places.long(), known)
        self._add(pairs, lengths, range(1, sketches))
        ids, scores = pairs.top_k(self._cosines(pairs, lengths), k)
        best = np.full((len(nodes[0]), k), -1, np.int32), np.zeros((len(nodes[0]), k), np.float32)
        filled = np.searchsorted(nodes[0], pairs.sources.cpu().numpy())
        for whole, part in zip(best, (ids, scores), strict=True):
            whole[filled] = part.cpu().numpy()
        return best

    def cosines(self, candidates: Similarity, sketches: int) -> Float32:
        """See `Surroundings.cosines`."""
        pairs, lengths = DevicePairs.of(candidates, self.device), self._no_lengths()
        first = min(sketches, FIRST_SKETCHES)
        self._add(pairs, lengths, range(first))
        scores = self._cosines(pairs, lengths)
        if first < sketches:
            fewer, positions = pairs.best(scores, SCORED_BY_ALL)
            del pairs
            self._add(fewer, lengths, range(first, sketches))
            scores.index_copy_(0, positions, self._cosines(fewer, lengths))
        found: Float32 = to_host(scores)
        return found

    def _no_lengths(self) -> tuple[torch.Tensor, ...]:
        """Sums of squared lengths of the vectors of all nodes: none yet."""
        return tuple(torch.zeros(side.nodes, device=self.device) for side in self._sides)

    def _add(self, pairs: DevicePairs, lengths: tuple[torch.Tensor, ...], numbers: range) -> None:
        """Add what some sketches say of all pairs, and the squared lengths of the vectors."""
        counts = [int(ends.max()) + 1 if len(ends) else 0 for ends in (pairs.sources, pairs.columns)]
        for number in track(numbers, len(numbers)):
            made = [self.vectors(number, side, counts[side]) for side in (0, 1)]
            pairs.add_products(*made)
            for total, vectors in zip(lengths, made, strict=True):
                total[: len(vectors.lengths)] += vectors.lengths
            del made

    def _cosines(self, pairs: DevicePairs, lengths: tuple[torch.Tensor, ...]) -> torch.Tensor:
        """See `pair_kernels.cosines`."""
        inverse = [inverse_root(total) for total in lengths]
        labels, labels_t = (side.label_of for side in self._sides)
        ours = labels.index_select(0, pairs.sources).index_select(0, pairs.row)
        theirs = labels_t.index_select(0, pairs.columns)
        removed = (ours >= 0).int().add_(theirs >= 0).mul_(ours != theirs)
        shares: torch.Tensor = tensor(self.graphs.shares_kept, self.device)
        scores = pairs.products / shares.index_select(0, removed)
        scores *= inverse[0].index_select(0, pairs.sources).index_select(0, pairs.row)
        scores *= inverse[1].index_select(0, pairs.columns)
        return scores.clamp_(0, 1).mul_(1e5).round_().div_(1e5)

    def vectors(self, number: int, which: int, count: int) -> VectorTable:
        """The vectors of the first `count` nodes of a graph by one sketch."""
        bits, by_agreement, by_ends = self.graphs.random(number)
        side, width = self._sides[which], self.graphs.label_width
        labels = signs(tensor(bits.view(np.int64), self.device), width)
        known = side.known(labels)
        segments, having = side.by_relation
        sums = segments.sums(labels, having, 0, len(segments.pointers) - 1).cpu().numpy()
        mixed = tensor(relation_vectors(side.side, sums, by_agreement, by_ends).T.copy(), self.device)
        table = VectorTable(count, (2 * HOPS + 1) * width, self.device)
        edges = side.edges

        def make(first: int, last: int) -> None:
            vectors = torch.empty((last - first, table.numbers.shape[1]), device=self.device)
            seen, reached = vectors[:, : known.shape[1]], vectors[:, known.shape[1] :]
            span = slice(*(int(edges.segments.pointers[node]) for node in (first, last)))
            relation, neighbour = edges.relation[span], edges.neighbour[span]
            for head in range(self.graphs.heads):
                part = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
                weights = mixed[head].index_select(0, relation)
                seen[:, part] = edges.segments.sums(known[:, part], neighbour, first, last, weights)
            reached[:] = known[first:last, width:]
            for part_of in (seen, reached):
                remove_labels(part_of, labels, side.label_of[first:last])
            seen[:], reached[:] = scaled_to(1, seen), scaled_to(REACHED_LENGTH, reached)
            whole, units = rounded(vectors)
            table.numbers[first:last], table.units[first:last] = whole, units
            table.lengths[first:last] = whole.square_().sum(dim=1).mul_(units.square_())

        in_blocks(make, count, rows_at_once(12 * table.numbers.shape[1], self.device))
        return table
