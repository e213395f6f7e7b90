"""Compiled loops over candidate pairs. Each works on the rows `first:last` of `Pairs`."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.execution.prefetch import prefetch_row
from largeea.graph import Float32, Int8, Int32, Int64
from largeea.search.cell_kernels import plus_product
from largeea.similarity.kernels import keep_best


@njit(cache=True, nogil=True)
def add_products(
    first: int, last: int, order: Int32, indptr: Int64, places: Int32,
    source: Int8, units: Float32, target: Int8, units_t: Float32, products: Float32,
) -> None:  # fmt: skip
    """Add `source . target` to the `products` of the pairs of the rows `order[first:last]`.

    The vector of row i is `source[i]`, that of the target of a pair is `target[places[pair]]`.

    Four pairs at a time, because then more reads from memory are under way; the last ones may be repeated.
    """
    for row in order[first:last]:
        mine, unit = source[row], units[row]
        end = indptr[row + 1]
        for a in range(indptr[row], end, 4):
            for later in range(a + 4, min(a + 8, end)):
                prefetch_row(target, places[later])
            b, c, d = min(a + 1, end - 1), min(a + 2, end - 1), min(a + 3, end - 1)
            at_a, at_b, at_c, at_d = places[a], places[b], places[c], places[d]
            to_a, to_b, to_c, to_d = target[at_a], target[at_b], target[at_c], target[at_d]
            of_a = of_b = of_c = of_d = np.int32(0)
            for i in range(len(mine)):
                of_a = plus_product(of_a, mine[i], to_a[i])
                of_b = plus_product(of_b, mine[i], to_b[i])
                of_c = plus_product(of_c, mine[i], to_c[i])
                of_d = plus_product(of_d, mine[i], to_d[i])
            products[a] += unit * units_t[at_a] * np.float32(of_a)
            if b > a:
                products[b] += unit * units_t[at_b] * np.float32(of_b)
            if c > b:
                products[c] += unit * units_t[at_c] * np.float32(of_c)
            if d > c:
                products[d] += unit * units_t[at_d] * np.float32(of_d)


@njit(cache=True, nogil=True)
def cosines(
    first: int, last: int, sources: Int32, indptr: Int64, indices: Int32, products: Float32,
    squares: Float32, squares_t: Float32, label_of: Int32, label_of_t: Int32, shares_kept: Float32,
    found: Float32,
) -> None:  # fmt: skip
    """Products of vectors with these squared lengths as cosines in [0, 1] with 5 digits.

    See `LabelledGraphs.shares_kept`.
    """
    for row in range(first, last):
        ours = label_of[sources[row]]
        length = np.sqrt(np.float64(squares[sources[row]]))
        for entry in range(indptr[row], indptr[row + 1]):
            theirs = label_of_t[indices[entry]]
            removed = 0 if ours == theirs else int(ours >= 0) + int(theirs >= 0)
            both = length * np.sqrt(np.float64(squares_t[indices[entry]])) * shares_kept[removed]
            cosine = products[entry] / both if both > 0 else 0.0
            found[entry] = np.rint(min(max(cosine, 0.0), 1.0) * 1e5) / 1e5


@njit(cache=True, nogil=True)
def choose_best(
    first: int, last: int, indptr: Int64, scores: Float32, chosen: Int64, positions: Int64
) -> None:
    """Write the ascending positions of the best entries of each row to `positions[chosen[row]:...]`.

    Each row has as many as `chosen`, its row pointers, leaves room for; among equal scores the first ones.
    """
    ranked, best = np.empty((2, 0), np.float32)
    for row in range(first, last):
        start, end = indptr[row], indptr[row + 1]
        if end - start > len(ranked):
            ranked, best = np.empty((2, 2 * (end - start)), np.float32)
        room = positions[chosen[row] : chosen[row + 1]]
        keep_best(np.arange(start, end), scores[start:end], ranked, room, best[: len(room)])


@njit(cache=True, nogil=True)
def found_pairs(
    first: int, last: int, ids: Int32, cosines: Float32, targets: Int32, lengths: Float32, lengths_t: Float32,
    indptr: Int64, indices: Int32, products: Float32,
) -> None:  # fmt: skip
    """Write what a search found to CSR arrays, ascending by target: `targets[ids[row]]` and the products.

    `ids[rows, k]` are padded with -1. `targets` ascend.
    """
    for row in range(first, last):
        start = indptr[row]
        end = start
        for rank in range(ids.shape[1]):
            if ids[row, rank] < 0:
                continue
            target = targets[ids[row, rank]]
            product = cosines[row, rank] * lengths[row] * lengths_t[ids[row, rank]]
            at = end
            while at > start and indices[at - 1] > target:
                indices[at], products[at] = indices[at - 1], products[at - 1]
                at -= 1
            indices[at], products[at] = target, product
            end += 1
