"""The log-sum-exp loss, with a gradient written by hand.

The loss and its gradient are computed together, in few passes over the cosines; autograd would write them a
dozen times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from largeea.structure.models.sparse_product import kernels_for, summed_rows

Ends = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Rows of the embeddings: entities `[seeds]`, their counterparts `[seeds]`, negatives of all `[k]`."""


def contrast(
    embeddings: torch.Tensor,
    directions: Sequence[Ends],
    temperature: float,
    dropout: float,
    seed: int,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The log-sum-exp loss, its mean over the seeds, summed over the directions; differentiable.

    Of a seed: `log(1 + sum exp((cos(e, negative) - cos(e, counterpart)) / temperature))`. Dropout leaves out
    that share of the numbers of every vector. `dtype` is the type of the matrix products, by default that of
    the embeddings `[n, d]`.
    """
    result: torch.Tensor = _Contrast.apply(embeddings, directions, temperature, dropout, seed, dtype)  # type: ignore[no-untyped-call]
    return result


class _Contrast(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        embeddings: torch.Tensor,
        directions: Sequence[Ends],
        temperature: float,
        dropout: float,
        seed: int,
        dtype: torch.dtype | None,
    ) -> torch.Tensor:
        rows = [torch.cat(ends) for ends in directions]
        gradient = embeddings.new_empty(sum(map(len, rows)), embeddings.shape[1])
        parts = torch.split(gradient, [len(asked) for asked in rows])
        losses = []
        for number, (asked, part) in enumerate(zip(rows, parts, strict=True)):
            seeds = len(directions[number][0])
            units, inverse = kernels_for(embeddings).unit_rows(embeddings, asked, dropout, 2 * seed + number)
            losses.append(_unit_loss(units, asked, seeds, temperature, dtype, part))
            kernels_for(embeddings).through_units(units, inverse, part)
        ctx.save_for_backward(summed_rows(torch.cat(rows), gradient, len(embeddings)))
        return torch.stack(losses).sum()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * gradients[0], None, None, None, None, None


def _unit_loss(
    units: torch.Tensor,
    rows: torch.Tensor,
    seeds: int,
    temperature: float,
    dtype: torch.dtype | None,
    gradient: torch.Tensor,
) -> torch.Tensor:
    """The loss of one direction; its gradient by the unit vectors is written to `gradient[rows, d]`."""
    sizes = [seeds, seeds, len(rows) - 2 * seeds]
    own, right, wrong = torch.split(units, sizes)
    _, counterpart, negative = torch.split(rows, sizes)
    for_own, for_right, for_wrong = torch.split(gradient, sizes)
    cosines = own.new_empty(seeds, sizes[2])
    _product(own, wrong.T, dtype, cosines)
    losses, pull = kernels_for(units).soften(
        cosines, (own * right).sum(dim=1), counterpart, negative, temperature
    )
    _product(cosines, wrong, dtype, for_own)
    _product(cosines.T, own, dtype, for_wrong)
    for_own.addcmul_(pull[:, None], right)
    torch.mul(pull[:, None], own, out=for_right)
    return torch.mean(losses)


def _product(
    left: torch.Tensor, right: torch.Tensor, dtype: torch.dtype | None, result: torch.Tensor
) -> None:
    """Write `left @ right`, computed in `dtype`."""
    if dtype is None:
        torch.mm(left, right, out=result)
    else:
        result.copy_(left.to(dtype) @ right.to(dtype))
