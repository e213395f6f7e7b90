"""Neighbour evidence on a torch device, with torch alone: the twin of `kernels.witnesses`.

Edges are joined through anchors, block by block of source rows. A stable sort brings the witnesses of a pair
together, and they are added up in float64: no atomic additions, whose order would change the last digits.
Scores differ from those of the CPU by less than 1e-5, and ties are broken alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from largeea.evidence.anchors import Anchors
from largeea.evidence.cuda_rows import DeviceEdges
from largeea.evidence.graphs import GraphPair
from largeea.evidence.kernels import STEPS
from largeea.execution.devices import free_gpu_bytes, in_blocks, tensor, to_host
from largeea.graph import Arrays, Int64
from largeea.graph.edges import Edges
from largeea.similarity import Similarity

BYTES_PER_WITNESS = 80
"""Of a witness while it is joined, sorted and added up."""
_MOST_BYTES = 8 << 30


class Joins:
    """The edges of both graphs on a device, ready to be joined through anchors."""

    def __init__(
        self,
        graphs: GraphPair,
        anchors: Anchors,
        agreement: Similarity,
        kinds: Arrays,
        max_fan: int,
        max_strength: float,
        device: Any,
    ) -> None:
        source, target = graphs.source, graphs.target
        self.shape, self.device, self.max_strength = graphs.shape, device, max_strength
        self.kinds, self.kinds_t = (tensor(kinds[side], device) for side in ("source", "target"))
        self.functional, self.functional_t = (
            tensor(side.inverse_functionality, device) for side in (source, target)
        )
        self.agreement = tensor(agreement.scores, device)
        self._agreed = tensor(
            agreement.rows.astype(np.int64) * agreement.shape[1] + agreement.indices, device
        )
        self._relations_t = agreement.shape[1]
        self._group(target, max_fan)
        self._link(source, anchors)

    def _group(self, target: Edges, max_fan: int) -> None:
        """Runs of target edges of one node and one relation, unless they are too long."""
        edges = DeviceEdges.of(target, self.device)
        relation, fan = edges.relation, edges.fan
        node = edges.of_node(torch.arange(edges.nodes, device=self.device))
        is_first = torch.ones(len(relation), dtype=torch.bool, device=self.device)
        is_first[1:] = (relation[1:] != relation[:-1]) | (node[1:] != node[:-1])
        self.start = torch.nonzero(is_first & (fan <= max_fan)).view(-1)
        """First edge of each run, `[runs]`."""
        self.fan, self.inverse = fan.index_select(0, self.start), relation.index_select(0, self.start) ^ 1
        runs = torch.bincount(node.index_select(0, self.start), minlength=target.nodes)
        self.runs = torch.cat([runs.new_zeros(1), runs.cumsum(0)])
        """The runs of node y are `runs[y] : runs[y + 1]`."""
        self.neighbour_t = edges.neighbour

    def _link(self, source: Edges, anchors: Anchors) -> None:
        """Source edges to anchors, and how many runs each of them meets."""
        count = int(source.pointers[self.shape[0]])
        edges = DeviceEdges.of(source, self.device)
        node = edges.of_node(torch.arange(self.shape[0], device=self.device), count)
        neighbour = edges.neighbour[:count]
        counterpart = tensor(anchors.target, self.device).index_select(0, neighbour)
        kept = torch.nonzero((counterpart >= 0) & (self.kinds.index_select(0, node) >= 0)).view(-1)
        self.node, self.counterpart = (some.index_select(0, kept) for some in (node, counterpart))
        self.relation = edges.relation[:count].index_select(0, kept)
        self.trust = tensor(anchors.trust, self.device).index_select(0, neighbour.index_select(0, kept))
        self.met = self.runs[self.counterpart + 1] - self.runs[self.counterpart]
        rows = torch.bincount(self.node, minlength=self.shape[0]).cumsum(0)
        self.edges: Int64 = np.concatenate([[0], rows.cpu().numpy()])
        """The edges of source row x are `edges[x] : edges[x + 1]`."""
        total = torch.cat([self.met.new_zeros(1), self.met.cumsum(0)])
        self.meetings: Int64 = total.index_select(0, tensor(self.edges, self.device)).cpu().numpy()
        """Meetings of edges and runs before each source row."""

    def best(self, top_k: int, first_row: int, last_row: int) -> Similarity:
        """The `top_k` targets of these sources with the highest evidence; see `neighbour_evidence`."""
        found = []
        room = min(_MOST_BYTES, free_gpu_bytes(self.device) // 3) // BYTES_PER_WITNESS

        def work(first: int, last: int) -> None:
            found.append(self._block(first_row + first, first_row + last, top_k, room))

        average = max(1, int(self.meetings[-1]) // max(self.shape[0], 1))
        in_blocks(work, last_row - first_row, max(1, room // average))
        rows, columns, sums = (torch.cat(some) for some in zip(*found, strict=True))
        found.clear()
        ends = torch.bincount(rows, minlength=self.shape[0]).cumsum(0).cpu().numpy()
        scores = sums.neg_().exp_().neg_().add_(1)
        return Similarity(self.shape, np.concatenate([[0], ends]), to_host(columns), to_host(scores))

    def _block(
        self, first: int, last: int, top_k: int, room: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The best pairs of the source rows `first:last`; halves of them, if they have too many witnesses."""
        if int(self.meetings[last] - self.meetings[first]) <= room or last - first == 1:
            edge, run, gain = self._meetings(first, last)
            fan = self.fan.index_select(0, run)
            if last - first == 1 or int(fan.sum()) <= room:
                return self._summed(first, edge, run, gain, fan, top_k)
        middle = (first + last) // 2
        halves = [self._block(*rows, top_k, room) for rows in ((first, middle), (middle, last))]
        rows, columns, sums = (torch.cat(some) for some in zip(*halves, strict=True))
        return rows, columns, sums

    def _meetings(self, first: int, last: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Source edges and runs of target edges at their anchors, `[n]` each, with what a witness adds."""
        start, end = int(self.edges[first]), int(self.edges[last])
        edge, offset = _expanded(self.met[start:end])
        edge += start
        run = self.runs.index_select(0, self.counterpart.index_select(0, edge)) + offset
        relation, inverse = self.relation.index_select(0, edge), self.inverse.index_select(0, run)
        strength = self._agreement(relation, inverse) * self.trust.index_select(0, edge)
        strength *= torch.minimum(
            self.functional.index_select(0, relation), self.functional_t.index_select(0, inverse)
        )
        gain = -torch.log(1 - strength.clamp_(max=self.max_strength).double())
        gain = (torch.round(gain * STEPS) / STEPS).float()
        kept = torch.nonzero(gain > 0).view(-1)
        return edge.index_select(0, kept), run.index_select(0, kept), gain.index_select(0, kept)

    def _agreement(self, relation: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
        """The agreement of relations of both graphs, 0 where there is none, `[n]`."""
        wanted = relation.long() * self._relations_t + inverse
        if not len(self._agreed):
            return torch.zeros(len(wanted), device=self.device)
        at = torch.searchsorted(self._agreed, wanted).clamp_(max=len(self._agreed) - 1)
        return torch.where(self._agreed.index_select(0, at) == wanted, self.agreement.index_select(0, at), 0)

    def _summed(
        self,
        first: int,
        edge: torch.Tensor,
        run: torch.Tensor,
        gain: torch.Tensor,
        fan: torch.Tensor,
        top_k: int,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Rows, columns and sums of the best pairs, in the order of their ids."""
        meeting, offset = _expanded(fan)
        other = self.start.index_select(0, run).index_select(0, meeting) + offset
        target = self.neighbour_t.index_select(0, other)
        row = self.node.index_select(0, edge).index_select(0, meeting)
        kind = torch.where(target < self.shape[1], self.kinds_t[target.clamp(max=self.shape[1] - 1)], -1)
        kept = torch.nonzero(kind == self.kinds.index_select(0, row)).view(-1)
        key = (row.index_select(0, kept) - first) * self.shape[1] + target.index_select(0, kept)
        key, order = torch.sort(key, stable=True)
        parts = gain.index_select(0, meeting.index_select(0, kept)).index_select(0, order).double()
        pair, witnesses = torch.unique_consecutive(key, return_counts=True)
        sums = torch.segment_reduce(parts, "sum", lengths=witnesses, unsafe=True)
        best = _best_of_rows(pair // self.shape[1], sums, top_k)
        pair = pair.index_select(0, best)
        rows, columns = pair // self.shape[1] + first, pair % self.shape[1]
        return rows.int(), columns.int(), sums.index_select(0, best).float()


def _expanded(lengths: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Which segment each place is in, and its place there, for segments of these lengths laid end to end."""
    lengths = lengths.long()
    segment = torch.repeat_interleave(lengths)
    starts = lengths.cumsum(0) - lengths
    return segment, torch.arange(len(segment), device=lengths.device) - starts.index_select(0, segment)


def _best_of_rows(rows: torch.Tensor, sums: torch.Tensor, top_k: int) -> torch.Tensor:
    """Ascending positions of the `top_k` highest sums of each row, ties by position."""
    order = torch.sort(sums, descending=True, stable=True).indices
    order = order.index_select(0, torch.sort(rows.index_select(0, order), stable=True).indices)
    _, counts = torch.unique_consecutive(rows, return_counts=True)
    _, rank = _expanded(counts)
    return order[rank < top_k].sort().values
