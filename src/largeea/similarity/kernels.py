"""Compiled loops over the rows of a sparse matrix. Among equal scores, the smaller id ranks first."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Bool, Float32, Int32, Int64


@njit(cache=True, nogil=True)
def fill_best_first(indptr: Int64, indices: Int32, scores: Float32, ids: Int32, best: Float32) -> None:
    """Write the ids and scores of each row's top k, best first, to `ids[rows, k]` and `best[rows, k]`."""
    chosen = np.empty(ids.shape[1], np.int64)
    for row in range(len(ids)):
        count = _choose(scores, indptr[row], indptr[row + 1], chosen)
        _sort_heap(scores, chosen[:count])
        for rank in range(count):
            ids[row, rank], best[row, rank] = indices[chosen[rank]], scores[chosen[rank]]


@njit(cache=True, nogil=True)
def fill_margins(indptr: Int64, scores: Float32, floor: Float32, margins: Float32) -> None:
    """Write the best minus the second-best score of each row; the floor stands in for a missing one."""
    for row in range(len(margins)):
        start, end = indptr[row], indptr[row + 1]
        best = scores[start] if end > start else floor
        second = floor
        for entry in range(start + 1, end):
            score = scores[entry]
            if score > best:
                best, second = score, best
            elif score > second or entry == start + 1:
                second = score
        margins[row] = best - second


@njit(cache=True, nogil=True)
def best_both_ways(indptr: Int64, indices: Int32, scores: Float32, of_row: Int64, of_column: Int64) -> None:
    """Write the entry with the highest score of each row and of each column; -1 where there is none."""
    of_row[:], of_column[:] = -1, -1
    for row in range(len(of_row)):
        for entry in range(indptr[row], indptr[row + 1]):
            best, column = of_row[row], indices[entry]
            if best < 0 or scores[entry] > scores[best]:
                of_row[row] = entry
            best = of_column[column]
            if best < 0 or scores[entry] > scores[best]:
                of_column[column] = entry


@njit(cache=True, nogil=True)
def look_up_pairs(
    indptr: Int64, indices: Int32, scores: Float32, floor: float, rows: Int32, columns: Int32, found: Float32
) -> None:
    """Write the score of each pair; the floor for absent entries."""
    for pair in range(len(rows)):
        start, end = indptr[rows[pair]], indptr[rows[pair] + 1]
        place = start + np.searchsorted(indices[start:end], columns[pair])
        there = place < end and indices[place] == columns[pair]
        found[pair] = scores[place] if there else floor


@njit(cache=True, nogil=True)
def count_kept(indptr: Int64, indices: Int32, sources: Bool, targets: Bool, pointers: Int64) -> None:
    """Write how many entries of each row are in both masks, as row pointers."""
    pointers[0] = 0
    for row in range(len(sources)):
        count = 0
        if sources[row]:
            for entry in range(indptr[row], indptr[row + 1]):
                count += targets[indices[entry]]
        pointers[row + 1] = pointers[row] + count


@njit(cache=True, nogil=True)
def copy_kept(
    indptr: Int64, indices: Int32, scores: Float32, sources: Bool, targets: Bool, ids: Int32, kept: Float32
) -> None:
    """Write the entries that are in both masks."""
    place = 0
    for row in range(len(sources)):
        if sources[row]:
            for entry in range(indptr[row], indptr[row + 1]):
                if targets[indices[entry]]:
                    ids[place], kept[place] = indices[entry], scores[entry]
                    place += 1


@njit(cache=True, nogil=True)
def among_best(indptr: Int64, scores: Float32, k: int) -> Bool:
    """Return the mask of the entries among the top k of their row, `[entries]`."""
    among = np.ones(len(scores), np.bool_)
    chosen = np.empty(min(k, len(scores)), np.int64)
    for row in range(len(indptr) - 1):
        start, end = indptr[row], indptr[row + 1]
        if end - start > k:
            among[start:end] = False
            for entry in chosen[: _choose(scores, start, end, chosen)]:
                among[entry] = True
    return among


@njit(cache=True, nogil=True)
def rows_by_id(ids: Int32, scores: Float32, indptr: Int64, indices: Int32, sorted_scores: Float32) -> None:
    """Write the candidates of each row, `ids[n, k]` padded with -1, to CSR arrays, ascending by id."""
    for row in range(len(ids)):
        start = indptr[row]
        end = start
        for rank in range(ids.shape[1]):
            candidate, score = ids[row, rank], scores[row, rank]
            if candidate < 0:
                continue
            place = end
            while place > start and indices[place - 1] > candidate:
                indices[place], sorted_scores[place] = indices[place - 1], sorted_scores[place - 1]
                place -= 1
            indices[place], sorted_scores[place] = candidate, score
            end += 1


@njit(cache=True, nogil=True)
def best_first(scores: Float32, candidates: Int32, chosen: Int64) -> int:
    """Write the top k candidates to `chosen[k]`, best first, ties by id, and return their number.

    Candidates are positions in `scores`, in any order.
    """
    count = min(len(candidates), len(chosen))
    heap = chosen[:count]
    for place in range(count - 1, -1, -1):
        heap[place] = candidates[place]
        _sink(scores, heap, place)
    for place in range(count, len(candidates)):
        candidate = np.int64(candidates[place])
        if count and _is_worse(scores, heap[0], candidate):
            heap[0] = candidate
            _sink(scores, heap, np.int64(0))
    _sort_heap(scores, heap)
    return count


@njit(cache=True, nogil=True)
def _sort_heap(scores: Float32, heap: Int64) -> None:
    """Sort a heap best first, by moving its worst entry to the end repeatedly (heapsort)."""
    for last in range(len(heap) - 1, 0, -1):
        heap[0], heap[last] = heap[last], heap[0]
        _sink(scores, heap[:last], np.int64(0))


@njit(cache=True, nogil=True)
def _choose(scores: Float32, start: int, end: int, chosen: Int64) -> int:
    """Write the best of the entries `start:end` to `chosen`, up to its length, and return their number.

    `chosen` is a heap with the worst entry on top, so that most entries of a long row cost one comparison.
    """
    count = min(end - start, len(chosen))
    heap = chosen[:count]
    for place in range(count - 1, -1, -1):
        heap[place] = start + place
        _sink(scores, heap, place)
    for entry in range(start + count, end):
        if count and scores[entry] > scores[heap[0]]:
            heap[0] = entry
            _sink(scores, heap, np.int64(0))
    return count


@njit(cache=True, nogil=True)
def _sink(scores: Float32, heap: Int64, place: int) -> None:
    """Move the entry at a place of the heap down until no entry below it is worse."""
    entry = heap[place]
    while 2 * place + 1 < len(heap):
        child = 2 * place + 1
        if child + 1 < len(heap) and _is_worse(scores, heap[child + 1], heap[child]):
            child += 1
        if _is_worse(scores, entry, heap[child]):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = entry


@njit(cache=True, nogil=True)
def _is_worse(scores: Float32, entry: int, other: int) -> bool:
    """Return whether an entry ranks below another; among equal scores in a row, the greater id is worse."""
    return scores[entry] < scores[other] or (scores[entry] == scores[other] and entry > other)


@njit(cache=True, nogil=True)
def add_rows(
    indptr_a: Int64,
    indices_a: Int32,
    scores_a: Float32,
    floor_a: np.float32,
    indptr_b: Int64,
    indices_b: Int32,
    scores_b: Float32,
    floor_b: np.float32,
) -> tuple[Int64, Int32, Float32]:
    """Add two CSR matrices row by row and keep explicit zeros, which scipy's sum would drop.

    Where one matrix lacks an entry, its floor is added instead.
    """
    indptr = np.zeros_like(indptr_a)
    indices = np.empty(len(indices_a) + len(indices_b), np.int32)
    scores = np.empty(len(indices), np.float32)
    n = 0
    for row in range(len(indptr) - 1):
        a, b = indptr_a[row], indptr_b[row]
        end_a, end_b = indptr_a[row + 1], indptr_b[row + 1]
        while a < end_a or b < end_b:
            in_a = a < end_a and (b == end_b or indices_a[a] <= indices_b[b])
            in_b = b < end_b and (a == end_a or indices_b[b] <= indices_a[a])
            indices[n] = indices_a[a] if in_a else indices_b[b]
            scores[n] = (scores_a[a] if in_a else floor_a) + (scores_b[b] if in_b else floor_b)
            n += 1
            a += in_a
            b += in_b
        indptr[row + 1] = n
    return indptr, indices[:n].copy(), scores[:n].copy()


@njit(cache=True, nogil=True)
def look_up_rows(
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    floor: np.float32,
    indptr_wanted: Int64,
    indices_wanted: Int32,
    found: Float32,
) -> None:
    """Write to `found` the score of each wanted entry, or the floor where the matrix lacks it."""
    for row in range(len(indptr) - 1):
        at, end = indptr[row], indptr[row + 1]
        for wanted in range(indptr_wanted[row], indptr_wanted[row + 1]):
            while at < end and indices[at] < indices_wanted[wanted]:
                at += 1
            is_kept = at < end and indices[at] == indices_wanted[wanted]
            found[wanted] = scores[at] if is_kept else floor


@njit(cache=True, nogil=True)
def best_of_sums(
    first: int,
    last: int,
    pointers: tuple[Int64, ...],
    indices: tuple[Int32, ...],
    scores: tuple[Float32, ...],
    weights: Float32,
    floors: Float32,
    ids: Int32,
    best: Float32,
    counts: Int64,
) -> None:
    """Write the top k of the weighted sum of several CSR matrices to the rows `first:last` of `ids[rows, k]`
    and `best[rows, k]`, ascending by id, and how many they are to `counts[rows]`.

    Where a matrix lacks an entry, its floor, which is weighted already, is added instead.
    """
    k, parts = ids.shape[1], len(pointers)
    at, end = np.empty(parts, np.int64), np.empty(parts, np.int64)
    chosen = np.empty(k, np.int64)
    columns, sums = np.empty(k, np.int32), np.empty(k, np.float32)
    for row in range(first, last):
        longest = 0
        for part in range(parts):
            at[part], end[part] = pointers[part][row], pointers[part][row + 1]
            longest += end[part] - at[part]
        if longest > len(columns):
            columns, sums = np.empty(2 * longest, np.int32), np.empty(2 * longest, np.float32)
        count = 0
        while True:
            column = np.int32(2**31 - 1)
            for part in range(parts):
                if at[part] < end[part]:
                    column = min(column, indices[part][at[part]])
            if column == 2**31 - 1:
                break
            total = np.float32(0)
            for part in range(parts):
                if at[part] < end[part] and indices[part][at[part]] == column:
                    total += weights[part] * scores[part][at[part]]
                    at[part] += 1
                else:
                    total += floors[part]
            columns[count], sums[count] = column, total
            count += 1
        counts[row] = _choose(sums, 0, count, chosen)
        kept = chosen[: counts[row]]
        kept.sort()
        for rank in range(len(kept)):
            ids[row, rank], best[row, rank] = columns[kept[rank]], sums[kept[rank]]


@njit(cache=True, nogil=True)
def join_rows(
    first: int, last: int, ids: Int32, best: Float32, pointers: Int64, indices: Int32, scores: Float32
) -> None:
    """Copy the rows `first:last` of padded arrays to CSR arrays."""
    for row in range(first, last):
        start, count = pointers[row], pointers[row + 1] - pointers[row]
        for rank in range(count):
            indices[start + rank], scores[start + rank] = ids[row, rank], best[row, rank]
