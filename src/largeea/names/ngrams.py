"""Names as sparse vectors: character n-grams of their words, weighted by TF-IDF.

Ours, because scikit-learn's vectoriser goes through a Python string per n-gram; this takes the n-grams from
one array of code points in compiled code.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from largeea.compiled import compiled
from largeea.graph import Int64, Strings
from largeea.names.characters import CodePoints, code_points
from largeea.sparse import sp

Codes = npt.NDArray[np.uint64]


def tfidf(
    source: Strings, target: Strings, shortest: int = 2, longest: int = 4
) -> tuple[sp.csr_array, sp.csr_array]:
    """L2-normalised vectors of both sides over one vocabulary; a null name is an empty row.

    An n-gram does not cross a word boundary, but the boundary itself belongs to it, as a space.
    Weight: `(1 + ln tf) * (1 + ln((1 + n) / (1 + df)))`.
    """
    sides = [_count_grams(*code_points(names), shortest, longest) for names in (source, target)]
    vocabulary, places = np.unique(np.concatenate([codes for codes, _, _ in sides]), return_inverse=True)
    documents = len(source) + len(target)
    idf = 1 + np.log((1 + documents) / (1 + np.bincount(places, minlength=len(vocabulary))))
    vectors, start = [], 0
    for codes, counts, indptr in sides:
        columns = places[start : start + len(codes)]
        start += len(codes)
        weights = ((1 + np.log(counts)) * idf[columns]).astype(np.float32)
        matrix = sp.csr_array((weights, columns, indptr), shape=(len(indptr) - 1, len(vocabulary)))
        norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
        matrix.data /= np.repeat(np.maximum(norms, 1e-12), np.diff(indptr)).astype(np.float32)
        vectors.append(matrix)
    return vectors[0], vectors[1]


@compiled()
def _count_grams(
    points: CodePoints, offsets: Int64, shortest: int, longest: int
) -> tuple[Codes, npt.NDArray[np.float32], Int64]:
    """Distinct n-grams of each name as hash codes, how often each occurs, and row pointers."""
    names = len(offsets) - 1
    sizes = longest - shortest + 1
    room = 0
    for i in range(names):
        room += (offsets[i + 1] - offsets[i] + 2) * sizes
    codes = np.empty(room, np.uint64)
    counts = np.empty(room, np.float32)
    indptr = np.zeros(names + 1, np.int64)
    n = 0
    for i in range(names):
        first, length = offsets[i], offsets[i + 1] - offsets[i]
        text = np.full(length + 2, 32, np.uint32)
        text[1:-1] = points[first : first + length]
        grams = np.empty(len(text) * sizes, np.uint64)
        found = 0
        for start in range(len(text)):
            code, blank = np.uint64(1), True
            for end in range(start, min(start + longest, len(text))):
                code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(text[end])
                blank = blank and text[end] == 32
                if end - start + 1 >= shortest and not blank:
                    grams[found] = code
                    found += 1
                if end > start and text[end] == 32:
                    break
        if length:
            grams = np.sort(grams[:found])
            for g in range(found):
                if g and grams[g] == grams[g - 1]:
                    counts[n - 1] += 1
                else:
                    codes[n], counts[n] = grams[g], 1
                    n += 1
        indptr[i + 1] = n
    return codes[:n].copy(), counts[:n].copy(), indptr
