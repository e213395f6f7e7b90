"""Compiled loops of neighbour evidence and label propagation. Each works on the rows `first:last`."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.evidence.labels import HEAD_WIDTH, LEAST_LEFT, LEVELS
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
    total = np.zeros(targets, np.float64)  # sums of float32 that hardly depend on their order
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
                    gain = np.float32(-np.log(1 - min(strength, np.float32(max_strength))))
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


@njit(cache=True, nogil=True)
def round_rows(first: int, last: int, vectors: Float32, rounded: Int8, units: Float32) -> None:
    """Give the rows `first:last` length 1 and round them; one step of row i is `units[i]`."""
    for row in range(first, last):
        scale_to(np.float32(1), vectors[row])
        units[row] = round_to_levels(vectors[row], rounded[row])


@njit(cache=True, nogil=True)
def label_sums(
    first: int, last: int, bounds: Int64, pointers: Int64, relation: Int32, label_of: Int32, labels: Float32,
    sums: Float32,
) -> None:  # fmt: skip
    """The sum of the labels of the nodes that have each relation, once for each edge.

    For each block of nodes `bounds[block] : bounds[block + 1]`, into `sums[blocks, relations, width]`.
    """
    for block in range(first, last):
        sums[block] = 0
        for node in range(bounds[block], bounds[block + 1]):
            label = label_of[node]
            if label < 0:
                continue
            for edge in range(pointers[node], pointers[node + 1]):
                r = relation[edge]
                for i in range(labels.shape[1]):
                    sums[block, r, i] += labels[label, i]


@njit(cache=True, nogil=True, fastmath={"contract"})
def sketch(
    first: int, last: int, nodes: Int32, pointers: Int64, relation: Int32, neighbour: Int32,
    weights: Float32, mixed: Float32, known: Int8, units: Float32, label_of: Int32, labels: Float32,
    reached_length: float, vectors: Int8, steps: Float32, lengths: Float32,
) -> None:  # fmt: skip
    """`sum over edges: weight * relation (x) neighbour` of each node; relations: `mixed[relations, width]`.

    Behind the sketch comes what has reached the node itself by hops. A node's own label, which comes back to
    it from its neighbours, is removed: an anchor must not confirm itself. Row i of `vectors` is of
    `nodes[i]`, rounded; one step of it is `steps[i]`, and `lengths[i]` is its squared length.
    """
    width, label_width = known.shape[1], labels.shape[1]
    vector = np.empty(vectors.shape[1], np.float32)
    seen, reached = vector[:width], vector[width:]
    for row in range(first, last):
        node = nodes[row]
        seen[:] = 0
        for edge in range(pointers[node], pointers[node + 1]):
            other, r = neighbour[edge], relation[edge]
            factor = weights[edge] * units[other]
            for i in range(width):
                seen[i] += factor * mixed[r, i] * np.float32(known[other, i])
        for i in range(len(reached)):
            reached[i] = units[node] * np.float32(known[node, label_width + i])
        if label_of[node] >= 0:
            remove_label(seen, labels[label_of[node]])
            remove_label(reached, labels[label_of[node]])
        scale_to(np.float32(1), seen)
        scale_to(np.float32(reached_length), reached)
        steps[row] = round_to_levels(vector, vectors[row])
        squares = np.int32(0)
        for i in range(len(vector)):
            squares += np.int32(vectors[row, i]) * np.int32(vectors[row, i])
        lengths[row] = steps[row] * steps[row] * np.float32(squares)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def remove_label(vector: Float32, label: Float32) -> None:
    """Make the parts of a vector, `HEAD_WIDTH` dimensions each, orthogonal to the parts of a label of ±1.

    A vector that is little else than the label becomes 0.
    """
    before = squared_length(vector)
    for start in range(0, len(vector), HEAD_WIDTH):
        own = start % len(label)
        product = np.float32(0)
        for i in range(HEAD_WIDTH):
            product += vector[start + i] * label[own + i]
        product /= np.float32(HEAD_WIDTH)
        for i in range(HEAD_WIDTH):
            vector[start + i] -= product * label[own + i]
    if squared_length(vector) < np.float32(LEAST_LEFT) * before:
        vector[:] = 0


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def squared_length(vector: Float32) -> np.float32:
    """The sum of squares."""
    squares = np.float32(0)
    for i in range(len(vector)):
        squares += vector[i] * vector[i]
    return squares


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def scale_to(length: np.float32, vector: Float32) -> None:
    """Give a vector this length; one of zeros stays."""
    squares = squared_length(vector)
    if squares > 0:
        factor = length / np.sqrt(squares)
        for i in range(len(vector)):
            vector[i] *= factor


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nnan", "nsz"})
def round_to_levels(vector: Float32, rounded: Int8) -> np.float32:
    """Round a vector to whole numbers up to `LEVELS` and return what one of them stands for."""
    highest = np.float32(0)
    for i in range(len(vector)):
        highest = max(highest, abs(vector[i]))
    factor = np.float32(LEVELS) / highest if highest > 0 else np.float32(0)
    for i in range(len(vector)):
        rounded[i] = np.int8(np.rint(vector[i] * factor))
    return highest / np.float32(LEVELS)


@njit(cache=True, nogil=True)
def dot_products(
    first: int, last: int, source: Int8, target: Int8, steps: Float32, steps_t: Float32,
    rows: Int32, columns: Int32, products: Float32,
) -> None:  # fmt: skip
    """`source[rows[i]] . target[columns[i]]` into `products[i]`, for the entries `first:last`.

    Four pairs at a time, because then more reads from memory are under way; the last ones may be repeated.
    """
    for start in range(first, last, 4):
        a, b, c, d = start, min(start + 1, last - 1), min(start + 2, last - 1), min(start + 3, last - 1)
        row_a, row_b, row_c, row_d = rows[a], rows[b], rows[c], rows[d]
        column_a, column_b, column_c, column_d = columns[a], columns[b], columns[c], columns[d]
        of_a = of_b = of_c = of_d = np.int32(0)
        for i in range(source.shape[1]):
            of_a += np.int32(source[row_a, i]) * np.int32(target[column_a, i])
            of_b += np.int32(source[row_b, i]) * np.int32(target[column_b, i])
            of_c += np.int32(source[row_c, i]) * np.int32(target[column_c, i])
            of_d += np.int32(source[row_d, i]) * np.int32(target[column_d, i])
        products[a] = steps[row_a] * steps_t[column_a] * np.float32(of_a)
        products[b] = steps[row_b] * steps_t[column_b] * np.float32(of_b)
        products[c] = steps[row_c] * steps_t[column_c] * np.float32(of_c)
        products[d] = steps[row_d] * steps_t[column_d] * np.float32(of_d)
