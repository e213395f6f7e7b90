"""Compiled loops that check, look up and copy the entries of CSR rows `first:last`, for `over_rows`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from largeea.graph import Bool, Float32, Int8, Int32, Int64, UInt32

LONGEST_TO_INSERT = 64
"""Longer rows are not sorted by insertion."""
NOWHERE = np.int8(-128)
"""Label of rows of which nothing is kept."""


@njit(cache=True, nogil=True)
def check_rows(
    first: int, last: int, indptr: Int64, indices: Int32, scores: Float32, targets: int, floor: np.float32
) -> tuple[bool, bool, bool]:
    """Return whether the targets of each row strictly ascend in [0, targets), whether no score is below the
    floor or NaN, and whether no score is infinite."""
    highest = np.float32(np.finfo(np.float32).max)
    columns, values = indices[indptr[first] : indptr[last]], scores[indptr[first] : indptr[last]]
    descents, at_or_above, infinite = 0, 0, 0
    for entry in range(1, len(columns)):
        descents += columns[entry] <= columns[entry - 1]
    for entry in range(len(values)):
        at_or_above += values[entry] >= floor
        infinite += values[entry] > highest
    ascending = True
    for row in range(first, last):
        start, end = indptr[row], indptr[row + 1]
        if end > start:
            ascending &= indices[start] >= 0 and indices[end - 1] < targets
            if start > indptr[first]:  # between two rows, targets may descend
                descents -= indices[start] <= indices[start - 1]
    return ascending and descents == 0, at_or_above == len(values), infinite == 0


@njit(cache=True, nogil=True)
def fill_rows(first: int, last: int, indptr: Int64, rows: Int32) -> None:
    """Write the row of each entry."""
    for row in range(first, last):
        rows[indptr[row] : indptr[row + 1]] = row


@njit(cache=True, nogil=True)
def look_up_pairs(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    floor: np.float32,
    rows: Int32,
    columns: Int32,
    found: Float32,
) -> None:
    """Write the score of each of the pairs `first:last`; the floor for absent entries."""
    for pair in range(first, last):
        start, end = indptr[rows[pair]], indptr[rows[pair] + 1]
        place = start + np.searchsorted(indices[start:end], columns[pair])
        there = place < end and indices[place] == columns[pair]
        found[pair] = scores[place] if there else floor


@njit(cache=True, nogil=True)
def look_up_rows(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    floor: np.float32,
    indptr_wanted: Int64,
    indices_wanted: Int32,
    found: Float32,
) -> None:
    """Write to `found` the score of each wanted entry, or the floor where the matrix lacks it."""
    for row in range(first, last):
        at, end = indptr[row], indptr[row + 1]
        for wanted in range(indptr_wanted[row], indptr_wanted[row + 1]):
            while at < end and indices[at] < indices_wanted[wanted]:
                at += 1
            is_kept = at < end and indices[at] == indices_wanted[wanted]
            found[wanted] = scores[at] if is_kept else floor


@njit(cache=True, nogil=True)
def count_equal(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    sources: Int8,
    targets: Int8,
    counts: Int64,
) -> None:
    """Write how many entries of each row have equal labels `sources[row]` and `targets[column]`.

    A row with the label `NOWHERE` has none.
    """
    for row in range(first, last):
        label, count = sources[row], 0
        if label != NOWHERE:
            for entry in range(indptr[row], indptr[row + 1]):
                count += targets[np.uint32(indices[entry])] == label
        counts[row] = count


@njit(cache=True, nogil=True)
def copy_equal(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    sources: Int8,
    targets: Int8,
    pointers: Int64,
    ids: Int32,
    kept: Float32,
) -> None:
    """Write the entries that `count_equal` counts, given their row pointers."""
    for row in range(first, last):
        place, end = pointers[row], pointers[row + 1]
        entry = indptr[row]
        while place < end:
            ids[place], kept[place] = indices[entry], scores[entry]
            place += targets[np.uint32(indices[entry])] == sources[row]
            entry += 1


@njit(cache=True, nogil=True)
def count_marked(first: int, last: int, indptr: Int64, mask: Bool, counts: Int64) -> None:
    """Write how many entries of each row are in the mask `[entries]`."""
    for row in range(first, last):
        count = 0
        for entry in range(indptr[row], indptr[row + 1]):
            count += mask[entry]
        counts[row] = count


@njit(cache=True, nogil=True)
def copy_marked(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    mask: Bool,
    pointers: Int64,
    ids: Int32,
    kept: Float32,
) -> None:
    """Write the entries in the mask, given their row pointers."""
    for row in range(first, last):
        place = pointers[row]
        for entry in range(indptr[row], indptr[row + 1]):
            if mask[entry]:
                ids[place], kept[place] = indices[entry], scores[entry]
                place += 1


@njit(cache=True, nogil=True)
def count_candidates(first: int, last: int, ids: Int32, counts: Int64) -> None:
    """Write how many candidates each row of `ids[n, k]`, padded with -1, has."""
    for row in range(first, last):
        count = 0
        for rank in range(ids.shape[1]):
            count += ids[row, rank] >= 0
        counts[row] = count


@njit(cache=True, nogil=True)
def rows_by_id(
    first: int, last: int, ids: Int32, scores: UInt32, indptr: Int64, indices: Int32, by_id: UInt32
) -> None:
    """Write the candidates of each row, `ids[n, k]` padded with -1, to CSR arrays, ascending by id.

    Scores are the bits of numbers: they are moved along with their ids, as one number of 64 bits.
    """
    keys = np.empty(ids.shape[1], np.uint64)
    for row in range(first, last):
        count = 0
        for rank in range(ids.shape[1]):
            if ids[row, rank] >= 0:
                keys[count] = np.uint64(ids[row, rank]) << np.uint64(32) | np.uint64(scores[row, rank])
                count += 1
        _sort(keys[:count])
        start = indptr[row]
        for place in range(count):
            indices[start + place], by_id[start + place] = keys[place] >> np.uint64(32), keys[place]


@njit(cache=True, nogil=True)
def _sort(keys: npt.NDArray[np.uint64]) -> None:
    """Sort a few numbers in place."""
    if len(keys) > LONGEST_TO_INSERT:
        keys.sort()
        return
    for end in range(1, len(keys)):
        key, place = keys[end], end
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key


@njit(cache=True, nogil=True)
def group_by_row(
    rows: Int32, columns: Int32, scores: Float32, indptr: Int64, indices: Int32, grouped: Float32
) -> None:
    """Write entries in any order to CSR arrays; those of a row stay in their order."""
    place = indptr[:-1].copy()
    for entry in range(len(rows)):
        at = place[rows[entry]]
        indices[at], grouped[at] = columns[entry], scores[entry]
        place[rows[entry]] = at + 1


@njit(cache=True, nogil=True)
def sort_rows(first: int, last: int, indptr: Int64, indices: Int32, scores: Float32, counts: Int64) -> None:
    """Sort each row by column in place. Of equal columns, the one with the highest score is kept.

    Writes how many entries are kept, which come first in their row.
    """
    for row in range(first, last):
        start, end = indptr[row], indptr[row + 1]
        if end - start > LONGEST_TO_INSERT:
            order = np.argsort(indices[start:end], kind="mergesort")
            indices[start:end], scores[start:end] = indices[start:end][order], scores[start:end][order]
        kept = start
        for entry in range(start, end):
            column, score = indices[entry], scores[entry]
            place = kept
            while place > start and indices[place - 1] > column:
                place -= 1
            if place > start and indices[place - 1] == column:
                scores[place - 1] = max(score, scores[place - 1])
                continue
            for other in range(kept, place, -1):
                indices[other], scores[other] = indices[other - 1], scores[other - 1]
            indices[place], scores[place] = column, score
            kept += 1
        counts[row] = kept - start


@njit(cache=True, nogil=True)
def close_up(
    first: int,
    last: int,
    starts: Int64,
    indices: Int32,
    scores: Float32,
    pointers: Int64,
    ids: Int32,
    kept: Float32,
) -> None:
    """Copy the first entries of each row, which begins at `starts[row]`, to CSR arrays without gaps."""
    for row in range(first, last):
        start, place = starts[row], pointers[row]
        for entry in range(pointers[row + 1] - place):
            ids[place + entry], kept[place + entry] = indices[start + entry], scores[start + entry]


@njit(cache=True, nogil=True)
def scale_locally(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    by_source: Float32,
    by_target: Float32,
    scaled: Float32,
) -> None:
    """Write `2 score - by_source[row] - by_target[column]` of each entry."""
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            scaled[entry] = (
                np.float32(2) * scores[entry] - by_source[row] - by_target[np.uint32(indices[entry])]
            )
