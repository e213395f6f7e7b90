"""The layer of RREA: attention-weighted sums of reflected neighbours, with a gradient written by hand.

Autograd would keep a vector for every edge; these formulas need two numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from largeea.graph import Int64
from largeea.structure.models import kernels_cpu
from largeea.structure.models.sparse_product import Groups, kernels_for


class ReflectionEdges(torch.nn.Module):
    """Edges `[n, 3]` sorted by head: `head`, `relation`, `tail`, and `starts[entities + 1]` of each head."""

    head: torch.Tensor
    relation: torch.Tensor
    tail: torch.Tensor
    starts: torch.Tensor

    def __init__(self, edges: Int64, entities: int, relations: int) -> None:
        super().__init__()
        columns = torch.from_numpy(edges.T.astype(np.int32))
        order, starts = kernels_cpu.grouped(columns[0], entities)
        head, relation, tail = (column[order] for column in columns)
        self.by_head, self.by_tail = Groups(head, entities), Groups(tail, entities)
        self.by_relation = Groups(relation, relations)
        for name, buffer in (("head", head), ("relation", relation), ("tail", tail), ("starts", starts)):
            self.register_buffer(name, buffer)


class _Reflect(torch.autograd.Function):
    """Of an edge with tail t and relation r: `along = e_t . h_r`, the reflected neighbour
    `M_r e_t = e_t - 2 along h_r`, and the logit `v . M_r e_t + w . h_r`.
    """

    @staticmethod
    def forward(
        ctx: Any, edges: ReflectionEdges, vectors: torch.Tensor, axes: torch.Tensor, attention: torch.Tensor
    ) -> torch.Tensor:
        neighbour, axis = attention
        logits = _along(vectors, neighbour), _along(axes, axis), _along(axes, neighbour)
        total, along, weights = kernels_for(vectors).reflect(edges, vectors, axes, logits)
        ctx.edges = edges
        ctx.save_for_backward(vectors, axes, attention, logits[2], along, weights)
        return total  # type: ignore[no-any-return]

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor, torch.Tensor]:
        edges, gradient = ctx.edges, gradients[0].contiguous()
        vectors, axes, (neighbour, axis), slope, along, weights = ctx.saved_tensors
        kernels = kernels_for(vectors)
        for_logit, for_along = kernels.reflect_gradients(
            edges, vectors, axes, slope, along, weights, gradient
        )
        of_tail = edges.by_tail.totals(for_logit[:, None])[:, 0]
        by_relation = edges.by_relation.totals(torch.stack([for_logit, -2 * for_logit * along], dim=1))
        of_axis, of_slope = by_relation.T.contiguous()
        for_vectors = edges.by_tail.sums((weights, edges.head, gradient), (for_along, edges.relation, axes))
        for_vectors.addr_(of_tail, neighbour)
        for_axes = edges.by_relation.sums(
            (-2 * weights * along, edges.head, gradient), (for_along, edges.tail, vectors)
        )
        for_axes.addr_(of_axis, axis).addr_(of_slope, neighbour)
        for_neighbour = _weighted_sum(of_tail, vectors) + _weighted_sum(of_slope, axes)
        for_attention = torch.stack([for_neighbour, _weighted_sum(of_axis, axes)])
        return None, for_vectors, for_axes, for_attention


def _along(rows: torch.Tensor, direction: torch.Tensor) -> torch.Tensor:
    """`rows @ direction`, rounded alike with any number of threads; MKL's on Intel processors is not."""
    return (rows * direction).sum(dim=1)


def _weighted_sum(weights: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """`weights @ rows`, as `_along`."""
    return (weights[:, None] * rows).sum(dim=0)


def reflected(
    edges: ReflectionEdges, vectors: torch.Tensor, axes: torch.Tensor, attention: torch.Tensor
) -> torch.Tensor:
    """The attention-weighted sum of each entity's reflected neighbours, `[entities, d]`, differentiable.

    `vectors[entities, d]`, `axes[relations, d]` of length 1, `attention[2, d]` (v and w). Attention is the
    softmax over the logits of an entity's edges; a term of the entity itself would cancel out.
    """
    result: torch.Tensor = _Reflect.apply(edges, vectors, axes, attention)  # type: ignore[no-untyped-call]
    return result
