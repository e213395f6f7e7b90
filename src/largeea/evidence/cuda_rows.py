"""Rows of vectors on a torch device: sums over edges, lengths, rounding. Twins of some compiled kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from largeea.evidence.labels import HEAD_WIDTH, LEAST_LEFT, LEVELS
from largeea.execution.devices import tensor

PIECE = 128
"""Edges that are added up one after the other; the sums of a hub's pieces are added up in turn."""


class Segments:
    """The edges of every node, cut into pieces."""

    def __init__(self, pointers: Any, device: Any) -> None:
        pieces = -(-np.diff(pointers) // PIECE)
        self.pointers = pointers
        self.first = np.concatenate([[0], np.cumsum(pieces)])
        """The first piece of each node, `[nodes + 1]`."""
        inside = np.arange(self.first[-1]) - np.repeat(self.first[:-1], pieces)
        starts = np.append(np.repeat(pointers[:-1], pieces) + PIECE * inside, pointers[-1])
        self._starts, self._first = (tensor(some.astype(np.int32), device) for some in (starts, self.first))
        self._pieces = torch.arange(len(inside), dtype=torch.int32, device=device)

    def sums(
        self, table: torch.Tensor, others: torch.Tensor, weights: torch.Tensor, first: int, last: int
    ) -> torch.Tensor:
        """`sum of weights * table[others]` over the edges of the nodes `first:last`, `[nodes, width]`.

        `others` and `weights` are those of these edges.
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


def row_products(others: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """`others[n, k, d] . rows[n, d]` of whole numbers in float16: exact, float32 `[n, k]`."""
    if others.device.type == "cpu":
        return torch.bmm(others.float(), rows.float()[:, :, None])[:, :, 0]
    return torch.bmm(others, rows[:, :, None], out_dtype=torch.float32)[:, :, 0]


def remove_labels(vectors: torch.Tensor, labels: torch.Tensor, label_of: torch.Tensor) -> None:
    """See `kernels.remove_label`, for the labels of all nodes that have one."""
    own = torch.where((label_of >= 0)[:, None], labels.index_select(0, label_of.clamp(min=0)), 0)
    own = own.view(len(own), 1, -1, HEAD_WIDTH)
    before = vectors.square().sum(dim=1)
    parts = torch.unflatten(vectors, 1, (-1, own.shape[2], HEAD_WIDTH))
    parts -= (parts * own).sum(dim=3, keepdim=True).div_(HEAD_WIDTH) * own
    vectors.mul_((vectors.square().sum(dim=1) >= LEAST_LEFT * before)[:, None])


def scaled_to(length: float, vectors: torch.Tensor) -> torch.Tensor:
    """Rows of this length; rows of zeros stay."""
    norm = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    return vectors * torch.where(norm > 0, length / norm, 0)


def rounded(vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows in whole numbers up to `LEVELS`, and what one of them stands for, `[rows]`."""
    highest = vectors.abs().amax(dim=1)
    factor = torch.where(highest > 0, LEVELS / highest, 0)
    return (vectors * factor[:, None]).round_(), highest / LEVELS
