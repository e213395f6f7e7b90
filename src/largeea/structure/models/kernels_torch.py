"""The kernels of the structure models in torch, for a GPU: twins of those in `kernels_cpu`.

No step waits for the device, and no sum uses atomic additions: equal inputs give equal bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import embedding_bag

from largeea.structure.models.kernels_cpu import Term

_EDGES_PER_BLOCK = 1 << 20
"""Edges whose vectors are held at a time."""
_LEAST_LENGTH = 1e-12


def group_sums(order: torch.Tensor, starts: torch.Tensor, terms: Sequence[Term]) -> torch.Tensor:
    """See `kernels_cpu.group_sums`."""
    total, *others = (_group_sums(order, starts, *term) for term in terms)
    for other in others:
        total += other
    return total


def _group_sums(
    order: torch.Tensor,
    starts: torch.Tensor,
    values: torch.Tensor,
    index: torch.Tensor,
    vectors: torch.Tensor,
) -> torch.Tensor:
    places, weights = index.index_select(0, order), values.index_select(0, order)
    return embedding_bag(
        places, vectors, starts, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def reflect(
    edges: Any, vectors: torch.Tensor, axes: torch.Tensor, logits: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """See `kernels_cpu.reflect`."""
    of_tail, of_axis, slope = logits
    along = _dots(vectors, edges.tail, axes, edges.relation)
    logit = torch.addcmul(
        of_axis.index_select(0, edges.relation), along, slope.index_select(0, edges.relation), value=-2
    )
    logit += of_tail.index_select(0, edges.tail)
    highest = torch.segment_reduce(logit, "max", offsets=edges.starts, unsafe=True, initial=-torch.inf)
    weights = logit.sub_(highest.index_select(0, edges.head)).exp_()
    weights /= _head_totals(edges, weights).index_select(0, edges.head)
    straight, back = (weights, edges.tail, vectors), (-2 * weights * along, edges.relation, axes)
    return edges.by_head.sums(straight, back), along, weights


def reflect_gradients(
    edges: Any,
    vectors: torch.Tensor,
    axes: torch.Tensor,
    slope: torch.Tensor,
    along: torch.Tensor,
    weights: torch.Tensor,
    gradient: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `kernels_cpu.reflect_gradients`."""
    by_axis = _dots(gradient, edges.head, axes, edges.relation)
    for_weight = _dots(gradient, edges.head, vectors, edges.tail).addcmul_(along, by_axis, value=-2)
    mean = _head_totals(edges, weights * for_weight)
    for_logit = for_weight.sub_(mean.index_select(0, edges.head)).mul_(weights)
    steep = for_logit * slope.index_select(0, edges.relation)
    return for_logit, steep.addcmul_(weights, by_axis).mul_(-2)


def _head_totals(edges: Any, values: torch.Tensor) -> torch.Tensor:
    """The sum of the values of each head's edges."""
    return torch.segment_reduce(values, "sum", offsets=edges.starts, unsafe=True, initial=0)


def _dots(left: torch.Tensor, row: torch.Tensor, right: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
    """`left[row[e]] . right[column[e]]` of every edge."""
    blocks = (torch.split(places, _EDGES_PER_BLOCK) for places in (row, column))
    dots = [
        left.index_select(0, row).mul_(right.index_select(0, column)).sum(dim=1)
        for row, column in zip(*blocks, strict=True)
    ]
    return torch.cat(dots)


def unit_rows(
    embeddings: torch.Tensor, rows: torch.Tensor, dropout: float, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `kernels_cpu.unit_rows`. The random numbers are others than on a CPU."""
    units = embeddings.index_select(0, rows)
    if dropout:
        random = torch.Generator(units.device).manual_seed(seed)
        kept = torch.empty(units.shape, dtype=torch.bool, device=units.device)
        units.mul_(kept.bernoulli_(1 - dropout, generator=random))
    inverse = torch.linalg.vector_norm(units, dim=1).clamp_(min=_LEAST_LENGTH).reciprocal_()
    return units.mul_(inverse[:, None]), inverse


def soften(
    cosines: torch.Tensor,
    right: torch.Tensor,
    counterpart: torch.Tensor,
    negative: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """`(losses[n], pull[n])`: the log-sum-exp loss and the derivative of its mean by `right[n]`.

    `cosines[n, m]` to the negatives become the derivatives by them. A row's counterpart is not
    one of its negatives. Cosines are at most 1, so their exponentials are taken relative to that of 1.
    """
    own = torch.exp((right - 1) / temperature)
    push = cosines.sub_(1).div_(temperature).exp_().masked_fill_(counterpart[:, None] == negative, 0)
    everything = push.sum(dim=1) + own
    scale = 1 / (temperature * len(cosines))
    push.mul_((scale / everything)[:, None])
    return torch.log(everything / own), scale * (own / everything - 1)


def through_units(units: torch.Tensor, inverse: torch.Tensor, gradient: torch.Tensor) -> None:
    """Turn the gradient by units `[rows, d]` into that by the rows before dropout, in place."""
    along = (units * gradient).sum(dim=1, keepdim=True)
    gradient.addcmul_(along, units, value=-1).mul_(inverse[:, None]).mul_(units != 0)
