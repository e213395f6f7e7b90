"""Compiled CPU kernels of the log-sum-exp loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit

from largeea.graph import Float32, Int64
from largeea.structure.models.row_threads import run_on_rows

_FAST = {"reassoc", "contract", "nsz", "arcp"}
_LEAST_LENGTH = np.float32(1e-12)


def unit_rows(
    embeddings: torch.Tensor, rows: torch.Tensor, dropout: float, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """`embeddings[rows]` after dropout, scaled to length 1, and the scale: `[rows, d]` and `[rows]`."""
    units, inverse = torch.empty(len(rows), embeddings.shape[1]), torch.empty(len(rows))
    dropped = np.uint32(dropout * 2**32)
    seeds = np.array([seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF], np.uint32)
    run_on_rows(_unit_rows, len(rows), embeddings, rows, dropped, torch.from_numpy(seeds), units, inverse)
    return units, inverse


def soften(
    cosines: torch.Tensor,
    right: torch.Tensor,
    counterpart: torch.Tensor,
    negative: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """See `kernels_torch.soften`."""
    push, own = (numbers.sub_(1).div_(temperature).exp_() for numbers in (cosines, right.clone()))
    everything = torch.empty_like(right)
    scale = 1 / (temperature * len(cosines))
    run_on_rows(_soften, len(push), push, own, counterpart, negative, np.float32(scale), everything)
    return torch.log(everything / own), scale * (own / everything - 1)


def through_units(units: torch.Tensor, inverse: torch.Tensor, gradient: torch.Tensor) -> None:
    """See `kernels_torch.through_units`."""
    run_on_rows(_through_units, len(units), units, inverse, gradient)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _unit_rows(
    first: int,
    last: int,
    embeddings: Float32,
    rows: Int64,
    dropped: np.uint32,
    seeds: Any,
    units: Float32,
    inverse: Float32,
) -> None:
    """A number is dropped if the hash of its place and the seeds is below `dropped`."""
    for row in range(first, last):
        vector, unit = embeddings[rows[row]], units[row]
        key = _mixed(np.uint32(row) ^ seeds[0]) ^ seeds[1]
        square = np.float32(0)
        for at in range(len(vector)):
            kept = _mixed(key + np.uint32(at) * np.uint32(0x9E3779B9)) >= dropped
            unit[at] = vector[at] if kept else np.float32(0)
            square += unit[at] * unit[at]
        inverse[row] = np.float32(1) / max(np.sqrt(square), _LEAST_LENGTH)
        for at in range(len(vector)):
            unit[at] *= inverse[row]


@njit(cache=True, nogil=True, inline="always")
def _mixed(key: np.uint32) -> np.uint32:
    """A hash of 32 bits (Ettinger's lowbias32)."""
    key = np.uint32((key ^ (key >> np.uint32(16))) * np.uint32(0x7FEB352D))
    key = np.uint32((key ^ (key >> np.uint32(15))) * np.uint32(0x846CA68B))
    return np.uint32(key ^ (key >> np.uint32(16)))


@njit(cache=True, nogil=True, fastmath=_FAST)
def _soften(
    first: int,
    last: int,
    push: Float32,
    own: Float32,
    counterpart: Int64,
    negative: Int64,
    scale: np.float32,
    everything: Float32,
) -> None:
    for row in range(first, last):
        weight, total = push[row], own[row]
        for at in range(len(weight)):
            weight[at] = np.float32(0) if negative[at] == counterpart[row] else weight[at]
            total += weight[at]
        everything[row] = total
        for at in range(len(weight)):
            weight[at] *= scale / total


@njit(cache=True, nogil=True, fastmath=_FAST)
def _through_units(first: int, last: int, units: Float32, inverse: Float32, gradient: Float32) -> None:
    for row in range(first, last):
        unit, slope = units[row], gradient[row]
        along = np.float32(0)
        for at in range(len(unit)):
            along += unit[at] * slope[at]
        for at in range(len(unit)):
            changed = (slope[at] - along * unit[at]) * inverse[row]
            slope[at] = changed if unit[at] != 0 else np.float32(0)
