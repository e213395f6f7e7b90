"""Sums over groups of edges, and products with a sparse matrix of fixed values."""

from __future__ import annotations

from typing import Any

import torch

from largeea.structure.models import kernels_cpu, kernels_torch
from largeea.structure.models.kernels_cpu import Term

CHUNK = 64
"""Edges that are summed one after another. A large group, such as the edges of a popular relation, is summed
in chunks of this size: else a single thread of a GPU would work on it while the others wait."""


def kernels_for(tensor: torch.Tensor) -> Any:
    """The kernels for the device of a tensor: the module `kernels_cpu` or `kernels_torch`."""
    return kernels_cpu if tensor.device.type == "cpu" else kernels_torch


class Groups(torch.nn.Module):
    """Edges grouped by a key, such as their head or their relation.

    `order[edges]` lists the first chunk of every group, then the other chunks; chunk c is
    `order[starts[c]:starts[c + 1]]`. `large` are the groups with several chunks.
    """

    order: torch.Tensor
    starts: torch.Tensor
    large: torch.Tensor

    def __init__(self, key: torch.Tensor, groups: int) -> None:
        super().__init__()
        by_group, starts = kernels_cpu.grouped(key, groups)
        sizes = starts.diff()
        is_later = torch.arange(len(key)) - starts[key[by_group].long()] >= CHUNK
        more = ((sizes - 1).clamp(min=0) // CHUNK).long()
        later = torch.repeat_interleave(more)
        within = torch.arange(len(later)) - (more.cumsum(0) - more)[later]
        lengths = torch.cat([sizes.clamp(max=CHUNK), (sizes[later] - CHUNK * (within + 1)).clamp(max=CHUNK)])
        large, owner = torch.unique(later, return_inverse=True)
        self.groups = groups
        self.register_buffer("order", torch.cat([by_group[~is_later], by_group[is_later]]).int())
        self.register_buffer("starts", torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]).int())
        self.register_buffer("large", large)
        self.of_chunks = Groups(owner, len(large)) if len(large) else None

    def sums(self, *terms: Term) -> torch.Tensor:
        """`sum values[e] * vectors[index[e]]` over the edges e of each group: `[groups, d]`, no gradient.

        Each term is `(values[edges], index[edges], vectors[n, d])`; their sums are added.
        """
        chunks: torch.Tensor = kernels_for(terms[0][2]).group_sums(self.order, self.starts, terms)
        if self.of_chunks is None:
            return chunks
        total, later = chunks[: self.groups], chunks[self.groups :]
        total[self.large] += self.of_chunks.sums(ones_for(later))
        return total

    def totals(self, values: torch.Tensor) -> torch.Tensor:
        """The sum of `values[edges, d]` over each group: `[groups, d]`, no gradient."""
        return self.sums(ones_for(values))


def ones_for(vectors: torch.Tensor) -> Term:
    """The term of a plain sum of `vectors[n, d]`."""
    ones = torch.ones(len(vectors), device=vectors.device)
    return ones, torch.arange(len(vectors), dtype=torch.int32, device=vectors.device), vectors


class SparseMatrix(torch.nn.Module):
    """A matrix `[n, m]` with `values[e]` at `(row[e], column[e])`, in any order; equal places add up."""

    row: torch.Tensor
    column: torch.Tensor
    values: torch.Tensor

    def __init__(
        self,
        row: torch.Tensor,
        column: torch.Tensor,
        values: torch.Tensor,
        by_row: Groups,
        by_column: Groups,
    ) -> None:
        super().__init__()
        self.register_buffer("row", row.int())
        self.register_buffer("column", column.int())
        self.register_buffer("values", values.float())
        self._by_row, self._by_column = by_row, by_column

    def times(self, vectors: torch.Tensor) -> torch.Tensor:
        """The product with dense `vectors[m, d]`, differentiable: `[n, d]`."""
        result: torch.Tensor = _Product.apply(self, vectors)  # type: ignore[no-untyped-call]
        return result

    def product(self, vectors: torch.Tensor) -> torch.Tensor:
        """The same without gradient."""
        return self._by_row.sums((self.values, self.column, vectors))

    def transposed_product(self, vectors: torch.Tensor) -> torch.Tensor:
        """The product of the transposed matrix with `vectors[n, d]`, without gradient: `[m, d]`."""
        return self._by_column.sums((self.values, self.row, vectors))


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: SparseMatrix, vectors: torch.Tensor) -> torch.Tensor:
        ctx.matrix = matrix
        return matrix.product(vectors)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, ctx.matrix.transposed_product(gradients[0].contiguous())


def summed_rows(rows: torch.Tensor, vectors: torch.Tensor, count: int) -> torch.Tensor:
    """`vectors[i]` added to row `rows[i]`, in the order of i: `[count, d]`, no gradient."""
    ordered, order = rows.sort(stable=True)
    starts = torch.searchsorted(ordered, torch.arange(count + 1, device=rows.device)).int()
    total: torch.Tensor = kernels_for(vectors).group_sums(order.int(), starts, [ones_for(vectors)])
    return total


class _Rows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        ctx.count = len(vectors)
        ctx.save_for_backward(rows)
        return vectors.index_select(0, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> tuple[torch.Tensor, None]:
        (rows,) = ctx.saved_tensors
        return summed_rows(rows, gradients[0].contiguous(), ctx.count), None


def rows_of(vectors: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """`vectors[rows]`, with a gradient that is the same in every run; that of torch is not on a GPU."""
    result: torch.Tensor = _Rows.apply(vectors, rows)  # type: ignore[no-untyped-call]
    return result
