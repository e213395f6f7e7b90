"""Names as sparse vectors: character n-grams of their words, weighted by TF-IDF.

Ours, because scikit-learn's vectoriser goes through a Python string per n-gram; this takes the n-grams from
one array of code points in compiled code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.sparse as sp
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.execution.memory import release_free_memory
from largeea.graph import Float32, Float64, Int32, Int64, Strings, UInt64
from largeea.names.characters import CodePoints, code_points
from largeea.names.numbering import number_codes
from largeea.search.sorting import sort_range

UInt16 = npt.NDArray[np.uint16]


class Grams(NamedTuple):
    """The distinct n-grams of names; those of name i are `codes[starts[i] : starts[i] + sizes[i]]`.

    codes: hash codes, ascending for each name; between names there is unused space.
    counts: how often a name has each, likewise.
    """

    codes: UInt64
    counts: UInt16
    starts: Int64
    sizes: Int64


def tfidf(
    source: Strings, target: Strings, shortest: int = 2, longest: int = 4
) -> tuple[sp.csr_array, sp.csr_array]:
    """L2-normalised vectors of both sides over one vocabulary; a null name is an empty row.

    An n-gram does not cross a word boundary, but the boundary itself belongs to it, as a space.
    Weight: `(1 + ln tf) * (1 + ln((1 + n) / (1 + df)))`.
    """
    names = pa.concat_arrays([source, target])
    grams = count_grams(*code_points(names), shortest, longest)
    pointer = np.concatenate([np.zeros(1, np.int64), np.cumsum(grams.sizes)])
    columns, numbering = number_codes(grams.codes, grams.starts, pointer)
    counts, starts = grams.counts, grams.starts
    del grams
    release_free_memory()
    idf = 1 + np.log((1 + len(names)) / (1 + numbering.frequency))
    weights = np.empty(len(columns), np.float32)
    over_rows(_weigh, len(names), counts, starts, pointer, numbering.number_of, idf, columns, weights)
    cut = pointer[len(source)]
    ours = _vectors(weights[:cut], columns[:cut], pointer[: len(source) + 1], len(idf))
    return ours, _vectors(weights[cut:], columns[cut:], pointer[len(source) :] - cut, len(idf))


def gram_entries(characters: int, shortest: int, longest: int) -> int:
    """About how many entries `tfidf` has for names of so many characters in all."""
    return int(0.87 * (longest - shortest + 1) * characters)


def tfidf_memory(entries: int) -> int:
    """Bytes that `tfidf` needs at its peak for vectors of so many entries in all, the vectors included.

    An entry is a hash (8) and a count (2) first, with a quarter of unused space, then a column (4) and a
    weight (4). The tables that number the n-grams take about 3 bytes an entry.
    """
    return 20 * entries


def count_grams(points: CodePoints, offsets: Int64, shortest: int, longest: int) -> Grams:
    """The n-grams of names, given their code points and where each name starts."""
    names = len(offsets) - 1
    starts = (offsets + 2 * np.arange(names + 1)) * (longest - shortest + 1)
    codes, counts = np.empty(starts[-1], np.uint64), np.empty(starts[-1], np.uint16)
    grams = Grams(codes, counts, starts[:-1], np.empty(names, np.int64))
    over_rows(_count_grams, names, points, offsets, shortest, longest, grams)
    return grams


def _vectors(weights: Float32, columns: Int32, pointer: Int64, vocabulary: int) -> sp.csr_array:
    if pointer[-1] <= np.iinfo(np.int32).max:  # else scipy makes the columns as wide as the pointers
        pointer = pointer.astype(np.int32)
    return sp.csr_array((weights, columns, pointer), shape=(len(pointer) - 1, vocabulary))


@njit(cache=True, nogil=True)
def _weigh(
    first: int,
    last: int,
    counts: UInt16,
    starts: Int64,
    pointer: Int64,
    number_of: Int32,
    idf: Float64,
    columns: Int32,
    weights: Float32,
) -> None:
    """Write the final columns and the weights of the rows `first:last`; each row gets length 1."""
    for row in range(first, last):
        squares = 0.0
        shift = starts[row] - pointer[row]
        for at in range(pointer[row], pointer[row + 1]):
            columns[at] = number_of[columns[at]]
            weight = idf[columns[at]]
            if counts[at + shift] > 1:
                weight *= 1 + np.log(counts[at + shift])
            weights[at] = weight
            squares += weight * weight
        for at in range(pointer[row], pointer[row + 1]):
            weights[at] /= np.sqrt(squares)


@njit(cache=True, nogil=True)
def _count_grams(
    first: int, last: int, points: CodePoints, offsets: Int64, shortest: int, longest: int, grams: Grams
) -> None:
    """Fill in the n-grams of the names `first:last`."""
    codes, counts, starts, sizes = grams
    text = np.empty(1024, np.uint32)
    for name in range(first, last):
        length = offsets[name + 1] - offsets[name] + 2
        if length > len(text):
            text = np.empty(2 * length, np.uint32)
        for at in range(1, length - 1):
            text[at] = points[offsets[name] + at - 1]
        text[0] = text[length - 1] = 32
        found = starts[name]
        for start in range(length):
            code, blank = np.uint64(1), True
            for end in range(start, min(start + longest, length)):
                code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(text[end])
                blank = blank and text[end] == 32
                if end - start + 1 >= shortest and not blank:
                    codes[found] = code
                    found += 1
                if end > start and text[end] == 32:
                    break
        sort_range(codes, starts[name], found)
        total = starts[name]
        for at in range(starts[name], found):
            if at > starts[name] and codes[at] == codes[total - 1]:
                counts[total - 1] = min(counts[total - 1] + 1, 65535)
            else:
                codes[total], counts[total] = codes[at], 1
                total += 1
        sizes[name] = total - starts[name]
