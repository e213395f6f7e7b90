"""Approximate inner-product search on the CPU: only the cells nearest to a query are searched.

Ours, because faiss shares a matrix product among its threads, and then cells depend on how many those are;
because plain arrays are shared by all workers of a machine, while each would unpack a faiss index; and
because it takes a third of the time of an inverted file of faiss (`benchmarks/approximate_search.py`).
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from largeea.execution.jobs import over_rows, row_blocks, run_jobs
from largeea.execution.shards import Shards
from largeea.graph import Arrays, Float32, Int8, Int32, Int64
from largeea.randomness import generator
from largeea.search import cell_kernels
from largeea.search.exact import ExactSearch
from largeea.search.manhattan import ranked, read_only
from largeea.search.vectors import unit_rows
from largeea.similarity.arrays import row_pointers

POINTS_PER_CELL = 8, 16, 32
"""Items that cells are found by in each iteration: the first ones need not be exact."""
PROBES = 64
"""Cells of a search at most: one in 20 of 100,000 items, a smaller share of more items, so that time grows
with `m ** 1.5`."""
UNEVENNESS = 4
"""Items that a search compares, in multiples of what its cells would have if all were equally large.

Where most items are alike, they are in one cell, and searching all of it would take quadratic time.
"""
SPARE = 8
"""Items that are found beyond those asked for: rounding hardly ever puts one of the best further behind."""
ITEMS_AT_ONCE = 4096
Blocks = list[tuple[int, int]]


class ApproximateSearch:
    """The vectors of items by cell: about `4 sqrt(m)` cells, of which `PROBES` at most are searched.

    Rounded vectors find the nearest items, which are then compared as they are. Zeros are in no cell: they
    are never found.
    """

    at_once: int | None = None

    def __init__(self, items: Float32) -> None:
        present = np.flatnonzero(items.any(axis=1))
        cells = cell_count(len(present))
        self.items = items
        self.centres = _centres(items, present, cells)
        cell = _nearest_cells(*_divided(items), self.centres)[present]
        by_cell = present[np.argsort(cell, kind="stable")]
        self.ids = by_cell.astype(np.int32)
        self.pointers = row_pointers(np.bincount(cell, minlength=cells))
        self.numbers, self.units = rounded(items, by_cell)
        self.probes = min(max(8, cells // 20), PROBES)
        self.compared = UNEVENNESS * self.probes * (len(present) // cells + 1)

    def nearest(self, queries: Float32, k: int, metric: str) -> tuple[Int32, Float32]:
        """See `DenseSearch.nearest`."""
        return ranked(self.find, queries, self.items, k, metric)

    def find(self, queries: Float32, k: int) -> tuple[Int32, Float32]:
        """`(ids[n, k + SPARE], scores[n, k + SPARE])` of the nearest by inner product, padded with -1 and 0.

        Among equal scores, smaller ids are found.
        """
        cells = ExactSearch(self.centres).find(queries, min(self.probes, len(self.centres)))[0]
        numbers, _ = rounded(queries, np.arange(len(queries)))
        shape = len(queries), k + SPARE
        found, scores = np.full(shape, -1, np.int32), np.zeros(shape, np.float32)
        index = (read_only(part) for part in (self.pointers, self.numbers, self.units, self.ids))
        given = numbers, cells, *index, self.compared
        over_rows(cell_kernels.search_cells, len(queries), *given, found, scores, least=64)
        compared = read_only(queries), read_only(self.items), found, scores
        over_rows(cell_kernels.inner_products, len(queries), *compared, least=64)
        return found, scores


def cell_count(items: int) -> int:
    """Cells of so many items."""
    return max(1, min(int(4 * np.sqrt(items)), items // 40))


def index_memory(items: int, dimension: int) -> int:
    """Bytes that an index needs at its peak, beside the items: all rounded, some to find the cells by."""
    return dimension * (items + 4 * max(POINTS_PER_CELL) * cell_count(items))


def rounded(vectors: Float32, rows: Int64) -> tuple[Int8, Float32]:
    """Some of the vectors in whole numbers, `[rows, d]`, and what one of these stands for, `[rows]`."""
    numbers, units = np.empty((len(rows), vectors.shape[1]), np.int8), np.empty(len(rows), np.float32)
    over_rows(cell_kernels.round_rows, len(rows), read_only(vectors), rows, numbers, units)
    return numbers, units


def _centres(items: Float32, present: Int64, cells: int) -> Float32:
    """Spherical k-means of samples of the items that are `present`: `[cells, d]`, of length 1 or 0."""
    if not len(present):
        return np.zeros((cells, items.shape[1]), np.float32)
    random = generator(0, "cells")
    order = random.permutation(present)
    centres: Float32 = items[order[:cells]]
    for per_cell in POINTS_PER_CELL:
        points = items[np.sort(order[: per_cell * cells])]
        cell, size = _nearest_cells(*_divided(points), centres), len(points)
        members = sp.csr_array((np.ones(size, np.float32), (cell, np.arange(size))), shape=(cells, size))
        empty = np.bincount(cell, minlength=cells) == 0
        centres = unit_rows(members @ points)
        centres[empty] = points[random.choice(size, np.count_nonzero(empty))]
    return centres


def _divided(vectors: Float32) -> tuple[Blocks, Shards]:
    """Vectors in blocks for jobs: their bounds, and the vectors of each."""
    blocks = row_blocks(len(vectors), multiple_of=ITEMS_AT_ONCE)
    return blocks, Shards(tuple(vectors[first:last] for first, last in blocks))


def _nearest_cells(blocks: Blocks, shards: Shards, centres: Float32) -> Int64:
    """The cell of each vector, `[n]`."""
    cells = np.empty(blocks[-1][1], np.int64)
    for number, found in run_jobs(cell_block, blocks, shards, ExactSearch(centres), stored=False):
        cells[slice(*blocks[number])] = found["cells"]
    return cells


def cell_block(first: int, last: int, vectors: Float32, centres: ExactSearch) -> Arrays:
    """The cells of the vectors `first:last`, which are given."""
    parts = (vectors[at : at + ITEMS_AT_ONCE] for at in range(0, last - first, ITEMS_AT_ONCE))
    return {"cells": np.concatenate([centres.find(part, 1)[0][:, 0] for part in parts]).astype(np.int64)}
