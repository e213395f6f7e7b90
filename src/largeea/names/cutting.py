"""Names cut into words, and how the words are spelt."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32, Int64, Strings, UInt64
from largeea.graph.ranges import expand_ranges
from largeea.names.characters import CodePoints, code_points
from largeea.names.ngrams import count_grams
from largeea.names.numbering import number_codes

MAX_WORDS = 24
"""Words of a name that are compared; a longer text is hardly a name."""
SHORTEST_GRAM, LONGEST_GRAM = 2, 3
GRAM_BITS = 20
MOST_GRAMS = (1 << GRAM_BITS) - 1
"""N-grams that a word may have; names are cut long before."""
LETTER_BITS = 32
LETTER_MASK = (1 << LETTER_BITS) - 1


class Words(NamedTuple):
    """The words of names, in CSR form: `ids[pointer[i] : pointer[i + 1]]` are those of name i, ascending.

    shares: how often a name has each of its words, relative to the one it has most often, `[words]`.
    weights: inverse document frequency of each word, `[vocabulary]`.
    spelling: four numbers a word that are read together, `[vocabulary, 4]`: a sketch of 128 bits, of which
        each n-gram sets one; where its n-grams begin, and how many they are; how many of them set no bit of
        their own, its first character, and whether it is a single letter (see `_spelling`).
    grams: sorted hash codes of the n-grams of all words.
    """

    pointer: Int64
    ids: Int32
    shares: Float32
    weights: Float32
    spelling: UInt64
    grams: UInt64

    @classmethod
    def cut(cls, names: Strings) -> Words:
        """Cut Latin names into words; a null name has none. A letter and a number after it are two words."""
        points, offsets = code_points(names)
        sizes = np.empty(len(names), np.int64)
        over_rows(_count_words, len(names), points, offsets, sizes)
        pointer = _pointer(sizes)
        codes, spans = np.empty(pointer[-1], np.uint64), np.empty((pointer[-1], 2), np.int64)
        over_rows(_hash_words, len(names), points, offsets, pointer, codes, spans)
        ids, numbering = number_codes(codes, pointer[:-1], pointer)
        ids, first = _in_order_of_appearance(numbering.number_of[ids], len(numbering.codes))
        vocabulary = spans[first]
        shares = np.empty(len(ids), np.float32)
        over_rows(_count_distinct, len(names), pointer, ids, shares, sizes)
        kept = np.arange(len(ids)) - np.repeat(pointer[:-1], np.diff(pointer)) < np.repeat(
            sizes, np.diff(pointer)
        )
        ids, shares = ids[kept], shares[kept]
        frequency = np.maximum(np.bincount(ids, minlength=len(vocabulary)), 1)
        weights = np.log1p(len(names) / frequency).astype(np.float32)
        return cls(_pointer(sizes), ids, shares, weights, *_spelling(points, vocabulary))


def _pointer(sizes: Int64) -> Int64:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _in_order_of_appearance(ids: Int32, vocabulary: int) -> tuple[Int32, Int64]:
    """Words numbered anew in the order they come, and where each comes first, `[vocabulary]`."""
    first = np.empty(vocabulary, np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    order = np.argsort(first)
    renumbered = np.empty(vocabulary, np.int32)
    renumbered[order] = np.arange(vocabulary, dtype=np.int32)
    return renumbered[ids], first[order]


def _spelling(points: CodePoints, vocabulary: Int64) -> tuple[UInt64, UInt64]:
    """`Words.spelling` and `Words.grams`, given where each word begins and ends in `points`.

    Numbers have no n-grams: they match only if they are equal.
    """
    lengths = vocabulary[:, 1] - vocabulary[:, 0]
    offsets = _pointer(lengths)
    letters = points[expand_ranges(vocabulary[:, 0], lengths)[1]]
    grams = count_grams(letters, offsets, SHORTEST_GRAM, LONGEST_GRAM)
    first = letters[offsets[:-1]].astype(np.int64)
    number = (first >= ord("0")) & (first <= ord("9"))
    sizes = np.where(number, 0, grams.sizes)
    spelling = np.zeros((len(vocabulary), 4), np.uint64)
    spelling[:, 2] = grams.starts << GRAM_BITS | sizes
    spelling[:, 3] = first << 1 | ((lengths == 1) & ~number)
    over_rows(_sketch, len(vocabulary), grams.codes, spelling)
    return spelling, grams.codes


@njit(cache=True, nogil=True)
def _word_end(points: CodePoints, start: int, end: int) -> int:
    """Where the word that begins at `start` ends: at a space, or between a letter and the number after it."""
    at = start
    while at < end and points[at] != 32:
        at += 1
    if at - start > 1 and 97 <= points[start] <= 122:
        for place in range(start + 1, at):
            if not 48 <= points[place] <= 57:
                return at
        return start + 1
    return at


@njit(cache=True, nogil=True)
def _count_words(first: int, last: int, points: CodePoints, offsets: Int64, sizes: Int64) -> None:
    """Write how many words each name has, up to `MAX_WORDS`."""
    for name in range(first, last):
        at, end, count = offsets[name], offsets[name + 1], 0
        while at < end and count < MAX_WORDS:
            if points[at] == 32:
                at += 1
            else:
                at = _word_end(points, at, end)
                count += 1
        sizes[name] = count


@njit(cache=True, nogil=True)
def _hash_words(
    first: int, last: int, points: CodePoints, offsets: Int64, pointer: Int64, codes: UInt64, spans: Int64
) -> None:
    """Write the hash code of each word, and where it begins and ends."""
    for name in range(first, last):
        at = offsets[name]
        for place in range(pointer[name], pointer[name + 1]):
            while points[at] == 32:
                at += 1
            spans[place, 0], code = at, np.uint64(1)
            end = _word_end(points, at, offsets[name + 1])
            while at < end:
                code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(
                    points[at]
                )
                at += 1
            codes[place], spans[place, 1] = code, at


@njit(cache=True, nogil=True)
def _count_distinct(first: int, last: int, pointer: Int64, ids: Int32, shares: Float32, sizes: Int64) -> None:
    """Move the distinct words of each name to its front, ascending, and write their shares and number."""
    for name in range(first, last):
        start, end, most = pointer[name], pointer[name], np.float32(1)
        for at in range(start, pointer[name + 1]):
            word = ids[at]
            place = end
            while place > start and ids[place - 1] > word:
                place -= 1
            if place > start and ids[place - 1] == word:
                shares[place - 1] += 1
                most = max(most, shares[place - 1])
                continue
            for other in range(end, place, -1):
                ids[other], shares[other] = ids[other - 1], shares[other - 1]
            ids[place], shares[place] = word, 1
            end += 1
        for at in range(start, end):
            shares[at] /= most
        sizes[name] = end - start


@njit(cache=True, nogil=True)
def _sketch(first: int, last: int, grams: UInt64, spelling: UInt64) -> None:
    """Set the bit of each n-gram in the sketch of its word, and count those whose bit is set already."""
    one = np.uint64(1)
    for word in range(first, last):
        start = np.int64(spelling[word, 2] >> np.uint64(GRAM_BITS))
        for at in range(start, start + np.int64(spelling[word, 2] & np.uint64(MOST_GRAMS))):
            bit = one << ((grams[at] >> np.uint64(33)) & np.uint64(63))
            half = np.int64((grams[at] >> np.uint64(32)) & one)
            if spelling[word, half] & bit:
                spelling[word, 3] += one << np.uint64(LETTER_BITS)
            spelling[word, half] |= bit
