"""Products with a sparse matrix whose pattern is fixed and whose values are learnt.

The two operations are each other's derivative, so a graph layer needs memory for one number per edge, not for
one vector per edge.

Values are taken with `index_select`. The gradient of `values[places]` is summed in an order that changes from
run to run on several CPU threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch.nn.functional import embedding_bag

from largeea.graph import Float32, Int64

_EDGES_PER_BLOCK = 1 << 20
"""Edges whose vectors a GPU holds at a time."""


class Pattern(torch.nn.Module):
    """The places of a matrix's entries, `[n, m]`: entry e is at `(row[e], column[e])`, in any order."""

    row: torch.Tensor
    column: torch.Tensor

    def __init__(self, row: torch.Tensor, column: torch.Tensor, shape: tuple[int, int]) -> None:
        super().__init__()
        self.shape = shape
        self.register_buffer("row", row)
        self.register_buffer("column", column)
        self._by_row = _Order(row, column, shape[0])
        self._by_column = _Order(column, row, shape[1])

    def times(self, values: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """The matrix with `values[entries]` times `vectors[m, d]`: `[n, d]`."""
        return self._by_row.sums(values, vectors)

    def transposed_times(self, values: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """The transposed matrix times `vectors[n, d]`: `[m, d]`."""
        return self._by_column.sums(values, vectors)

    def dots(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """`left[row] . right[column]` of every entry, from `left[n, d]` and `right[m, d]`: `[entries]`."""
        if left.device.type == "cpu":
            places = self.row.numpy(), self.column.numpy()
            return torch.from_numpy(_dots(left.float().numpy(), right.float().numpy(), *places))
        blocks = (torch.split(places, _EDGES_PER_BLOCK) for places in (self.row, self.column))
        dots = [(left[row] * right[column]).sum(dim=1) for row, column in zip(*blocks, strict=True)]
        return torch.cat(dots)

    def row_softmax(self, logits: torch.Tensor) -> torch.Tensor:
        """Weights that sum to 1 over the entries of each row, `[entries]`."""
        highest = logits.new_full((self.shape[0],), -torch.inf)
        highest = highest.scatter_reduce(0, self.row, logits.detach(), "amax")
        weights = torch.exp(logits - highest.index_select(0, self.row))
        total = weights.new_zeros(self.shape[0]).index_add(0, self.row, weights)
        return weights / total.index_select(0, self.row)


class _Order(torch.nn.Module):
    """The entries grouped by one coordinate, to sum over the other."""

    order: torch.Tensor
    other: torch.Tensor
    starts: torch.Tensor

    def __init__(self, key: torch.Tensor, other: torch.Tensor, count: int) -> None:
        super().__init__()
        order = torch.argsort(key, stable=True)
        self.register_buffer("order", order)
        self.register_buffer("other", other[order])
        self.register_buffer("starts", torch.searchsorted(key[order], torch.arange(count + 1)))

    def sums(self, values: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        """`sum values[e] * vectors[other[e]]` over the entries of each group: `[groups, d]`."""
        weights = values.to(vectors.dtype).index_select(0, self.order)
        return embedding_bag(
            self.other, vectors, self.starts, mode="sum", per_sample_weights=weights, include_last_offset=True
        )


class _Aggregate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: Pattern, values: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(values, vectors)
        return pattern.times(values, vectors)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor | None, torch.Tensor | None]:
        values, vectors = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        for_values = ctx.pattern.dots(gradient, vectors) if ctx.needs_input_grad[1] else None
        for_vectors = ctx.pattern.transposed_times(values, gradient) if ctx.needs_input_grad[2] else None
        return None, for_values, for_vectors


class _EntryDots(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pattern: Pattern, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        ctx.pattern = pattern
        ctx.save_for_backward(left, right)
        return pattern.dots(left, right)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor, torch.Tensor]:
        left, right = ctx.saved_tensors
        values = gradients[0].contiguous()
        return None, ctx.pattern.times(values, right), ctx.pattern.transposed_times(values, left)


def aggregate(pattern: Pattern, values: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Sparse `[n, m]` times dense `vectors[m, d]`, differentiable in both: `[n, d]`."""
    result: torch.Tensor = _Aggregate.apply(pattern, values, vectors)  # type: ignore[no-untyped-call]
    return result


def entry_dots(pattern: Pattern, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The entries of `left @ right.T` at the pattern's places, differentiable in both: `[entries]`."""
    result: torch.Tensor = _EntryDots.apply(pattern, left, right)  # type: ignore[no-untyped-call]
    return result


@njit(cache=True, nogil=True, fastmath=True)
def _dots(left: Float32, right: Float32, row: Int64, column: Int64) -> Float32:
    dots = np.empty(len(row), np.float32)
    for entry in range(len(row)):
        a, b = left[row[entry]], right[column[entry]]
        total = np.float32(0)
        for at in range(len(a)):
            total += a[at] * b[at]
        dots[entry] = total
    return dots
