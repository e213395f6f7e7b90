"""Sinkhorn iterations on a cluster: each machine keeps some rows and some columns, and two vectors travel.

Every row and every column is summed by one machine, in the order of its entries, so the result has the same
bytes as on one machine.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from largeea.execution.jobs import keep, machines, over_rows, run_jobs
from largeea.execution.shards import Shards
from largeea.graph import Arrays, Float32, Int32, Int64
from largeea.matching import kernels
from largeea.progress import track
from largeea.similarity.columns import transposed


def on_machines(
    pointers: Int64, targets: Int32, weights: Float32, bins: Float32, columns: int, iterations: int
) -> Float32:
    """See `sinkhorn.Iterate`."""
    rows = len(pointers) - 1
    by_source = _Lines(pointers, targets, weights, bins)
    by_target = _Lines(*transposed(pointers, targets, weights, columns), np.ones(columns, np.float32))
    source, target = np.empty(rows, np.float32), np.ones(columns, np.float32)
    for _ in track(range(iterations), iterations):
        by_source.normalise(target, source)
        by_target.normalise(source, target)
    by_source.normalise(target, source)
    probabilities = np.empty(len(weights), np.float32)
    over_rows(kernels.row_probabilities, rows, pointers, targets, weights, source, target, probabilities)
    return probabilities


class _Lines:
    """The rows or the columns of a matrix, in as many shards of about equally many entries as machines."""

    def __init__(self, pointers: Int64, others: Int32, weights: Float32, bins: Float32) -> None:
        lines, count = len(pointers) - 1, machines()
        entries = np.linspace(0, pointers[-1], count + 1)[1:-1]
        bounds = [0, *np.searchsorted(pointers, entries).tolist(), lines]
        self._bounds = list(pairwise(bounds))
        shards = []
        for first, last in self._bounds:
            inside = slice(pointers[first], pointers[last])
            own = pointers[first : last + 1] - pointers[first]
            shards.append((own, others[inside], weights[inside], bins[first:last]))
        self._shards = keep(Shards(tuple(shards)))

    def normalise(self, fixed: Float32, scale: Float32) -> None:
        """Write to `scale` the factor of every line that makes its entries and its bin sum to 1."""
        given = self._shards, fixed
        numbers = [(number,) for number in range(len(self._bounds))]
        for number, found in run_jobs(normalise_shard, numbers, *given, at_once=1, stored=False, shown=False):
            scale[slice(*self._bounds[number])] = found["scale"]


def normalise_shard(number: int, shard: tuple[Any, ...], fixed: Float32) -> Arrays:
    """The factors of the lines of one shard."""
    scale = np.empty(len(shard[0]) - 1, np.float32)
    over_rows(kernels.normalise_rows, len(scale), *shard, fixed, scale)
    return {"scale": scale}
