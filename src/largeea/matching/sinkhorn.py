"""Sparse Sinkhorn iterations: from scores to the probabilities of a partial one-to-one matching.

Only kept pairs have a probability. Every source and every target also has a "no counterpart" bin, which takes
the probability of entities without a good candidate. `cuda.py` does the same on a GPU, and
`sinkhorn_shards.py` on a cluster.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from largeea.execution.devices import cuda_is_chosen
from largeea.execution.jobs import machines, over_rows
from largeea.execution.settings import current
from largeea.graph import Float32, Int32, Int64
from largeea.matching import kernels
from largeea.matching.sinkhorn_shards import on_machines
from largeea.similarity import Similarity
from largeea.similarity.columns import columns_in_order
from largeea.similarity.local_order import (
    local_order_of_columns,
    local_order_of_rows,
    places_of,
    rows_in_order,
)

MIN_ENTRIES_FOR_THREADS = 2_000_000
"""With fewer entries, one thread is faster than starting several."""
MIN_ENTRIES_FOR_CLUSTER = 30_000_000
"""For each thread of the driver. With fewer entries, two machines take longer than one: sending a vector to
jobs and back takes some 30 ms, a pass over so many entries 120 ms, and the matrix has to be sent first."""


class Iterate(Protocol):
    """Sinkhorn iterations on one device."""

    def __call__(
        self, pointers: Int64, targets: Int32, weights: Float32, bins: Float32, columns: int, iterations: int
    ) -> Float32:
        """Return the probabilities of all entries, `[entries]`, not above 1.

        `weights` are those of the entries, in CSR form; `bins[rows]` those of the bins of the rows. The bins
        of columns have weight 1.
        """


def sinkhorn(
    similarity: Similarity, temperature: float, no_match_score: float, iterations: int = 50
) -> Similarity:
    """Return the probabilities of the kept pairs, `[sources, targets]`; rows and columns plus bins sum to 1.

    `temperature` is the score difference that changes the odds by a factor e. A pair without competitors has
    probability 0.5 when its score is about `no_match_score`.
    """
    if not len(similarity):
        return Similarity.empty(similarity.shape)
    iterate = _chosen(len(similarity))
    weights, bins = row_weights(similarity, temperature, no_match_score)
    probabilities = iterate(
        similarity.indptr, similarity.indices, weights, bins, similarity.shape[1], iterations
    )
    return Similarity(similarity.shape, similarity.indptr, similarity.indices, probabilities)


def _chosen(entries: int) -> Iterate:
    """Where the iterations for so many entries are carried out."""
    if cuda_is_chosen():
        from largeea.matching import cuda

        if cuda.fits(entries):
            return cuda.on_gpu
    is_large = entries >= MIN_ENTRIES_FOR_CLUSTER * current().thread_count
    return on_machines if is_large and machines() > 1 else on_cpu


def row_weights(similarity: Similarity, temperature: float, no_match_score: float) -> tuple[Float32, Float32]:
    """The odds of all entries, `[entries]`, and of the bins of all rows, `[rows]`, the highest of a row 1.

    The iterations do not depend on the scale of a row, and numbers that are not above 1 fit into float32.
    """
    weights, bins = np.empty(len(similarity), np.float32), np.empty(similarity.shape[0], np.float32)
    over_rows(
        kernels.row_odds, similarity.shape[0], similarity.indptr, similarity.scores,
        np.float32(temperature), np.float32(no_match_score), weights, bins,
    )  # fmt: skip
    return weights, bins


def on_cpu(
    pointers: Int64, targets: Int32, weights: Float32, bins: Float32, columns: int, iterations: int
) -> Float32:
    """See `Iterate`."""
    rows = len(pointers) - 1
    row_order = local_order_of_rows(pointers, targets)
    column_order = local_order_of_columns(pointers, targets, columns)
    row_places, column_places = places_of(row_order), places_of(column_order)
    by_source = *rows_in_order(pointers, targets, weights, row_order, column_places), bins[row_order]
    by_target = (
        *columns_in_order(pointers, targets, weights, column_order, row_places),
        np.ones(columns, np.float32),
    )
    source, target = np.empty(rows, np.float32), np.ones(columns, np.float32)
    for _ in range(iterations):
        _normalise(*by_source, target, source)
        _normalise(*by_target, source, target)
    _normalise(*by_source, target, source)
    source, target = source[row_places], target[column_places]
    probabilities = np.empty(len(weights), np.float32)
    over_rows(kernels.row_probabilities, rows, pointers, targets, weights, source, target, probabilities)
    return probabilities


def _normalise(
    pointers: Int64,
    others: Int32,
    weights: Float32,
    bins: Float32,
    fixed: Float32,
    scale: Float32,
) -> None:
    """Write to `scale` the factor of every row that makes its entries and its bin sum to 1."""
    least = 2048 if len(weights) >= MIN_ENTRIES_FOR_THREADS else len(scale)
    over_rows(
        kernels.normalise_rows, len(scale), pointers, others, weights, bins, fixed, scale, least=max(least, 1)
    )
