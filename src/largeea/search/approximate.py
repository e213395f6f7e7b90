"""Approximate inner-product search on the CPU: only the cells nearest to a query are searched.

Ours, because faiss shares a matrix product among its threads, and then cells depend on how many those are;
and because plain arrays are shared by all workers of a machine, while each would unpack a faiss index.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

from largeea.execution.jobs import over_rows, row_blocks, run_jobs
from largeea.execution.shards import Shards
from largeea.graph import Arrays, Float32, Int32, Int64
from largeea.randomness import generator
from largeea.search.exact import ExactSearch
from largeea.search.manhattan import ranked, read_only
from largeea.search.vectors import unit_rows
from largeea.similarity.arrays import row_pointers

POINTS_PER_CELL = 8, 16, 64, 64
"""Items that cells are found by in each iteration: the first ones need not be exact."""
PROBES = 48
"""Cells of a search at most: one in 20 of 60,000 items, fewer of more, so that time grows with `m ** 1.5`."""
UNEVENNESS = 4
"""Items that a search compares, in multiples of what its cells would have if all were equally large.

Where most items are alike, they are in one cell, and searching all of it would take quadratic time.
"""
ITEMS_AT_ONCE = 4096
QUERIES_TOGETHER = 512
"""Queries whose products are held in memory at a time."""
Blocks = list[tuple[int, int]]


class ApproximateSearch:
    """The vectors of items by cell: about `4 sqrt(m)` cells, of which `PROBES` at most are searched.

    Zeros are in no cell: they are never found.
    """

    at_once: int | None = None

    def __init__(self, items: Float32) -> None:
        present = np.flatnonzero(items.any(axis=1))
        cells = max(1, min(int(4 * np.sqrt(len(present))), len(present) // 40))
        self.centres = _centres(items, present, cells)
        cell = _nearest_cells(*_divided(items), self.centres)[present]
        self.ids = present[np.argsort(cell, kind="stable")].astype(np.int32)
        self.pointers = row_pointers(np.bincount(cell, minlength=cells))
        self.vectors = items[self.ids]
        self.probes = min(max(8, cells // 20), PROBES)
        self.compared = UNEVENNESS * self.probes * (len(present) // cells + 1)

    def nearest(self, queries: Float32, k: int, metric: str) -> tuple[Int32, Float32]:
        """See `DenseSearch.nearest`."""
        return ranked(self.find, queries, self.vectors, k, metric, self.ids)

    def find(self, queries: Float32, k: int) -> tuple[Int32, Float32]:
        """`(places[n, k], scores[n, k])` of the nearest by inner product, padded with -1 and any score.

        Places are those in `vectors`; among equal scores, smaller ids are found.
        """
        cells = ExactSearch(self.centres).find(queries, min(self.probes, len(self.centres)))[0]
        places, scores = np.full((len(queries), k), -1, np.int32), np.zeros((len(queries), k), np.float32)
        index = (read_only(part) for part in (self.pointers, self.ids, self.vectors))
        given = read_only(queries), cells, *index, self.compared
        over_rows(_search_cells, len(queries), *given, places, scores, least=64)
        return places, scores


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


@njit(cache=True, nogil=True)
def _search_cells(
    first: int, last: int, queries: Float32, cells: Int32, pointers: Int64, ids: Int32, vectors: Float32,
    most: int, places: Int32, scores: Float32,
) -> None:  # fmt: skip
    """Write the best items in the `cells[n, probes]` of the queries `first:last`, best first, ties by id.

    A query is compared with the first `most` of them, of the nearest cell first; one of zeros with none.
    """
    for start in range(first, last, QUERIES_TOGETHER):
        end = min(start + QUERIES_TOGETHER, last)
        bounds = _looked_at(queries[start:end], cells[start:end], pointers, most)
        products = _products(queries[start:end], cells[start:end], pointers, vectors, bounds)
        for query in range(start, end):
            of_cells = bounds[query - start]
            items = np.empty(of_cells[-1] - of_cells[0], np.int32)
            for probe in range(cells.shape[1]):
                for at in range(of_cells[probe], of_cells[probe + 1]):
                    items[at - of_cells[0]] = pointers[cells[query, probe]] + at - of_cells[probe]
            _keep_best(items, products[of_cells[0] : of_cells[-1]], ids, places[query], scores[query])


@njit(cache=True, nogil=True)
def _looked_at(queries: Float32, cells: Int32, pointers: Int64, most: int) -> Int64:
    """Where the products of each query and each of its cells begin, `[n, probes + 1]`, all in a row."""
    bounds, at = np.zeros((len(cells), cells.shape[1] + 1), np.int64), 0
    for query in range(len(cells)):
        left = most if queries[query].any() else 0
        for probe in range(cells.shape[1]):
            bounds[query, probe] = at
            some = min(pointers[cells[query, probe] + 1] - pointers[cells[query, probe]], left)
            left, at = left - some, at + some
        bounds[query, -1] = at
    return bounds


@njit(cache=True, nogil=True)
def _products(queries: Float32, cells: Int32, pointers: Int64, vectors: Float32, bounds: Int64) -> Float32:
    """The inner products of queries and items, in the order of `bounds`.

    Cell by cell, so that an item is read from memory once for all queries that look at it.
    """
    products = np.empty(bounds[-1, -1], np.float32)
    for look in np.argsort(cells.ravel(), kind="mergesort"):
        query, probe = look // cells.shape[1], look % cells.shape[1]
        start, item = bounds[query, probe], pointers[cells[query, probe]]
        for at in range(bounds[query, probe + 1] - start):
            products[start + at] = _product(queries[query], vectors[item + at])
    return products


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _product(one: Float32, other: Float32) -> np.float32:
    product = np.float32(0)
    for i in range(len(one)):
        product += one[i] * other[i]
    return product


@njit(cache=True, nogil=True)
def _keep_best(items: Int32, products: Float32, ids: Int32, places: Int32, scores: Float32) -> None:
    """Write the items with the highest products, best first, ties by id."""
    k = min(len(places), len(items))
    if not k:
        return
    least = np.partition(products, len(products) - k)[len(products) - k]
    chosen = np.flatnonzero(products >= least)
    order = np.argsort(ids[items[chosen]], kind="mergesort")
    chosen = chosen[order]
    chosen = chosen[np.argsort(-products[chosen], kind="mergesort")][:k]
    places[:k], scores[:k] = items[chosen], products[chosen]
