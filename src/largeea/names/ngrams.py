"""Names as sparse vectors: character n-grams of their words, weighted by TF-IDF.

Ours, because scikit-learn's vectoriser goes through a Python string per n-gram; this takes the n-grams from
one array of code points in compiled code.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp
from numba import njit

from largeea.execution.jobs import row_blocks, run_jobs
from largeea.execution.memory import release_free_memory
from largeea.graph import Arrays, Float32, Float64, Int32, Int64, Strings
from largeea.names.characters import CodePoints, code_points
from largeea.search.sorting import UInt64, sort_range

UInt32 = npt.NDArray[np.uint32]
ROWS_PER_JOB = 1 << 13


def tfidf(
    source: Strings, target: Strings, shortest: int = 2, longest: int = 4
) -> tuple[sp.csr_array, sp.csr_array]:
    """L2-normalised vectors of both sides over one vocabulary; a null name is an empty row.

    An n-gram does not cross a word boundary, but the boundary itself belongs to it, as a space.
    Weight: `(1 + ln tf) * (1 + ln((1 + n) / (1 + df)))`.
    """
    sides = [_counted(names, shortest, longest) for names in (source, target)]
    columns, frequency = _columns([block.pop("codes") for side in sides for block in side])
    release_free_memory()
    idf = 1 + np.log((1 + len(source) + len(target)) / (1 + frequency))
    entries = sum(len(block["counts"]) for block in sides[0])
    return _weighted(sides[0], columns[:entries], idf), _weighted(sides[1], columns[entries:], idf)


def gram_entries(characters: int, shortest: int, longest: int) -> int:
    """About how many entries `tfidf` has for names of so many characters in all."""
    return int(0.87 * (longest - shortest + 1) * characters)


def tfidf_memory(entries: int) -> int:
    """Bytes that `tfidf` needs at its peak for vectors of so many entries in all, the vectors included.

    An entry is a hash (8), a count (4) and a number (4) first, and then a column (4) and a weight (4). The
    table that numbers the n-grams takes about 3 bytes an entry.
    """
    return 19 * entries


def _counted(names: Strings, shortest: int, longest: int) -> list[Arrays]:
    """The n-grams of all names, in blocks as `count_block` gives them.

    The blocks are parts of two large arrays, because memory of many small arrays is not given back.
    """
    blocks = row_blocks(len(names), most=ROWS_PER_JOB)
    characters = pc.sum(pc.utf8_length(names)).as_py() or 0
    room = (characters + 2 * len(names)) * (longest - shortest + 1)
    codes, counts = np.empty(room, np.uint64), np.empty(room, np.float32)
    found: dict[int, Arrays] = {}
    end = 0
    for number, result in run_jobs(count_block, blocks, names, shortest, longest, stored=False):
        part = slice(end, end + len(result["codes"]))
        codes[part], counts[part] = result["codes"], result["counts"]
        found[number] = {"codes": codes[part], "counts": counts[part], "sizes": result["sizes"]}
        end = part.stop
    return [found[number] for number in range(len(blocks))]


def count_block(first: int, last: int, names: Strings, shortest: int, longest: int) -> Arrays:
    """The distinct n-grams of the names `first:last`: hash codes, counts, and how many each name has."""
    points, offsets = code_points(names.slice(first, last - first))
    lengths = np.diff(offsets)
    room = int((lengths + 2).sum()) * (longest - shortest + 1)
    codes, counts = np.empty(room, np.uint64), np.empty(room, np.float32)
    text = np.empty(int(lengths.max(initial=0)) + 2, np.uint32)
    sizes = np.empty(last - first, np.int64)
    found = _count_grams(points, offsets, shortest, longest, text, codes, counts, sizes)
    return {"codes": codes[:found], "counts": counts[:found], "sizes": sizes}


def _columns(codes: list[UInt64]) -> tuple[Int32, Int64]:
    """The column of every n-gram, in the order of hash codes, and how many names have that of each column."""
    numbered = pa.chunked_array([pa.array(block) for block in codes], pa.uint64()).dictionary_encode()
    codes.clear()
    vocabulary = numbered.chunk(0).dictionary.to_numpy() if numbered.num_chunks else np.empty(0, np.uint64)
    column = np.empty(len(vocabulary), np.int32)
    column[np.argsort(vocabulary)] = np.arange(len(vocabulary), dtype=np.int32)
    columns, frequency = np.empty(len(numbered), np.int32), np.zeros(len(vocabulary), np.int64)
    start = 0
    for chunk in numbered.chunks:
        part = columns[start : start + len(chunk)]
        part[:] = column[chunk.indices.to_numpy()]
        frequency += np.bincount(part, minlength=len(vocabulary))
        start += len(chunk)
    return columns, frequency


def _weighted(blocks: list[Arrays], columns: Int32, idf: Float64) -> sp.csr_array:
    """The vectors of one side."""
    pointer = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(block["sizes"] for block in blocks)]))
    weights = np.empty(len(columns), np.float32)
    start = 0
    for block in blocks:
        part = slice(start, start + len(block["counts"]))
        weights[part] = (1 + np.log(block["counts"])) * idf[columns[part]]
        weights[part] /= np.repeat(_lengths(weights[part], block["sizes"]), block["sizes"])
        start = part.stop
    if pointer[-1] <= np.iinfo(np.int32).max:  # else scipy makes the columns as wide as the pointers
        pointer = pointer.astype(np.int32)
    return sp.csr_array((weights, columns, pointer), shape=(len(pointer) - 1, len(idf)))


def _lengths(weights: Float32, sizes: Int64) -> Float32:
    """The Euclidean length of each vector, whose entries follow each other, `[n]`."""
    squares = np.zeros(len(sizes), np.float32)
    filled = np.flatnonzero(sizes)
    squares[filled] = np.add.reduceat(weights * weights, (np.cumsum(sizes) - sizes)[filled])
    return np.maximum(np.sqrt(squares), np.float32(1e-12))


@njit(cache=True, nogil=True)
def _count_grams(
    points: CodePoints,
    offsets: Int64,
    shortest: int,
    longest: int,
    text: UInt32,
    codes: UInt64,
    counts: Float32,
    sizes: Int64,
) -> int:
    """Fill in hash codes and counts of each name's distinct n-grams, and `sizes[names]`; how many in all.

    `text` is working space: a name with a space on either side.
    """
    total = np.int64(0)
    for name in range(len(sizes)):
        length = offsets[name + 1] - offsets[name] + 2
        for at in range(1, length - 1):
            text[at] = points[offsets[name] + at - 1]
        text[0] = text[length - 1] = 32
        found = total
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
        sort_range(codes, total, found)
        first = total
        for at in range(first, found):
            if at > first and codes[at] == codes[total - 1]:
                counts[total - 1] += 1
            else:
                codes[total], counts[total] = codes[at], 1
                total += 1
        sizes[name] = total - first
    return int(total)
