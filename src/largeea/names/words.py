"""Names compared word by word: a rare word that differs counts for more than a common one.

Words match if they are equal, if they are spelt alike (grey, gray), if one is the initial of the other, or if
they replace each other in names of the same entity (kidney, renal).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Bool, Float32, Int32, Int64, Strings
from largeea.names.characters import CodePoints, code_points
from largeea.names.lexicon import Lexicon, learn_lexicon
from largeea.names.ngrams import count_block
from largeea.names.rows import Names
from largeea.names.strings.matching import most_shared
from largeea.search.sorting import UInt64
from largeea.similarity import Similarity

WORD_WEIGHT = 1.0
"""Weight of the overlap of words relative to the cosine of n-grams."""
MAX_WORDS = 24
"""Words of a name that are compared; a longer text is hardly a name."""
MIN_LIKENESS = 0.3
"""Dice coefficient of the n-grams of two words from which they count as spelt alike."""
INITIAL_LIKENESS = 0.5
"""Likeness of a word and its initial."""
SHORTEST_GRAM, LONGEST_GRAM = 2, 3


class Words(NamedTuple):
    """The words of names, in CSR form: `ids[pointer[i] : pointer[i + 1]]` are those of name i, ascending.

    shares: how often a name has each of its words, relative to the one it has most often, `[words]`.
    weights: inverse document frequency of each word, `[vocabulary]`.
    first: first character of each word, `[vocabulary]`.
    initial: whether a word is a single letter, `[vocabulary]`.
    grams: sorted hash codes of the n-grams of word w, at `gram_pointer[w] : gram_pointer[w + 1]`.
    sketches: 128 bits a word, `[vocabulary, 2]`, of which each n-gram sets one.
    """

    pointer: Int64
    ids: Int32
    shares: Float32
    weights: Float32
    first: CodePoints
    initial: Bool
    gram_pointer: Int64
    grams: UInt64
    sketches: UInt64

    @classmethod
    def cut(cls, names: Strings) -> Words:
        """Cut Latin names into words; a null name has none."""
        lists = pc.split_pattern(_numbers_apart(names), " ")
        words = lists.flatten().dictionary_encode()
        vocabulary = len(words.dictionary)
        sizes = np.asarray(pc.fill_null(pc.list_value_length(lists), 0), np.int64)
        place = np.arange(len(words)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        codes = np.repeat(np.arange(len(names)) * vocabulary, sizes) + np.asarray(words.indices)
        codes, counts = np.unique(codes[place < MAX_WORDS], return_counts=True)
        name, ids = np.divmod(codes, max(vocabulary, 1))
        pointer = np.searchsorted(name, np.arange(len(names) + 1))
        most = np.zeros(len(names), np.int64)
        np.maximum.at(most, name, counts)
        shares = (counts / most[name]).astype(np.float32)
        frequency = np.maximum(np.bincount(ids, minlength=vocabulary), 1)
        weights = np.log1p(len(names) / frequency).astype(np.float32)
        return cls(pointer, ids.astype(np.int32), shares, weights, *_spelling(words.dictionary))


def with_word_overlap(names: Names, source: Strings, target: Strings, by_name: Similarity) -> Similarity:
    """The scores of pairs of names, `[source rows, target rows]`, averaged with the overlap of their words.

    `source` and `target` are the Latin names of all rows. The overlap is the Dice coefficient of the words of
    two names, weighted by inverse document frequency.
    """
    words = Words.cut(pa.concat_arrays([source, target]))
    lexicon = learn_lexicon(names, words.pointer, words.ids, len(words.weights))
    scores = by_name.scores.copy()
    over_rows(_average, by_name.shape[0], by_name.indptr, by_name.indices, scores, words, lexicon)
    return Similarity(by_name.shape, by_name.indptr, by_name.indices, scores, by_name.floor)


def word_overlap_memory(characters: int, source_rows: int, top_k: int) -> int:
    """Bytes that `with_word_overlap` needs at its peak beside its input, for names of so many characters."""
    return 12 * characters + 4 * source_rows * top_k


def _numbers_apart(names: Strings) -> Strings:
    """Names with a space between an initial and the number after it, "c 3" for "c3"."""
    return pc.replace_substring_regex(names, r"\b([a-z])(\d+)\b", r"\1 \2")


def _spelling(vocabulary: Strings) -> tuple[CodePoints, Bool, Int64, UInt64, UInt64]:
    """What `Words` says about each word. Numbers have no n-grams: they match only if they are equal."""
    points, starts = code_points(vocabulary)
    counted = count_block(0, len(vocabulary), vocabulary, SHORTEST_GRAM, LONGEST_GRAM)
    number = np.asarray(pc.match_substring_regex(vocabulary, r"^\d"), bool)
    grams = counted["codes"][~np.repeat(number, counted["sizes"])]
    sizes = np.where(number, 0, counted["sizes"])
    sketches = np.zeros((len(vocabulary), 2), np.uint64)
    half, bit = (grams >> np.uint64(32)) & np.uint64(1), (grams >> np.uint64(33)) & np.uint64(63)
    word = np.repeat(np.arange(len(vocabulary)), sizes)
    np.bitwise_or.at(sketches, (word, half.astype(np.int64)), np.uint64(1) << bit)
    initial = (np.diff(starts) == 1) & ~number
    return points[starts[:-1]], initial, _pointer(sizes), grams, sketches


def _pointer(sizes: Int64) -> Int64:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


@njit(cache=True, nogil=True)
def _average(
    first: int, last: int, indptr: Int64, indices: Int32, scores: Float32, words: Words, lexicon: Lexicon
) -> None:
    """Average the scores of the rows `first:last` with the overlap of words, in place."""
    ours, theirs = np.empty(MAX_WORDS, np.int64), np.empty(MAX_WORDS, np.int64)
    sources = len(indptr) - 1
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            overlap = _overlap(row, sources + indices[entry], words, lexicon, ours, theirs)
            scores[entry] = (scores[entry] + WORD_WEIGHT * overlap) / (1 + WORD_WEIGHT)


@njit(cache=True, nogil=True)
def _overlap(one: int, other: int, words: Words, lexicon: Lexicon, ours: Int64, theirs: Int64) -> float:
    """Dice coefficient of the words of two names.

    Equal words are matched first, then each other word with the one most like it. `ours` and `theirs` are
    working space: the places of the words that are not equal.
    """
    ids, shares, weights = words.ids, words.shares, words.weights
    i, end_i = words.pointer[one], words.pointer[one + 1]
    j, end_j = words.pointer[other], words.pointer[other + 1]
    common, total = 0.0, 0.0
    left, right = 0, 0
    while i < end_i or j < end_j:
        if j == end_j or (i < end_i and ids[i] < ids[j]):
            ours[left] = i
            total += shares[i] * weights[ids[i]]
            left, i = left + 1, i + 1
        elif i == end_i or ids[j] < ids[i]:
            theirs[right] = j
            total += shares[j] * weights[ids[j]]
            right, j = right + 1, j + 1
        else:
            equal = (shares[i] + shares[j]) * weights[ids[i]]
            common, total = common + equal, total + equal
            i, j = i + 1, j + 1
    for a in range(left):
        best, place = 0.0, -1
        for b in range(right):
            if theirs[b] >= 0:
                likeness = _likeness(ids[ours[a]], ids[theirs[b]], words, lexicon)
                if likeness > best:
                    best, place = likeness, b
        if place >= 0:
            i, j = ours[a], theirs[place]
            common += best * (shares[i] * weights[ids[i]] + shares[j] * weights[ids[j]])
            theirs[place] = -1
    return common / total if total > 0 else 0.0


@njit(cache=True, nogil=True)
def _likeness(one: int, other: int, words: Words, lexicon: Lexicon) -> float:
    """How well a word stands for another, in [0, 1]: by the lexicon, as its initial, or by their n-grams."""
    best = 0.0
    if words.first[one] == words.first[other] and (words.initial[one] or words.initial[other]):
        best = INITIAL_LIKENESS
    for at in range(lexicon.pointer[one], lexicon.pointer[one + 1]):
        if lexicon.others[at] == other:
            best = max(best, lexicon.scores[at])
    grams = words.grams
    i, end_i = words.gram_pointer[one], words.gram_pointer[one + 1]
    j, end_j = words.gram_pointer[other], words.gram_pointer[other + 1]
    half = (end_i - i + end_j - j) / 2
    if most_shared(words.sketches, one, end_i - i, other, end_j - j) < max(MIN_LIKENESS * half, 1):
        return best
    shared = 0
    while i < end_i and j < end_j:
        if grams[i] < grams[j]:
            i += 1
        elif grams[j] < grams[i]:
            j += 1
        else:
            shared, i, j = shared + 1, i + 1, j + 1
    return max(best, shared / half) if shared >= MIN_LIKENESS * half else best
