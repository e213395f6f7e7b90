"""Compiled loops of neighbour evidence and label propagation. Each works on the rows `first:last`."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Float32, Int8, Int32, Int64
from largeea.similarity.kernels import best_first


@njit(cache=True, nogil=True)
def witnesses(
    first: int, last: int, max_fan: int, max_strength: float,
    pointers: Int64, relation: Int32, neighbour: Int32, inverse_functionality: Float32,
    pointers_t: Int64, relation_t: Int32, neighbour_t: Int32, fan_t: Int32, inverse_functionality_t: Float32,
    anchor: Int32, trust: Float32,
    agreed: Int64, agreed_with: Int32, agreement: Float32,
    ids: Int32, sums: Float32, kinds: Int8, kinds_t: Int8,
) -> None:  # fmt: skip
    """The k targets of each source with the highest sum of `-log(1 - witness)`, best first, ties by id.

    They are written into `ids[last - first, k]` and `sums[last - first, k]`. A source has targets of its own
    kind only; entities of kind -1 take no part. Nodes behind the entities of `kinds_t` are literal values.
    """
    targets = len(kinds_t)
    total = np.zeros(targets, np.float32)
    reached = np.empty(targets, np.int32)
    same = np.zeros(len(inverse_functionality_t), np.float32)
    best = np.empty(ids.shape[1], np.int64)
    for x in range(first, last):
        count = 0
        if kinds[x] < 0:
            continue
        for edge in range(pointers[x], pointers[x + 1]):
            y, r = neighbour[edge], relation[edge]
            counterpart = anchor[y]
            if counterpart < 0:
                continue
            for i in range(agreed[r], agreed[r + 1]):
                same[agreed_with[i]] = agreement[i]
            other = pointers_t[counterpart]
            while other < pointers_t[counterpart + 1]:
                inverse = relation_t[other] ^ 1
                strength = (
                    trust[y] * same[inverse] * min(inverse_functionality[r], inverse_functionality_t[inverse])
                )
                end = other + fan_t[other]
                if strength > 0 and fan_t[other] <= max_fan:
                    gain = -np.log(1 - min(strength, np.float32(max_strength)))
                    for found in range(other, end):
                        candidate = neighbour_t[found]
                        if candidate < targets and kinds_t[candidate] == kinds[x]:
                            if total[candidate] == 0:
                                reached[count] = candidate
                                count += 1
                            total[candidate] += gain
                other = end
            for i in range(agreed[r], agreed[r + 1]):
                same[agreed_with[i]] = 0
        for rank in range(best_first(total, reached[:count], best)):
            ids[x - first, rank] = best[rank]
            sums[x - first, rank] = total[best[rank]]
        for place in range(count):
            total[reached[place]] = 0


@njit(cache=True, nogil=True, fastmath={"contract"})
def spread(
    first: int, last: int, pointers: Int64, neighbour: Int32, weights: Float32,
    known: Float32, width: int, hop: int,
) -> None:  # fmt: skip
    """One hop of propagation: the sum of what neighbours had from the hop before, rows of length 1."""
    for node in range(first, last):
        reached = known[node, hop * width : (hop + 1) * width]
        reached[:] = 0
        for edge in range(pointers[node], pointers[node + 1]):
            there = known[neighbour[edge], (hop - 1) * width : hop * width]
            for i in range(width):
                reached[i] += weights[edge] * there[i]
        scale_to(np.float32(1), reached)


@njit(cache=True, nogil=True, fastmath={"contract"})
def sketch(
    first: int, last: int, nodes: Int64, pointers: Int64, relation: Int32, neighbour: Int32,
    weights: Float32, mixed: Float32, known: Float32, head_width: int, reached_length: float,
    vectors: Float32,
) -> None:  # fmt: skip
    """`sum over edges: weight * relation (x) neighbour` of each node; every head mixes relations differently.

    Behind the sketch comes what has reached the node itself by hops. Row i of `vectors` is of `nodes[i]`.
    A node's own label, which comes back to it from its neighbours, is removed: an anchor must not confirm
    itself.
    """
    width = known.shape[1]
    for row in range(first, last):
        node = nodes[row]
        seen, reached = vectors[row, :width], vectors[row, width:]
        seen[:] = 0
        for edge in range(pointers[node], pointers[node + 1]):
            there = known[neighbour[edge]]
            for head in range(mixed.shape[1]):
                factor = weights[edge] * mixed[relation[edge], head]
                for i in range(head * head_width, (head + 1) * head_width):
                    seen[i] += factor * there[i]
        reached[:] = known[node, width - len(reached) :]
        own = known[node, : width - len(reached)]
        remove_label(seen, own, head_width)
        remove_label(reached, own, head_width)
        scale_to(np.float32(1), seen)
        scale_to(np.float32(reached_length), reached)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def remove_label(vector: Float32, label: Float32, head_width: int) -> None:
    """Make the parts of a vector, `head_width` dimensions each, orthogonal to the parts of a label."""
    for start in range(0, len(label), head_width):
        squares = np.float32(0)
        for i in range(start, start + head_width):
            squares += label[i] * label[i]
        if squares > 0:
            for first in range(start, len(vector), len(label)):
                product = np.float32(0)
                for i in range(head_width):
                    product += vector[first + i] * label[start + i]
                for i in range(head_width):
                    vector[first + i] -= product / squares * label[start + i]


@njit(cache=True, nogil=True)
def make_rows_unit(first: int, last: int, vectors: Float32) -> None:
    """Give the rows `first:last` length 1; a row of zeros stays."""
    for row in range(first, last):
        scale_to(np.float32(1), vectors[row])


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def scale_to(length: np.float32, vector: Float32) -> None:
    """Give a vector this length; one of zeros stays."""
    squares = np.float32(0)
    for i in range(len(vector)):
        squares += vector[i] * vector[i]
    if squares > 0:
        factor = length / np.sqrt(squares)
        for i in range(len(vector)):
            vector[i] *= factor


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def dot_products(
    first: int, last: int, source: Float32, target: Float32, rows: Int32, columns: Int32, products: Float32
) -> None:
    """`source[rows[i]] . target[columns[i]]` into `products[i]`, for the entries `first:last`."""
    for pair in range(first, last):
        total = np.float32(0)
        for i in range(source.shape[1]):
            total += source[rows[pair], i] * target[columns[pair], i]
        products[pair] = total
