"""Sinkhorn iterations on a torch device, with torch alone.

Sums are those of sorted segments, in a fixed order: no atomic additions, whose order would change the last
digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from largeea.execution.devices import free_gpu_bytes, tensor, to_host, torch_device
from largeea.graph import Float32, Int32, Int64

BYTES_PER_ENTRY = 48
"""Both orders of the entries, and what sorting them takes at its peak."""


def fits(entries: int) -> bool:
    """Whether the chosen device has the memory to match so many candidates."""
    return BYTES_PER_ENTRY * entries <= free_gpu_bytes(torch_device())


def on_gpu(
    pointers: Int64, targets: Int32, weights: Float32, bins: Float32, columns: int, iterations: int
) -> Float32:
    """See `Iterate`, on the chosen device."""
    return on_device(pointers, targets, weights, bins, columns, iterations, torch_device())


def on_device(
    pointers: Int64,
    targets: Int32,
    weights: Float32,
    bins: Float32,
    columns: int,
    iterations: int,
    device: Any,
) -> Float32:
    """See `Iterate`. The result differs from that of the CPU by less than 1e-5."""
    by_source = tensor(np.diff(pointers), device), tensor(targets, device), tensor(weights, device)
    rows = torch.repeat_interleave(
        torch.arange(len(bins), dtype=torch.int32, device=device), by_source[0], output_size=len(targets)
    )
    order = torch.sort(by_source[1], stable=True).indices
    by_target = (
        torch.bincount(by_source[1], minlength=columns),
        rows.index_select(0, order),
        by_source[2].index_select(0, order),
    )
    del order
    row_bins, column_bins = tensor(bins, device), torch.ones(columns, device=device)
    target = torch.ones(columns, device=device)
    for _ in range(iterations):
        source = _factors(*by_source, target, row_bins)
        target = _factors(*by_target, source, column_bins)
    source = _factors(*by_source, target, row_bins)
    probabilities = source.index_select(0, rows).mul_(by_source[2])
    probabilities.mul_(target.index_select(0, by_source[1])).clamp_(max=1)
    found: Float32 = to_host(probabilities)
    return found


def _factors(
    lengths: torch.Tensor,
    others: torch.Tensor,
    weights: torch.Tensor,
    fixed: torch.Tensor,
    bins: torch.Tensor,
) -> torch.Tensor:
    """The factor of every row that makes its entries and its bin sum to 1, `[rows]`."""
    parts = fixed.index_select(0, others).mul_(weights)
    sums = torch.segment_reduce(parts, "sum", lengths=lengths, unsafe=True)
    return sums.add_(bins).reciprocal_()
