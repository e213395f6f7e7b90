"""The words in which main names differ, and what reviewed pairs teach about them.

Who calls "iliac vein" and "iliac artery" different things has said something about all pairs that differ in
one of these words, and most about those that differ in just these two, on the same sides; who confirms
"larynx mucosa" and "laryngeal mucosa", too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit
from scipy.sparse import csr_matrix, hstack

from largeea.execution.jobs import over_rows
from largeea.graph import Arrays, Float32, Float64, Int32, Int64
from largeea.matching.lessons import learn_shifts
from largeea.names.cutting import MAX_WORDS, Words
from largeea.names.rows import Columns, Names
from largeea.similarity import Similarity


class MainWords(NamedTuple):
    """Words of main names, in CSR form: `ids[pointer[i] : pointer[i + 1]]`, ascending; those of source i, or
    of target `i - sources`."""

    pointer: Int64
    ids: Int32
    sources: int

    @classmethod
    def of(cls, rows: Columns) -> tuple[MainWords, int]:
        """The words of all main names, and how many different ones there are."""
        names = Names.from_columns(rows)
        mains = [side.latin.slice(0, side.size) for side in (names.source, names.target)]
        words = Words.cut(pa.concat_arrays(mains))
        return cls(words.pointer, words.ids, names.source.size), len(words.weights)


class Differences(NamedTuple):
    """In what the names of some pairs differ."""

    words: Int32
    """The words that only one name of a pair has, those of all pairs, ascending, `[w]`."""
    wholes: Int64
    """Codes of all that the names of a pair differ in, those of all pairs, ascending, `[d]`."""
    features: csr_matrix
    """Ones where the names of a pair differ in a word or a whole, `[pairs, w + d]`."""

    @classmethod
    def of(cls, pairs: Int32, words: MainWords) -> Differences:
        """From the sources and targets of pairs, int32 `[pairs, 2]`."""
        ids, pointer = np.empty(2 * MAX_WORDS * len(pairs), np.int32), np.zeros(len(pairs) + 1, np.int64)
        codes = np.zeros(len(pairs), np.int64)
        _differences(pairs, words, ids, pointer, codes)
        known, columns = np.unique(ids[: pointer[-1]], return_inverse=True)
        differing = np.flatnonzero(np.diff(pointer))
        wholes, places = np.unique(codes[differing], return_inverse=True)
        by_word = csr_matrix((np.ones(len(columns)), columns, pointer), (len(pairs), len(known)))
        by_whole = csr_matrix((np.ones(len(places)), (differing, places)), (len(pairs), len(wholes)))
        return cls(known, wholes, hstack([by_word, by_whole], "csr"))


def learn_from_reviews(rows: Columns, calibration: Arrays, seed: int) -> Arrays:
    """What differing names add to the log odds of a pair.

    `shifts[words]` are those of words that only one name has, `whole_shifts` those of all that two names
    differ in, whose codes are the `wholes`. `calibration` holds the reviewed pairs, whether they are right,
    and their log odds by all else. Where there were too few pairs to calibrate confidence, nothing is learnt.
    """
    words, vocabulary = MainWords.of(rows)
    shifts = np.zeros(vocabulary)
    if "reviewed" not in calibration:
        return {"shifts": shifts, "wholes": np.empty(0, np.int64), "whole_shifts": np.empty(0)}
    found = Differences.of(calibration["reviewed"], words)
    learnt = learn_shifts(found.features, calibration["right"], calibration["log_odds"], seed)
    shifts[found.words] = learnt[: len(found.words)]
    return {"shifts": shifts, "wholes": found.wholes, "whole_shifts": learnt[len(found.words) :]}


def teach_something(lessons: Arrays) -> bool:
    """Whether any difference of names shifts log odds."""
    return bool(lessons["shifts"].any() or lessons["whole_shifts"].any())


def shift_by_words(chances: Similarity, rows: Columns, lessons: Arrays) -> Similarity:
    """The probabilities, with the log odds of each pair shifted by what its names differ in."""
    if not teach_something(lessons):
        return chances
    shifted = np.empty(len(chances), np.float32)
    over_rows(
        _shift, chances.shape[0], chances.indptr, chances.indices, chances.scores, MainWords.of(rows)[0],
        lessons["shifts"], lessons["wholes"], lessons["whole_shifts"], shifted,
    )  # fmt: skip
    return Similarity(chances.shape, chances.indptr, chances.indices, shifted)


@njit(cache=True, nogil=True)
def _differences(pairs: Int32, words: MainWords, ids: Int32, pointer: Int64, codes: Int64) -> None:
    """Write the words in which the names of each pair differ, in CSR form, and the code of all of them."""
    for pair in range(len(pairs)):
        found = ids[pointer[pair] :]
        count, codes[pair] = _differing(pairs[pair, 0], pairs[pair, 1], words, found)
        pointer[pair + 1] = pointer[pair] + count


@njit(cache=True, nogil=True)
def _shift(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    chances: Float32,
    words: MainWords,
    shifts: Float64,
    wholes: Int64,
    whole_shifts: Float64,
    shifted: Float32,
) -> None:
    """Write the shifted probabilities of the rows `first:last`."""
    found = np.empty(2 * MAX_WORDS, np.int32)
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            count, code = _differing(row, indices[entry], words, found)
            place = np.searchsorted(wholes, code)
            shift = whole_shifts[place] if place < len(wholes) and wholes[place] == code else 0.0
            for at in range(count):
                shift += shifts[found[at]]
            odds = chances[entry] * np.exp(shift)
            shifted[entry] = odds / (1 - chances[entry] + odds)


@njit(cache=True, nogil=True)
def _differing(source: int, target: int, words: MainWords, found: Int32) -> tuple[int, np.int64]:
    """Write the words that only one of two names has, and count them; none if one has no words.

    The second number is a code of these words and of the sides that have them, 0 without any.
    """
    i, end_i = words.pointer[source], words.pointer[source + 1]
    j, end_j = words.pointer[words.sources + target], words.pointer[words.sources + target + 1]
    count, code = 0, np.uint64(0)
    if i == end_i or j == end_j:
        return count, np.int64(code)
    while i < end_i or j < end_j:
        if j == end_j or (i < end_i and words.ids[i] < words.ids[j]):
            found[count], side, i = words.ids[i], 1, i + 1
        elif i == end_i or words.ids[j] < words.ids[i]:
            found[count], side, j = words.ids[j], 2, j + 1
        else:
            i, j = i + 1, j + 1
            continue
        code = (code ^ np.uint64(3 * found[count] + side)) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
        count += 1
    return count, np.int64(code)
