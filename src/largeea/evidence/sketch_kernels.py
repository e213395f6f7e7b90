"""Compiled loops of label propagation. Each works on the rows `first:last`.

What the nodes know is `known[nodes, (HOPS + 1) * width]` in whole numbers: for each hop a vector of length 1,
rounded, in which `LABEL_LEVEL` stands for a label's 1. `hops[nodes]` counts the hops of which a node knows
something.

Rows are sliced before inner loops: an index that numba cannot tell to be positive costs a check for each
number, and several numbers are no longer added at a time.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.evidence.labels import HEAD_WIDTH, LABEL_LEVEL, LEAST_LEFT, LEVELS
from largeea.execution.prefetch import prefetch, prefetch_row
from largeea.graph import Float32, Int8, Int32, Int64, UInt64


@njit(cache=True, nogil=True)
def write_labels(
    first: int, last: int, bits: UInt64, label_of: Int32, width: int, known: Int8, hops: Int8
) -> None:
    """Hop 0: the labels of the nodes, by the bits of each label; zeros where a node has none."""
    for node in range(first, last):
        label = label_of[node]
        hops[node] = label >= 0
        if label < 0:
            known[node, :width] = 0
            continue
        for i in range(width):
            sign = 2 * np.int8((bits[label] >> np.uint64(i)) & np.uint64(1)) - 1
            known[node, i] = sign * LABEL_LEVEL


@njit(cache=True, nogil=True, fastmath={"contract", "nnan", "nsz"})
def spread(
    first: int, last: int, pointers: Int64, neighbour: Int32, counts: Float32, width: int, hop: int,
    known: Int8, hops: Int8,
) -> None:  # fmt: skip
    """One hop: the sum of what neighbours had from the hop before, times what they count; see above."""
    reached = np.empty(width, np.float32)
    before, now = known[:, (hop - 1) * width : hop * width], known[:, hop * width : (hop + 1) * width]
    length = np.float32(LABEL_LEVEL * np.sqrt(width))
    for node in range(first, last):
        reached[:] = 0
        end = pointers[node + 1]
        for edge in range(pointers[node], end, 4):
            for later in range(edge + 8, min(edge + 12, len(neighbour))):
                prefetch(before, neighbour[later])
            a, b, c, d = four_of(edge, end, neighbour)
            of_a, of_b, of_c, of_d = four_factors(edge, end, counts[a], counts[b], counts[c], counts[d])
            from_a, from_b, from_c, from_d = before[a], before[b], before[c], before[d]
            for i in range(width):
                reached[i] += (
                    of_a * np.float32(from_a[i])
                    + of_b * np.float32(from_b[i])
                    + of_c * np.float32(from_c[i])
                    + of_d * np.float32(from_d[i])
                )
        squares = squared_length(reached)
        hops[node] += squares > 0
        factor = length / np.sqrt(squares) if squares > 0 else np.float32(0)
        levels = now[node]
        for i in range(width):
            level = min(max(reached[i] * factor, np.float32(-LEVELS)), np.float32(LEVELS))
            levels[i] = np.int8(np.rint(level))


@njit(cache=True, nogil=True, inline="always")
def four_of(edge: int, end: int, values: Int32) -> tuple[int, int, int, int]:
    """The values of four edges from `edge` on; the last one again where there are fewer.

    Four edges at a time are added up, because then more reads from memory are under way.
    """
    last = end - 1
    return values[edge], values[min(edge + 1, last)], values[min(edge + 2, last)], values[min(edge + 3, last)]


@njit(cache=True, nogil=True, inline="always")
def four_factors(
    edge: int, end: int, a: np.float32, b: np.float32, c: np.float32, d: np.float32
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """Factors of four edges, 0 for those from `end` on."""
    zero = np.float32(0)
    return a, b if edge + 1 < end else zero, c if edge + 2 < end else zero, d if edge + 3 < end else zero


@njit(cache=True, nogil=True)
def label_sums(
    first: int, last: int, bounds: Int64, pointers: Int64, relation: Int32, label_of: Int32, known: Int8,
    sums: Float32,
) -> None:  # fmt: skip
    """The sum of the labels of the nodes that have each relation, once for each edge.

    For each block of nodes `bounds[block] : bounds[block + 1]`, into `sums[blocks, relations, width]`.
    """
    for block in range(first, last):
        sums[block] = 0
        for node in range(bounds[block], bounds[block + 1]):
            if label_of[node] < 0:
                continue
            for edge in range(pointers[node], pointers[node + 1]):
                r = relation[edge]
                for i in range(sums.shape[2]):
                    sums[block, r, i] += np.float32(1 if known[node, i] > 0 else -1)


@njit(cache=True, nogil=True, fastmath={"contract"})
def mix_relations(
    first: int, last: int, indptr: Int32, indices: Int32, agreement: Float32, sums: Float32,
    by_agreement: Float32, by_ends: Float32, mixed: Float32,
) -> None:  # fmt: skip
    """What each head sees of relations: those they agree with, in CSR form, and the labels at their ends.

    The sums of labels at both ends, those of a relation and of its inverse, are scaled to length 1, and then
    both together. Four labels at a time, because sums that wait for each other are slow.
    """
    width, heads = sums.shape[1], mixed.shape[1]
    for relation in range(first, last):
        seen = mixed[relation]
        seen[:] = 0
        for entry in range(indptr[relation], indptr[relation + 1]):
            weights = by_agreement[indices[entry]]
            for head in range(heads):
                seen[head] += agreement[entry] * weights[head]
        lengths = np.sqrt(squared_length(sums[relation])), np.sqrt(squared_length(sums[relation ^ 1]))
        together = np.sqrt(np.float32(int(lengths[0] > 0) + int(lengths[1] > 0)))
        for end in range(2):
            if lengths[end] == 0:
                continue
            factor, labels = np.float32(1) / (lengths[end] * together), sums[relation ^ end]
            for i in range(0, width, 4):
                a, b, c, d = labels[i], labels[i + 1], labels[i + 2], labels[i + 3]
                at = end * width + i
                of_a, of_b, of_c, of_d = by_ends[at], by_ends[at + 1], by_ends[at + 2], by_ends[at + 3]
                for head in range(heads):
                    four = a * of_a[head] + b * of_b[head] + c * of_c[head] + d * of_d[head]
                    seen[head] += factor * four


@njit(cache=True, nogil=True, fastmath={"contract", "nsz"})
def sketch(
    first: int, last: int, nodes: Int32, pointers: Int64, relation: Int32, neighbour: Int32, label_of: Int32,
    mixed: Float32, known: Int8, counts: Float32, label_width: int, reached_length: float,
    vectors: Int8, units: Float32, lengths: Float32,
) -> None:  # fmt: skip
    """`sum over edges: relation (x) neighbour` of each node; relations: `mixed[relations, heads]`.

    Neighbours weigh as much as they count, `counts[nodes]`. Behind the sketch comes what has reached the node
    itself by hops. A node's own label, which comes back to it from its neighbours, is removed: an anchor must
    not confirm itself. Row i of `vectors` is of `nodes[i]`, rounded; one whole number of it is `units[i]`,
    and `lengths[i]` is its squared length.
    """
    width = known.shape[1]
    vector, label = np.empty(vectors.shape[1], np.float32), np.empty(label_width, np.float32)
    seen, reached = vector[:width], vector[width:]
    seen_parts, reached_parts, label_parts = in_parts(seen), in_parts(reached), in_parts(label)
    for row in range(first, last):
        node = nodes[row]
        seen[:] = 0
        end = pointers[node + 1]
        for edge in range(pointers[node], end, 4):
            a, b, c, d = four_of(edge, end, neighbour)
            of_a, of_b, of_c, of_d = four_factors(edge, end, counts[a], counts[b], counts[c], counts[d])
            by_a, by_b, by_c, by_d = four_of(edge, end, relation)
            for later in range(edge + 4, min(edge + 8, len(neighbour))):
                prefetch_row(known, neighbour[later])
            from_a, from_b, from_c, from_d = known[a], known[b], known[c], known[d]
            for head in range(mixed.shape[1]):
                mix_a, mix_b = of_a * mixed[by_a, head], of_b * mixed[by_b, head]
                mix_c, mix_d = of_c * mixed[by_c, head], of_d * mixed[by_d, head]
                for i in range(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH):
                    seen[i] += (
                        mix_a * np.float32(from_a[i])
                        + mix_b * np.float32(from_b[i])
                        + mix_c * np.float32(from_c[i])
                        + mix_d * np.float32(from_d[i])
                    )
        own, by_hops = known[node, :label_width], known[node, label_width:]
        for i in range(len(reached)):
            reached[i] = np.float32(by_hops[i])
        if label_of[node] >= 0:
            for i in range(label_width):
                label[i] = np.float32(own[i]) / np.float32(LABEL_LEVEL)
            left = remove_label(seen_parts, label_parts)
            left_by_hops = remove_label(reached_parts, label_parts)
        else:
            left, left_by_hops = squared_length(seen), squared_length(reached)
        scale = scale_to(np.float32(1), left)
        by_hops_scale = scale_to(np.float32(reached_length), left_by_hops)
        highest = max(scale * highest_absolute(seen), by_hops_scale * highest_absolute(reached))
        levels = np.float32(LEVELS) / highest if highest > 0 else np.float32(0)
        squares = round_to_levels(seen, scale * levels, vectors[row, :width])
        squares += round_to_levels(reached, by_hops_scale * levels, vectors[row, width:])
        units[row] = highest / np.float32(LEVELS)
        lengths[row] = units[row] * units[row] * squares


@njit(cache=True, nogil=True)
def scaled_rows(first: int, last: int, numbers: Int8, units: Float32, scaled: Float32) -> None:
    """Write `units[i] * numbers[i]` to `scaled[i]`."""
    for row in range(first, last):
        for i in range(numbers.shape[1]):
            scaled[row, i] = units[row] * np.float32(numbers[row, i])


@njit(cache=True, nogil=True)
def divide_rows(first: int, last: int, divisors: Float32, rows: Float32) -> None:
    """Divide every row by a number of its own."""
    for row in range(first, last):
        rows[row] /= divisors[row]


@njit(cache=True, nogil=True)
def in_parts(vector: Float32) -> Float32:
    """A view of a vector as `[parts, HEAD_WIDTH]`."""
    return vector.reshape((len(vector) // HEAD_WIDTH, HEAD_WIDTH))


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def remove_label(vector: Float32, label: Float32) -> np.float32:
    """Make the parts of a vector orthogonal to the parts of a label of ±1: `[parts, HEAD_WIDTH]` both.

    A vector has the parts of several labels. Returns the squared length that is left, 0 for a vector that is
    little else than the label.
    """
    before = removed = np.float32(0)
    for start in range(0, len(vector), len(label)):
        for place in range(len(label)):
            part, own = vector[start + place], label[place]
            squares = product = np.float32(0)
            for i in range(len(part)):
                squares += part[i] * part[i]
                product += part[i] * own[i]
            product /= np.float32(HEAD_WIDTH)
            before += squares
            removed += np.float32(HEAD_WIDTH) * product * product
            for i in range(len(part)):
                part[i] -= product * own[i]
    left = before - removed
    return left if left > np.float32(LEAST_LEFT) * before else np.float32(0)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def squared_length(vector: Float32) -> np.float32:
    """The sum of squares."""
    squares = np.float32(0)
    for i in range(len(vector)):
        squares += vector[i] * vector[i]
    return squares


@njit(cache=True, nogil=True)
def scale_to(length: np.float32, squares: np.float32) -> np.float32:
    """The factor that gives a vector of this squared length another length; 0 for one of zeros."""
    return length / np.sqrt(squares) if squares > 0 else np.float32(0)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nnan", "nsz"})
def round_to_levels(vector: Float32, factor: np.float32, rounded: Int8) -> np.float32:
    """Write a vector times a factor in whole numbers, and return the sum of their squares, which is exact."""
    squares = np.float32(0)
    for i in range(len(vector)):
        level = np.rint(vector[i] * factor)
        rounded[i] = np.int8(level)
        squares += level * level
    return squares


@njit(cache=True, nogil=True)
def highest_absolute(vector: Float32) -> np.float32:
    """The highest absolute value, found by the bits without the sign: they ascend with the value, and many
    whole numbers are compared at a time."""
    bits, highest = vector.view(np.int32), np.int32(0)
    for i in range(len(bits)):
        highest = max(highest, bits[i] & np.int32(0x7FFFFFFF))
    return np.int32(highest).view(np.float32)
