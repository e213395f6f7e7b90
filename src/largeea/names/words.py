"""Names compared word by word: a rare word that differs counts for more than a common one.

Words match if they are equal, if they are spelt alike (grey, gray), if one is the initial of the other, or if
they replace each other in names of the same entity (kidney, renal).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit

from largeea.execution.jobs import in_order, over_rows, row_blocks, run_jobs
from largeea.execution.prefetch import prefetch
from largeea.execution.shards import Shards
from largeea.graph import Arrays, Float32, Int32, Int64, Strings
from largeea.names.blocks import ROWS_PER_JOB
from largeea.names.cutting import GRAM_BITS, LETTER_BITS, LETTER_MASK, MAX_WORDS, MOST_GRAMS, Words
from largeea.names.lexicon import Lexicon, learn_lexicon
from largeea.names.rows import Names
from largeea.names.strings.matching import ones
from largeea.similarity import Similarity

WORD_WEIGHT = 1.0
"""Weight of the overlap of words relative to the cosine of n-grams."""
MIN_LIKENESS = 0.3
"""Dice coefficient of the n-grams of two words from which they count as spelt alike."""
INITIAL_LIKENESS = 0.5
"""Likeness of a word and its initial."""
AHEAD = 8
"""Candidates between the one whose words are asked for and the one that is copied."""


def with_word_overlap(names: Names, source: Strings, target: Strings, by_name: Similarity) -> Similarity:
    """The scores of pairs of names, `[source rows, target rows]`, averaged with the overlap of their words.

    `source` and `target` are the Latin names of all rows. The overlap is the Dice coefficient of the words of
    two names, weighted by inverse document frequency.
    """
    blocks = row_blocks(by_name.shape[0], most=ROWS_PER_JOB)
    rows = Shards(tuple(by_name.block(first, last) for first, last in blocks))
    shared = rows, len(source), *compared_words(names, source, target)
    parts = in_order(run_jobs(overlap_block, blocks, *shared, stored=False))
    scores = np.concatenate([part["scores"] for part in parts]) if parts else by_name.scores
    return Similarity(by_name.shape, by_name.indptr, by_name.indices, scores, by_name.floor)


def overlap_block(
    first: int, last: int, by_name: Similarity, sources: int, words: Words, lexicon: Lexicon
) -> Arrays:
    """The scores of the names `first:last`, which are given, averaged with the overlap of their words."""
    rows = np.arange(first, last, dtype=np.int32)
    return {"scores": averaged_with_words(by_name, rows, sources, words, lexicon).scores}


def compared_words(names: Names, source: Strings, target: Strings) -> tuple[Words, Lexicon]:
    """The words of the Latin names of all rows, and which of them replace each other."""
    words = Words.cut(pa.concat_arrays([source, target]))
    return words, learn_lexicon(names, words.pointer, words.ids, len(words.weights))


def averaged_with_words(
    by_name: Similarity, rows: Int32, sources: int, words: Words, lexicon: Lexicon
) -> Similarity:
    """`with_word_overlap` for the rows of some of the names, of so many `sources` in all."""
    scores = np.empty_like(by_name.scores)
    over_rows(
        _average, len(rows), rows, by_name.indptr, by_name.indices, by_name.scores, sources, words, lexicon,
        scores,
    )  # fmt: skip
    return Similarity(by_name.shape, by_name.indptr, by_name.indices, scores, by_name.floor)


def word_overlap_memory(characters: int, source_rows: int, top_k: int) -> int:
    """Bytes that `with_word_overlap` needs at its peak beside its input, for names of so many characters."""
    return 16 * characters + 4 * source_rows * top_k


@njit(cache=True, nogil=True)
def _average(
    first: int,
    last: int,
    names: Int32,
    indptr: Int64,
    indices: Int32,
    by_grams: Float32,
    sources: int,
    words: Words,
    lexicon: Lexicon,
    scores: Float32,
) -> None:
    """Write the scores of the rows `first:last` by n-grams, averaged with the overlap of words.

    Row i is of the name `names[i]`; targets are numbered from `sources` on.
    """
    unlike, others_unlike = np.empty(MAX_WORDS, np.int64), np.empty(MAX_WORDS, np.int64)
    most = np.int64(1)
    for row in range(first, last):
        most = max(most, indptr[row + 1] - indptr[row] + 1)
    pointer = np.empty(most + 1, np.int64)
    ids, weights = np.empty(most * MAX_WORDS, np.int32), np.empty(most * MAX_WORDS, np.float32)
    for row in range(first, last):
        others = indices[indptr[row] : indptr[row + 1]]
        if not len(others):
            continue
        _gather(names[row], others, sources, words, pointer, ids, weights)
        for place in range(len(others)):
            i, j, end_j = np.int64(0), pointer[place + 1], pointer[place + 2]
            common, total = 0.0, 0.0
            left, right = 0, 0
            while i < pointer[1] or j < end_j:
                if j == end_j or (i < pointer[1] and ids[i] < ids[j]):
                    unlike[left] = i
                    total += weights[i]
                    left, i = left + 1, i + 1
                elif i == pointer[1] or ids[j] < ids[i]:
                    others_unlike[right] = j
                    total += weights[j]
                    right, j = right + 1, j + 1
                else:
                    common += weights[i] + weights[j]
                    total += weights[i] + weights[j]
                    i, j = i + 1, j + 1
            for a in range(left):
                i = unlike[a]
                best, match = 0.0, -1
                for b in range(right):
                    if others_unlike[b] >= 0:
                        likeness = _likeness(ids[i], ids[others_unlike[b]], words, lexicon)
                        if likeness > best:
                            best, match = likeness, b
                if match >= 0:
                    common += best * (weights[i] + weights[others_unlike[match]])
                    others_unlike[match] = -1
            overlap = common / total if total > 0 else 0.0
            entry = indptr[row] + place
            scores[entry] = (by_grams[entry] + WORD_WEIGHT * overlap) / (1 + WORD_WEIGHT)


@njit(cache=True, nogil=True, inline="always")
def _gather(
    row: int, others: Int32, sources: int, words: Words, pointer: Int64, ids: Int32, weights: Float32
) -> None:
    """Copy the words of a row and of its candidates side by side, so that memory is read ahead.

    The words of the row come first. `weights` are shares times inverse document frequency.
    """
    pointer[0], pointer[1] = 0, words.pointer[row + 1] - words.pointer[row]
    last = len(others) - 1
    for place in range(len(others)):
        prefetch(words.pointer, sources + others[min(place + AHEAD, last)])
        name = sources + others[place]
        pointer[place + 2] = words.pointer[name + 1] - words.pointer[name]
    for place in range(len(others) + 1):
        later = words.pointer[sources + others[min(place + AHEAD, last)]]
        prefetch(words.ids, later)
        prefetch(words.shares, later)
        pointer[place + 1] += pointer[place]
        start = words.pointer[row if place == 0 else sources + others[place - 1]] - pointer[place]
        for at in range(pointer[place], pointer[place + 1]):
            ids[at] = words.ids[start + at]
            weights[at] = words.shares[start + at]
    end = pointer[len(others) + 1]
    for at in range(end):
        prefetch(words.weights, ids[min(at + AHEAD, end - 1)])
        prefetch(words.spelling, ids[min(at + AHEAD, end - 1)])
        weights[at] *= words.weights[ids[at]]


@njit(cache=True, nogil=True, inline="always")
def _likeness(one: int, other: int, words: Words, lexicon: Lexicon) -> float:
    """How well a word stands for another, in [0, 1]: by the lexicon, as its initial, or by their n-grams."""
    spelling, grams = words.spelling, words.grams
    best = 0.0
    for at in range(lexicon.pointer[one], lexicon.pointer[one + 1]):
        if lexicon.others[at] == other:
            best = lexicon.scores[at]
    letter, other_letter = spelling[one, 3], spelling[other, 3]
    difference = (letter ^ other_letter) & np.uint64(LETTER_MASK)
    if difference <= np.uint64(1) and (letter | other_letter) & np.uint64(1):
        best = max(best, INITIAL_LIKENESS)
    size_i = np.int64(spelling[one, 2] & np.uint64(MOST_GRAMS))
    size_j = np.int64(spelling[other, 2] & np.uint64(MOST_GRAMS))
    half = (size_i + size_j) / 2
    hidden = min(letter >> np.uint64(LETTER_BITS), other_letter >> np.uint64(LETTER_BITS))
    most = np.int64(hidden) + ones(spelling[one, 0] & spelling[other, 0])
    most += ones(spelling[one, 1] & spelling[other, 1])
    if most >= max(MIN_LIKENESS * half, 1):
        i = np.int64(spelling[one, 2] >> np.uint64(GRAM_BITS))
        j = np.int64(spelling[other, 2] >> np.uint64(GRAM_BITS))
        end_i, end_j = i + size_i, j + size_j
        shared = 0
        while i < end_i and j < end_j:
            if grams[i] < grams[j]:
                i += 1
            elif grams[j] < grams[i]:
                j += 1
            else:
                shared, i, j = shared + 1, i + 1, j + 1
        if shared >= MIN_LIKENESS * half:
            best = max(best, shared / half)
    return best
