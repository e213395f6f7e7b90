"""The words in which main names differ, and what reviewed pairs teach about them.

Who calls "iliac vein" and "iliac artery" different things has said something about all pairs that differ in
these words; who confirms "larynx mucosa" and "laryngeal mucosa", too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numba import njit
from scipy.sparse import csr_matrix

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


def learn_from_reviews(rows: Columns, calibration: Arrays, seed: int) -> Arrays:
    """What each word adds to the log odds of a pair if only one of its names has it: `shifts`, `[words]`.

    `calibration` holds the reviewed pairs, whether they are right, and their log odds by all else. Where
    there were too few pairs to calibrate confidence, nothing is learnt.
    """
    words, vocabulary = MainWords.of(rows)
    if "reviewed" not in calibration:
        return {"shifts": np.zeros(vocabulary)}
    pairs = calibration["reviewed"]
    ids, pointer = np.empty(2 * MAX_WORDS * len(pairs), np.int32), np.zeros(len(pairs) + 1, np.int64)
    _differences(pairs, words, ids, pointer)
    known, columns = np.unique(ids[: pointer[-1]], return_inverse=True)
    features = csr_matrix((np.ones(len(columns)), columns, pointer), (len(pairs), len(known)))
    shifts = np.zeros(vocabulary)
    shifts[known] = learn_shifts(features, calibration["right"], calibration["log_odds"], seed)
    return {"shifts": shifts}


def shift_by_words(chances: Similarity, rows: Columns, lessons: Arrays) -> Similarity:
    """The probabilities, with the log odds of each pair shifted by the words in which its names differ."""
    shifts = lessons["shifts"]
    if not shifts.any():
        return chances
    shifted = np.empty(len(chances), np.float32)
    over_rows(
        _shift, chances.shape[0], chances.indptr, chances.indices, chances.scores, MainWords.of(rows)[0],
        shifts, shifted,
    )  # fmt: skip
    return Similarity(chances.shape, chances.indptr, chances.indices, shifted)


@njit(cache=True, nogil=True)
def _differences(pairs: Int32, words: MainWords, ids: Int32, pointer: Int64) -> None:
    """Write the words in which the names of each pair differ, in CSR form."""
    for pair in range(len(pairs)):
        count = _differing(pairs[pair, 0], pairs[pair, 1], words, ids[pointer[pair] :])
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
    shifted: Float32,
) -> None:
    """Write the shifted probabilities of the rows `first:last`."""
    found = np.empty(2 * MAX_WORDS, np.int32)
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            shift = 0.0
            for at in range(_differing(row, indices[entry], words, found)):
                shift += shifts[found[at]]
            odds = chances[entry] * np.exp(shift)
            shifted[entry] = odds / (1 - chances[entry] + odds)


@njit(cache=True, nogil=True)
def _differing(source: int, target: int, words: MainWords, found: Int32) -> int:
    """Write the words that only one of two names has, and count them; none if one has no words."""
    i, end_i = words.pointer[source], words.pointer[source + 1]
    j, end_j = words.pointer[words.sources + target], words.pointer[words.sources + target + 1]
    if i == end_i or j == end_j:
        return 0
    count = 0
    while i < end_i or j < end_j:
        if j == end_j or (i < end_i and words.ids[i] < words.ids[j]):
            found[count], count, i = words.ids[i], count + 1, i + 1
        elif i == end_i or words.ids[j] < words.ids[i]:
            found[count], count, j = words.ids[j], count + 1, j + 1
        else:
            i, j = i + 1, j + 1
    return count
