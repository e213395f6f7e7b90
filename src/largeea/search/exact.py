"""Exact inner-product search on the CPU: faiss over BLAS."""

from __future__ import annotations

import faiss
import numpy as np

from largeea.graph import Float32, Int32
from largeea.search.manhattan import ranked


class ExactSearch:
    """Every query against every item.

    A search runs in one thread, and blocks of queries in parallel: the rounding of a matrix product that is
    shared among threads depends on their number.
    """

    at_once: int | None = None

    def __init__(self, items: Float32) -> None:
        self.items = items

    def nearest(self, queries: Float32, k: int, metric: str) -> tuple[Int32, Float32]:
        """See `DenseSearch.nearest`."""
        return ranked(self.find, queries, self.items, k, metric)

    def find(self, queries: Float32, k: int) -> tuple[Int32, Float32]:
        """`(ids[n, k], scores[n, k])` of the nearest by inner product, padded with -1 and any score."""
        faiss.omp_set_num_threads(1)
        scores, ids = faiss.knn(queries, self.items, k, metric=faiss.METRIC_INNER_PRODUCT)
        return ids.astype(np.int32), scores
