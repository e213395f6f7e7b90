"""Compiled CPU kernels of the structure models; `kernels_torch` has their twins for a GPU.

Each row of a result is computed by one thread, so the number of threads does not change it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numba import njit

from largeea.graph import Float32, Int32, Int64
from largeea.structure.models.loss_kernels_cpu import soften, through_units, unit_rows
from largeea.structure.models.row_threads import run_on_rows

__all__ = [
    "Term",
    "group_sums",
    "grouped",
    "reflect",
    "reflect_gradients",
    "soften",
    "through_units",
    "unit_rows",
]

Term = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""`values[edges]`, `index[edges]` and `vectors[n, d]` of a weighted sum of vectors."""
_FAST = {"reassoc", "contract", "nsz", "arcp"}
_TWO = np.float32(2)


def grouped(key: torch.Tensor, groups: int) -> tuple[torch.Tensor, torch.Tensor]:
    """`(order[n], starts[groups + 1])`: group g has the places `order[starts[g]:starts[g + 1]]` in order."""
    starts = np.zeros(groups + 1, np.int64)
    order = np.empty(len(key), np.int64)
    _counting_sort(key.numpy().astype(np.int64), starts, order)
    return torch.from_numpy(order), torch.from_numpy(starts)


def group_sums(order: torch.Tensor, starts: torch.Tensor, terms: Sequence[Term]) -> torch.Tensor:
    """`sum values[e] * vectors[index[e]]` over all terms and edges `e` of each group: `[groups, d]`.

    The edges of group g are `order[starts[g]:starts[g + 1]]`.
    """
    total = torch.zeros(len(starts) - 1, terms[0][2].shape[1])
    for term in terms:
        run_on_rows(_add_group_sums, len(total), order, starts, *term, total)
    return total


def reflect(
    edges: Any, vectors: torch.Tensor, axes: torch.Tensor, logits: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """`(total[n, d], along[edges], weights[edges])`, see `reflection.Reflect`."""
    along, weights = torch.empty(len(edges.tail)), torch.empty(len(edges.tail))
    total = torch.zeros_like(vectors)
    places = edges.starts, edges.tail, edges.relation
    run_on_rows(_reflect, len(total), *places, vectors, axes, *logits, along, weights, total)
    return total, along, weights


def reflect_gradients(
    edges: Any,
    vectors: torch.Tensor,
    axes: torch.Tensor,
    slope: torch.Tensor,
    along: torch.Tensor,
    weights: torch.Tensor,
    gradient: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Gradients of the logit and of the number `along` of every edge: two tensors `[edges]`."""
    for_logit, for_along = torch.empty_like(along), torch.empty_like(along)
    places = edges.starts, edges.tail, edges.relation
    inputs = vectors, axes, slope, along, weights, gradient
    run_on_rows(_reflect_gradients, len(vectors), *places, *inputs, for_logit, for_along)
    return for_logit, for_along


@njit(cache=True, nogil=True)
def _counting_sort(key: Int64, starts: Int64, order: Int64) -> None:
    for value in key:
        starts[value + 1] += 1
    for group in range(1, len(starts)):
        starts[group] += starts[group - 1]
    following = starts.copy()
    for place in range(len(key)):
        order[following[key[place]]] = place
        following[key[place]] += 1


@njit(cache=True, nogil=True, fastmath=_FAST)
def _add_group_sums(
    first: int,
    last: int,
    order: Int32,
    starts: Int32,
    values: Float32,
    index: Int32,
    vectors: Float32,
    total: Float32,
) -> None:
    for group in range(first, last):
        row = total[group]
        for place in range(starts[group], starts[group + 1]):
            edge = order[place]
            value, vector = values[edge], vectors[index[edge]]
            for at in range(len(row)):
                row[at] += value * vector[at]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _reflect(
    first: int,
    last: int,
    starts: Int32,
    tail: Int32,
    relation: Int32,
    vectors: Float32,
    axes: Float32,
    of_tail: Float32,
    of_axis: Float32,
    slope: Float32,
    along: Float32,
    weights: Float32,
    total: Float32,
) -> None:
    for head in range(first, last):
        start, end = starts[head], starts[head + 1]
        highest = np.float32(-np.inf)
        for edge in range(start, end):
            vector, axis = vectors[tail[edge]], axes[relation[edge]]
            dot = np.float32(0)
            for at in range(len(axis)):
                dot += vector[at] * axis[at]
            along[edge] = dot
            weights[edge] = of_tail[tail[edge]] + of_axis[relation[edge]] - _TWO * dot * slope[relation[edge]]
            highest = max(highest, weights[edge])
        everything = np.float32(0)
        for edge in range(start, end):
            weights[edge] = np.exp(weights[edge] - highest)
            everything += weights[edge]
        row = total[head]
        for edge in range(start, end):
            weights[edge] /= everything
            vector, axis = vectors[tail[edge]], axes[relation[edge]]
            weight, back = weights[edge], -_TWO * weights[edge] * along[edge]
            for at in range(len(axis)):
                row[at] += weight * vector[at] + back * axis[at]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _reflect_gradients(
    first: int,
    last: int,
    starts: Int32,
    tail: Int32,
    relation: Int32,
    vectors: Float32,
    axes: Float32,
    slope: Float32,
    along: Float32,
    weights: Float32,
    gradient: Float32,
    for_logit: Float32,
    for_along: Float32,
) -> None:
    for head in range(first, last):
        start, end = starts[head], starts[head + 1]
        row = gradient[head]
        mean = np.float32(0)
        for edge in range(start, end):
            vector, axis = vectors[tail[edge]], axes[relation[edge]]
            by_vector, by_axis = np.float32(0), np.float32(0)
            for at in range(len(row)):
                by_vector += row[at] * vector[at]
                by_axis += row[at] * axis[at]
            for_along[edge] = by_axis
            for_logit[edge] = by_vector - _TWO * along[edge] * by_axis
            mean += weights[edge] * for_logit[edge]
        for edge in range(start, end):
            for_logit[edge] = weights[edge] * (for_logit[edge] - mean)
            by_axis = for_along[edge]
            for_along[edge] = -_TWO * (weights[edge] * by_axis + for_logit[edge] * slope[relation[edge]])
