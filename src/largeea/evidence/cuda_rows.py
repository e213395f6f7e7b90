"""Rows of vectors on a torch device: sums over edges, lengths, rounding. Twins of some compiled kernels."""

from __future__ import annotations

from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from largeea.evidence.labels import HEAD_WIDTH, LEAST_LEFT, LEVELS
from largeea.execution.devices import tensor
from largeea.graph import Int64
from largeea.graph.edges import Edges

PIECE = 128
"""Edges that are added up one after the other; the sums of a hub's pieces are added up in turn."""


class Segments:
    """The edges of every node, cut into pieces."""

    def __init__(self, pointers: Int64, device: Any) -> None:
        pieces = -(-np.diff(pointers) // PIECE)
        self.pointers = pointers
        self.first = np.concatenate([[0], np.cumsum(pieces)])
        """The first piece of each node, `[nodes + 1]`."""
        inside = np.arange(self.first[-1]) - np.repeat(self.first[:-1], pieces)
        starts = np.append(np.repeat(pointers[:-1], pieces) + PIECE * inside, pointers[-1])
        self._starts, self._first = (tensor(some.astype(np.int32), device) for some in (starts, self.first))
        self._pieces = torch.arange(len(inside), dtype=torch.int32, device=device)

    def sums(
        self,
        table: torch.Tensor,
        others: torch.Tensor,
        first: int,
        last: int,
        weights: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """`sum of weights * table[others]` over the edges of the nodes `first:last`, `[nodes, width]`.

        `others` and `weights` are those of these edges; without weights, all are 1.
        """
        if not len(others):
            return torch.zeros((last - first, table.shape[1]), device=table.device)
        edge = int(self.pointers[first])
        piece, past = (int(self.first[node]) for node in (first, last))
        parts = embedding_bag(
            others, table, self._starts[piece : past + 1] - edge, mode="sum", per_sample_weights=weights,
            include_last_offset=True,
        )  # fmt: skip
        return embedding_bag(
            self._pieces[: past - piece], parts, self._first[first : last + 1] - piece, mode="sum",
            include_last_offset=True,
        )  # fmt: skip


class DeviceEdges:
    """The edges of one graph on a device."""

    def __init__(self, edges: Edges, device: Any) -> None:
        self.nodes, self.device = edges.nodes, device
        self.relation, self.neighbour, self.fan = (
            tensor(column, device) for column in (edges.relation, edges.neighbour, edges.fan)
        )
        self._pointers = edges.pointers

    @classmethod
    def of(cls, edges: Edges, device: Any) -> DeviceEdges:
        """The edges on a device: all stages share one copy, for as long as the edges exist."""
        copies = _copies.setdefault(edges, {})
        if str(device) not in copies:
            copies[str(device)] = cls(edges, device)
        return copies[str(device)]

    @cached_property
    def segments(self) -> Segments:
        """The edges of every node, to be summed up."""
        return Segments(self._pointers, self.device)

    @cached_property
    def degrees(self) -> torch.Tensor:
        """Edges of every node, int64 `[nodes]`."""
        degrees: torch.Tensor = tensor(np.diff(self._pointers), self.device)
        return degrees

    def of_node(self, values: torch.Tensor, edges: int | None = None) -> torch.Tensor:
        """The value of the node of each edge, for the first so many edges or for all."""
        count = len(self.relation) if edges is None else edges
        return torch.repeat_interleave(values, self.degrees[: len(values)], output_size=count)


_copies: WeakKeyDictionary[Edges, dict[str, DeviceEdges]] = WeakKeyDictionary()


def row_products(others: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """`others[n, k, d] . rows[n, d]` of whole numbers in float16: exact, float32 `[n, k]`."""
    if others.device.type == "cpu":
        return torch.bmm(others.float(), rows.float()[:, :, None])[:, :, 0]
    return torch.bmm(others, rows[:, :, None], out_dtype=torch.float32)[:, :, 0]


def signs(bits: torch.Tensor, width: int) -> torch.Tensor:
    """Labels of ±1, float32 `[labels, width]`, from one bit of int64 `bits[labels]` for each sign."""
    places = torch.arange(width, device=bits.device)
    return (bits[:, None] >> places).bitwise_and_(1).float().mul_(2).sub_(1)


def remove_labels(vectors: torch.Tensor, labels: torch.Tensor, label_of: torch.Tensor) -> None:
    """See `sketch_kernels.remove_label`, for the labels of all nodes that have one."""
    if not len(labels):
        return
    own = torch.where((label_of >= 0)[:, None], labels.index_select(0, label_of.clamp(min=0)), 0)
    own = own.view(len(own), 1, -1, HEAD_WIDTH)
    before = vectors.square().sum(dim=1)
    parts = torch.unflatten(vectors, 1, (-1, own.shape[2], HEAD_WIDTH))
    parts -= (parts * own).sum(dim=3, keepdim=True).div_(HEAD_WIDTH) * own
    vectors.mul_((vectors.square().sum(dim=1) >= LEAST_LEFT * before)[:, None])


def inverse_root(squares: torch.Tensor) -> torch.Tensor:
    """`1 / sqrt(squares)`, and 0 for 0."""
    return torch.where(squares > 0, squares.rsqrt(), 0)


def scaled_to(length: float, vectors: torch.Tensor) -> torch.Tensor:
    """Rows of this length; rows of zeros stay."""
    norm = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return vectors * torch.where(norm > 0, length / norm, 0)


def rounded(vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows in whole numbers up to `LEVELS`, and what one of them stands for, `[rows]`."""
    highest = vectors.abs().amax(dim=1)
    factor = torch.where(highest > 0, LEVELS / highest, 0)
    return (vectors * factor[:, None]).round_(), highest / LEVELS
