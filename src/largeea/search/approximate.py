"""Approximate inner-product search on the CPU: an inverted file of faiss over cells of our own.

The cells are ours because faiss shares a matrix product among its threads, and then they depend on how many
those are.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from largeea.execution.jobs import row_blocks, run_jobs
from largeea.graph import Arrays, Float32, Int32, Int64
from largeea.randomness import generator
from largeea.search.exact import ExactSearch
from largeea.search.manhattan import ranked
from largeea.search.vectors import unit_rows

POINTS_PER_CELL = 64
ITERATIONS = 10
PROBES = 32
"""Cells of a search at most: one in 32 of 60,000 items, fewer of more, so that time grows with `m ** 1.5`."""
ITEMS_AT_ONCE = 4096


class ApproximateSearch:
    """An inverted file of about `4 sqrt(m)` cells, of which `PROBES` at most are searched."""

    at_once: int | None = None

    def __init__(self, items: Float32) -> None:
        import faiss
        from faiss.contrib.ivf_tools import add_preassigned

        self.items = items
        dimension = items.shape[1]
        cells = max(1, min(int(4 * np.sqrt(len(items))), len(items) // 40))
        centres = _centres(items, cells)
        quantizer = faiss.IndexFlatIP(dimension)
        quantizer.add(centres)
        self.index = faiss.IndexIVFFlat(quantizer, dimension, cells, faiss.METRIC_INNER_PRODUCT)
        self.index.is_trained = True
        add_preassigned(self.index, np.ascontiguousarray(items), _nearest_cells(items, centres))
        self.index.nprobe = min(max(8, cells // 32), PROBES)

    def nearest(self, queries: Float32, k: int, metric: str) -> tuple[Int32, Float32]:
        """See `DenseSearch.nearest`."""
        return ranked(self.find, queries, self.items, k, metric)

    def find(self, queries: Float32, k: int) -> tuple[Int32, Float32]:
        """`(ids[n, k], scores[n, k])` of the nearest by inner product, padded with -1 and any score."""
        import faiss

        faiss.omp_set_num_threads(1)
        scores, ids = self.index.search(queries, k)
        return ids.astype(np.int32), scores


def _centres(items: Float32, cells: int) -> Float32:
    """Spherical k-means of a sample: `[cells, d]`, of length 1."""
    random = generator(0, "cells")
    size = min(len(items), POINTS_PER_CELL * cells)
    points = items[np.sort(random.choice(len(items), size, replace=False))]
    centres = points[random.choice(size, cells, replace=False)]
    for _ in range(ITERATIONS):
        cell = _nearest_cells(points, centres)
        members = sp.csr_array((np.ones(size, np.float32), (cell, np.arange(size))), shape=(cells, size))
        empty = np.bincount(cell, minlength=cells) == 0
        centres = unit_rows(members @ points)
        centres[empty] = points[random.choice(size, np.count_nonzero(empty))]
    return centres


def _nearest_cells(vectors: Float32, centres: Float32) -> Int64:
    """The cell of each vector, `[n]`."""
    cells = np.empty(len(vectors), np.int64)
    blocks = row_blocks(len(vectors), multiple_of=ITEMS_AT_ONCE)
    for number, found in run_jobs(cell_block, blocks, vectors, ExactSearch(centres), stored=False):
        cells[slice(*blocks[number])] = found["cells"]
    return cells


def cell_block(first: int, last: int, vectors: Float32, centres: ExactSearch) -> Arrays:
    """The cells of the vectors `first:last`."""
    starts = range(first, last, ITEMS_AT_ONCE)
    found = [centres.find(vectors[start : min(start + ITEMS_AT_ONCE, last)], 1)[0] for start in starts]
    return {"cells": np.concatenate(found)[:, 0].astype(np.int64)}
