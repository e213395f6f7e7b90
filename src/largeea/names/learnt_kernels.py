"""The compiled part of translations that are learnt from anchors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from largeea.graph import Float32, Int32, Int64
from largeea.search.sparse_index import Csr
from largeea.similarity.kernels import best_first

PRIOR = 3.0
"""Pairs of names in which every unit is taken to have stood for itself before anything was seen."""


class Units(NamedTuple):
    """The units of names in CSR form: those of name i are `ids[pointer[i] : pointer[i + 1]]`."""

    pointer: Int64
    ids: Int32


class Translations(NamedTuple):
    """What source units stand for, over one vocabulary of both graphs.

    pointer, others, shares: unit u stands for `others[pointer[u] : pointer[u + 1]]`; `shares` is how often
        each is expected in the counterpart of a name with u.
    before: the shares that the last iteration started from.
    counts: number of pairs that have each source unit, `[vocabulary]`.
    chance: share of the pairs that have each target unit, `[vocabulary]`.
    own: the target in the pair of each source entity, -1 for none, `[sources]`.
    """

    pointer: Int64
    others: Int32
    shares: Float32
    before: Float32
    counts: Float32
    chance: Float32
    own: Int32


@njit(cache=True, nogil=True)
def count_together(
    bearers: Units, target: Units, counts: Float32, chance: Float32
) -> tuple[Int64, Int32, Float32]:
    """How often target units occur in pairs with each source unit, per pair, as parts of a CSR matrix.

    `bearers` are the pairs that have each source unit, `target` the target units of each pair. Kept are units
    that occur together at least as often as by chance.
    """
    vocabulary = len(counts)
    together, touched = np.zeros(vocabulary, np.float32), np.empty(vocabulary, np.int32)
    pointer = np.zeros(vocabulary + 1, np.int64)
    ids, shares = np.empty(vocabulary, np.int32), np.empty(vocabulary, np.float32)
    size = np.int64(0)
    for unit in range(vocabulary):
        together[unit], touched[0], found = PRIOR, unit, 1
        for at in range(bearers.pointer[unit], bearers.pointer[unit + 1]):
            pair = bearers.ids[at]
            for place in range(target.pointer[pair], target.pointer[pair + 1]):
                other = target.ids[place]
                if together[other] == 0:
                    touched[found] = other
                    found += 1
                together[other] += 1
        if size + found > len(ids):
            ids, shares = _longer(ids, size + found), _longer(shares, size + found)
        for at in range(found):
            other = touched[at]
            if other == unit or together[other] >= counts[unit] * chance[other]:
                ids[size], shares[size] = other, together[other] / (counts[unit] + PRIOR)
                size += 1
            together[other] = 0
        pointer[unit + 1] = size
    return pointer, ids[:size].copy(), shares[:size].copy()


@njit(cache=True, nogil=True)
def _longer(values: Int32, least: int) -> Int32:
    """A copy with room for at least so many values, and for twice as many as before."""
    longer = np.empty(max(2 * len(values), least), values.dtype)
    longer[: len(values)] = values
    return longer


@njit(cache=True, nogil=True)
def expect(bearers: Units, target: Units, table: Csr, chance: Float32, expected: Float32) -> None:
    """Write how often each unit of each pair's target is expected, given the source: `[units of target]`."""
    row = np.zeros(len(chance), np.float32)
    for at in range(len(target.ids)):
        expected[at] = chance[target.ids[at]]
    for unit in range(len(chance)):
        if bearers.pointer[unit] == bearers.pointer[unit + 1]:
            continue
        start, end = table.pointer[unit], table.pointer[unit + 1]
        for entry in range(start, end):
            row[table.columns[entry]] = table.weights[entry]
        for at in range(bearers.pointer[unit], bearers.pointer[unit + 1]):
            pair = bearers.ids[at]
            for place in range(target.pointer[pair], target.pointer[pair + 1]):
                expected[place] += row[target.ids[place]]
        for entry in range(start, end):
            row[table.columns[entry]] = 0


@njit(cache=True, nogil=True)
def explain(bearers: Units, target: Units, table: Csr, expected: Float32, counts: Float32) -> None:
    """Replace the weights of the table by what each source unit explains of each target unit, per pair.

    `expected` is what `expect` wrote.
    """
    row = np.zeros(len(counts), np.float32)
    for unit in range(len(counts)):
        for at in range(bearers.pointer[unit], bearers.pointer[unit + 1]):
            pair = bearers.ids[at]
            for place in range(target.pointer[pair], target.pointer[pair + 1]):
                row[target.ids[place]] += 1 / expected[place]
        for entry in range(table.pointer[unit], table.pointer[unit + 1]):
            other = table.columns[entry]
            explained = table.weights[entry] * row[other] + (PRIOR if other == unit else 0.0)
            table.weights[entry] = explained / (counts[unit] + PRIOR)
        for at in range(bearers.pointer[unit], bearers.pointer[unit + 1]):
            pair = bearers.ids[at]
            for place in range(target.pointer[pair], target.pointer[pair + 1]):
                row[target.ids[place]] = 0


@njit(cache=True, nogil=True)
def score_rows(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    source: Units,
    target: Units,
    known: Translations,
    weights: Float32,
    lengths: Float32,
    scores: Float32,
) -> None:
    """Write the cosines of the translations of the source names `first:last` and their candidates' names."""
    vector, expected = np.zeros(len(weights), np.float32), np.zeros(len(weights), np.float32)
    touched = np.empty(len(weights), np.int32)
    for row in range(first, last):
        if indptr[row] == indptr[row + 1]:
            continue
        found = _translate(row, source, target, known, weights, vector, expected, touched)
        for entry in range(indptr[row], indptr[row + 1]):
            other, product = indices[entry], np.float32(0)
            for place in range(target.pointer[other], target.pointer[other + 1]):
                product += vector[target.ids[place]] * weights[target.ids[place]]
            scores[entry] = min(product / lengths[other], np.float32(1))
        vector[touched[:found]] = 0


@njit(cache=True, nogil=True)
def translate_rows(
    first: int,
    last: int,
    names: Int32,
    source: Units,
    target: Units,
    known: Translations,
    weights: Float32,
    ids: Int32,
    values: Float32,
) -> None:
    """Write the k highest entries of the translations of `names[first:last]` to `ids` and `values`."""
    vector, expected = np.zeros(len(weights), np.float32), np.zeros(len(weights), np.float32)
    touched = np.empty(len(weights), np.int32)
    for row in range(first, last):
        found = _translate(names[row], source, target, known, weights, vector, expected, touched)
        for place in range(best_first(vector, touched[:found], ids[row])):
            values[row, place] = vector[ids[row, place]]
        vector[touched[:found]] = 0


@njit(cache=True, nogil=True)
def _translate(
    name: int,
    source: Units,
    target: Units,
    known: Translations,
    weights: Float32,
    vector: Float32,
    expected: Float32,
    touched: Int32,
) -> int:
    """Write the translation of a source name: the roots of expected frequencies times weights, of length 1.

    What was learnt from the name's own pair is taken out. `vector` and `expected` are `[vocabulary]` and 0
    before; the entries of the vector that are not 0 are the first so many of `touched`, as returned.
    """
    pointer, others, shares, before, counts, chance, own = known
    pair = own[name]
    if pair >= 0:
        for place in range(target.pointer[pair], target.pointer[pair + 1]):
            expected[target.ids[place]] = chance[target.ids[place]]
        for at in range(source.pointer[name], source.pointer[name + 1]):
            unit = source.ids[at]
            for entry in range(pointer[unit], pointer[unit + 1]):
                if expected[others[entry]] > 0:
                    expected[others[entry]] += before[entry]
    found = 0
    for at in range(source.pointer[name], source.pointer[name + 1]):
        unit = source.ids[at]
        for entry in range(pointer[unit], pointer[unit + 1]):
            other, share = others[entry], shares[entry]
            if pair >= 0 and counts[unit] <= 1:
                share = np.float32(1 if other == unit else 0)
            elif pair >= 0:
                explained = share * (counts[unit] + PRIOR)
                if expected[other] > 0:
                    explained -= before[entry] / expected[other]
                share = np.float32(max(explained, 0.0) / (counts[unit] - 1 + PRIOR))
            if share > 0:
                if vector[other] == 0:
                    touched[found] = other
                    found += 1
                vector[other] += share
    if pair >= 0:
        for place in range(target.pointer[pair], target.pointer[pair + 1]):
            expected[target.ids[place]] = 0
    squares = 0.0
    for at in range(found):
        other = touched[at]
        vector[other] = np.sqrt(min(vector[other], np.float32(1))) * weights[other]
        squares += vector[other] ** 2
    for at in range(found):
        vector[touched[at]] /= np.float32(np.sqrt(squares))
    return found
