"""Compiled loops of the approximate search: queries against the vectors of the cells they look at.

Vectors are rounded to whole numbers, `int8[n, d]`, with a unit of their own: what is compared takes a quarter
of the memory, products are exact in any order, and a search takes little more than half of the time that it
took in float32.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.prefetch import prefetch_row
from largeea.graph import Float32, Int8, Int32, Int64

LEVELS = 127
"""Vectors are rounded to whole numbers from `-LEVELS` to `LEVELS`. The error of a cosine is of the order of
0.001, so what is found is compared again as it is."""


@njit(cache=True, nogil=True)
def round_rows(first: int, last: int, vectors: Float32, rows: Int64, numbers: Int8, units: Float32) -> None:
    """Write the vectors `rows[first:last]` in whole numbers, and what one of these stands for."""
    for place in range(first, last):
        vector, rounded = vectors[rows[place]], numbers[place]
        highest = np.float32(0)
        for at in range(len(vector)):
            highest = max(highest, abs(vector[at]))
        units[place] = highest / np.float32(LEVELS)
        levels = np.float32(LEVELS) / highest if highest > 0 else np.float32(0)
        for at in range(len(vector)):
            rounded[at] = np.int8(np.rint(vector[at] * levels))


@njit(cache=True, nogil=True)
def search_cells(
    first: int, last: int, queries: Int8, cells: Int32, pointers: Int64, numbers: Int8, units: Float32,
    ids: Int32, most: int, found: Int32, scores: Float32,
) -> None:  # fmt: skip
    """Write the best items in the `cells[n, probes]` of the queries `first:last`, best first, ties by id.

    The items of a cell are `pointers[cell] : pointers[cell + 1]` of `numbers`, `units` and `ids`. A query is
    compared with the first `most` of them, of the nearest cell first. `found` and `scores` begin as -1 and 0:
    only items with a positive score are found. The unit of the query itself, which does not change their
    order, is left out.

    Cell by cell, so that an item is read from memory once for all queries that look at it.
    """
    asked = cells[first:last].ravel()
    counts = _looked_at(cells[first:last], pointers, most)
    looks, start = np.argsort(asked, kind="mergesort"), 0
    while start < len(looks):
        cell, end = asked[looks[start]], start + 1
        while end < len(looks) and asked[looks[end]] == cell:
            end += 1
        asking, items = looks[start:end], slice(pointers[cell], pointers[cell + 1])
        _compare(
            first + asking // cells.shape[1], counts[asking], queries,
            numbers[items], units[items], ids[items], found, scores,
        )  # fmt: skip
        start = end


@njit(cache=True, nogil=True)
def _compare(
    asking: Int64, counts: Int32, queries: Int8, numbers: Int8, units: Float32, ids: Int32, found: Int32,
    scores: Float32,
) -> None:  # fmt: skip
    """Compare the queries `asking` with items, each with the first `counts` of them, and keep the best.

    Four queries at a time; the last one is repeated where there are fewer.
    """
    end = len(asking)
    for four in range(0, end, 4):
        at_b, at_c, at_d = min(four + 1, end - 1), min(four + 2, end - 1), min(four + 3, end - 1)
        a, b, c, d = asking[four], asking[at_b], asking[at_c], asking[at_d]
        most_a, most_b, most_c, most_d = counts[four], counts[at_b], counts[at_c], counts[at_d]
        of_a, of_b, of_c, of_d = queries[a], queries[b], queries[c], queries[d]
        for place in range(max(most_a, most_b, most_c, most_d)):
            item, unit, number = numbers[place], units[place], ids[place]
            to_a = to_b = to_c = to_d = np.int32(0)
            for at in range(len(item)):
                to_a = plus_product(to_a, of_a[at], item[at])
                to_b = plus_product(to_b, of_b[at], item[at])
                to_c = plus_product(to_c, of_c[at], item[at])
                to_d = plus_product(to_d, of_d[at], item[at])
            if place < most_a:
                _keep(unit * np.float32(to_a), number, scores[a], found[a])
            if place < most_b and at_b > four:
                _keep(unit * np.float32(to_b), number, scores[b], found[b])
            if place < most_c and at_c > at_b:
                _keep(unit * np.float32(to_c), number, scores[c], found[c])
            if place < most_d and at_d > at_c:
                _keep(unit * np.float32(to_d), number, scores[d], found[d])


@njit(cache=True, nogil=True)
def _looked_at(cells: Int32, pointers: Int64, most: int) -> Int32:
    """How many items of each of its cells a query is compared with, `[n * probes]`."""
    counts = np.empty(cells.size, np.int32)
    for query in range(len(cells)):
        left = most
        for probe in range(cells.shape[1]):
            some = min(pointers[cells[query, probe] + 1] - pointers[cells[query, probe]], left)
            counts[query * cells.shape[1] + probe] = some
            left -= some
    return counts


@njit(cache=True, nogil=True, inline="always")
def plus_product(total: np.int32, a: np.int8, b: np.int8) -> np.int32:
    """`total + a * b` in 32 bits; without saying so, numba would compute it in 64."""
    return np.int32(total + np.int32(np.int32(a) * np.int32(b)))


@njit(cache=True, nogil=True, inline="always")
def _keep(score: np.float32, number: int, scores: Float32, ids: Int32) -> None:
    """Insert an item among the best of a query, which are sorted, if it is one of them."""
    last = len(scores) - 1
    if score < scores[last] or (score == scores[last] and number >= ids[last]):
        return
    at = last
    while at > 0 and (scores[at - 1] < score or (scores[at - 1] == score and ids[at - 1] > number)):
        scores[at], ids[at] = scores[at - 1], ids[at - 1]
        at -= 1
    scores[at], ids[at] = score, number


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def inner_products(
    first: int, last: int, queries: Float32, items: Float32, found: Int32, scores: Float32
) -> None:
    """Write the inner products of the queries `first:last` and the items found for them; -1 is none."""
    for query in range(first, last):
        asked = queries[query]
        for place in range(found.shape[1]):
            prefetch_row(items, found[query, min(place + 1, found.shape[1] - 1)])
            if found[query, place] < 0:
                continue
            item, product = items[found[query, place]], np.float32(0)
            for at in range(len(asked)):
                product += asked[at] * item[at]
            scores[query, place] = product
