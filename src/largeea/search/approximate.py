"""Approximate inner-product search on the CPU: only the cells nearest to a query are searched.

Ours, because faiss shares a matrix product among its threads, and then cells depend on how many those are;
and because plain arrays are shared by all workers of a machine, while each would unpack a faiss index.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

from largeea.execution.jobs import keep, over_rows, row_blocks, run_jobs
from largeea.execution.shards import Shards
from largeea.graph import Arrays, Float32, Int32, Int64
from largeea.randomness import generator
from largeea.search.exact import ExactSearch
from largeea.search.manhattan import ranked, read_only
from largeea.search.vectors import unit_rows
from largeea.similarity.arrays import row_pointers

POINTS_PER_CELL = 64
ITERATIONS = 10
PROBES = 32
"""Cells of a search at most: one in 32 of 60,000 items, fewer of more, so that time grows with `m ** 1.5`."""
UNEVENNESS = 4
"""Items that a search compares, in multiples of what its cells would have if all were equally large.

Where most items are alike, they are in one cell, and searching all of it would take quadratic time.
"""
ITEMS_AT_ONCE = 4096
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
        self.probes = min(max(8, cells // 32), PROBES)
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
    """Spherical k-means of a sample of the items that are `present`: `[cells, d]`, of length 1 or 0."""
    if not len(present):
        return np.zeros((cells, items.shape[1]), np.float32)
    random = generator(0, "cells")
    size = min(len(present), POINTS_PER_CELL * cells)
    points = items[present[np.sort(random.choice(len(present), size, replace=False))]]
    centres = points[random.choice(size, cells, replace=False)]
    blocks, shards = _divided(points)
    kept = keep(shards)
    for _ in range(ITERATIONS):
        cell = _nearest_cells(blocks, kept, centres)
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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _search_cells(
    first: int, last: int, queries: Float32, cells: Int32, pointers: Int64, ids: Int32, vectors: Float32,
    most: int, places: Int32, scores: Float32,
) -> None:  # fmt: skip
    """Write the best items in the `cells[n, probes]` of the queries `first:last`, best first, ties by id.

    A query is compared with the first `most` of them, of the nearest cell first; one of zeros with none.
    """
    k = places.shape[1]
    for query in range(first, last):
        asked, count = queries[query], 0
        left = most if asked.any() else 0
        for cell in cells[query]:
            end = min(pointers[cell + 1], pointers[cell] + left)
            left -= end - pointers[cell]
            for item in range(pointers[cell], end):
                vector, score = vectors[item], np.float32(0)
                for at in range(len(asked)):
                    score += asked[at] * vector[at]
                if count == k and score < scores[query, k - 1]:
                    continue
                at = count
                while at > 0 and (
                    scores[query, at - 1] < score
                    or (scores[query, at - 1] == score and ids[places[query, at - 1]] > ids[item])
                ):
                    at -= 1
                    if at + 1 < k:
                        places[query, at + 1], scores[query, at + 1] = places[query, at], scores[query, at]
                if at < k:
                    places[query, at], scores[query, at] = item, score
                    count = min(count + 1, k)
