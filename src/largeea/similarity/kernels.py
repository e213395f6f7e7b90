"""Compiled loops over the rows of a sparse matrix. Among equal scores, the smaller id ranks first."""

from __future__ import annotations

import numpy as np
from numba import njit

from largeea.graph import Bool, Float32, Int32, Int64


@njit(cache=True, nogil=True)
def fill_best_first(
    first: int, last: int, indptr: Int64, indices: Int32, scores: Float32, ids: Int32, best: Float32
) -> None:
    """Write the ids and scores of each row's top k, best first, to `ids[rows, k]` and `best[rows, k]`."""
    chosen = np.empty(ids.shape[1], np.int64)
    for row in range(first, last):
        count = _choose(scores, indptr[row], indptr[row + 1], chosen)
        _sort_heap(scores, chosen[:count])
        for rank in range(count):
            ids[row, rank], best[row, rank] = indices[chosen[rank]], scores[chosen[rank]]


@njit(cache=True, nogil=True)
def fill_margins(
    first: int, last: int, indptr: Int64, scores: Float32, floor: np.float32, margins: Float32
) -> None:
    """Write the best minus the second-best score of each row; the floor stands in for a missing one."""
    for row in range(first, last):
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
def fill_best_entries(first: int, last: int, indptr: Int64, scores: Float32, best: Int64) -> None:
    """Write the entry with the highest score of each row; -1 where there is none."""
    for row in range(first, last):
        start, values = indptr[row], scores[indptr[row] : indptr[row + 1]]
        chosen, highest = -start - 1, np.float32(-np.inf)
        for place in range(len(values)):
            if values[place] > highest:
                chosen, highest = place, values[place]
        best[row] = start + chosen


@njit(cache=True, nogil=True)
def best_suitors(indices: Int32, scores: Float32, best: Int64, suitor: Int32, highest: Float32) -> None:
    """Write which of the rows whose best entry is in a column has the highest score there, and this score.

    -1 and infinity where a column is the best of no row.
    """
    suitor[:], highest[:] = -1, np.inf
    for row in range(len(best)):
        if best[row] >= 0:
            column, score = indices[best[row]], scores[best[row]]
            if suitor[column] < 0 or score > highest[column]:
                suitor[column], highest[column] = row, score


@njit(cache=True, nogil=True)
def mark_outranked(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    suitor: Int32,
    highest: Float32,
    outranked: Bool,
) -> None:
    """Mark the columns in which another row ranks above the suitor."""
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            column, score = np.uint32(indices[entry]), scores[entry]
            if score >= highest[column] and (score > highest[column] or row < suitor[column]):
                outranked[column] = True


@njit(cache=True, nogil=True)
def copy_best(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    scores: Float32,
    pointers: Int64,
    ids: Int32,
    kept: Float32,
) -> None:
    """Write the top entries of each row, as many as the row pointers have room for, ascending by id."""
    ranked = np.empty(0, np.float32)
    for row in range(first, last):
        start, end = indptr[row], indptr[row + 1]
        if end - start > len(ranked):
            ranked = np.empty(2 * (end - start), np.float32)
        room = slice(pointers[row], pointers[row + 1])
        keep_best(indices[start:end], scores[start:end], ranked, ids[room], kept[room])


@njit(cache=True, nogil=True)
def keep_best(columns: Int32, sums: Float32, ranked: Float32, ids: Int32, best: Float32) -> None:
    """Write the entries with the highest sums, as many as `ids` holds; ties go to smaller columns."""
    k = len(ids)
    if len(columns) <= k:
        ids[: len(columns)], best[: len(columns)] = columns, sums
        return
    if not k:
        return
    ranked[: len(sums)] = sums
    lowest = _k_th_highest(ranked[: len(sums)], k)
    equals = k
    for place in range(len(sums)):
        equals -= sums[place] > lowest
    rank, place = 0, 0
    while rank < k:
        is_equal = sums[place] == lowest
        ids[rank], best[rank] = columns[place], sums[place]
        rank += (sums[place] > lowest) | (is_equal & (equals > 0))
        equals -= is_equal
        place += 1


@njit(cache=True, nogil=True)
def keep_best_in_any_order(columns: Int32, sums: Float32, ranked: Float32, ids: Int32, best: Float32) -> None:
    """The same as `keep_best` for columns that do not ascend; what is kept stays in their order."""
    k = len(ids)
    if len(columns) <= k:
        ids[: len(columns)], best[: len(columns)] = columns, sums
        return
    ranked[: len(sums)] = sums
    lowest = _k_th_highest(ranked[: len(sums)], k)
    room, equals = k, 0
    for place in range(len(sums)):
        ranked[equals] = -columns[place]
        equals += sums[place] == lowest
        room -= sums[place] > lowest
    last_equal = -_k_th_highest(ranked[:equals], room)
    rank = 0
    for place in range(len(sums)):
        if sums[place] > lowest or (sums[place] == lowest and columns[place] <= last_equal):
            ids[rank], best[rank] = columns[place], sums[place]
            rank += 1


@njit(cache=True, nogil=True)
def _k_th_highest(values: Float32, k: int) -> np.float32:
    """Return the k-th highest value by quickselect, without branches on values; changes their order."""
    first, last, wanted = 0, len(values), k - 1
    while True:
        one, two, three = values[first], values[(first + last) >> 1], values[last - 1]
        pivot: np.float32 = max(min(one, two), min(max(one, two), three))
        split = _above_first(values[first:last], pivot, False)
        if wanted < first + split:
            last = first + split
            continue
        first += split
        equals = _above_first(values[first:last], pivot, True)
        if wanted < first + equals:
            return pivot
        first += equals


@njit(cache=True, nogil=True)
def _above_first(values: Float32, pivot: np.float32, or_equal: bool) -> int:
    """Move the values above the pivot, or not below it, to the front; return how many they are."""
    count = 0
    for place in range(len(values)):
        value = values[place]
        values[place], values[count] = values[count], value
        count += (value > pivot) | (or_equal & (value == pivot))
    return count


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
