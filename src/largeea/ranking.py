"""The best entries of each row of a sparse matrix: best first, and of equals the one with the smaller id."""

from __future__ import annotations

import numpy as np

from largeea.compiled import compiled
from largeea.graph import Bool, Float32, Int32, Int64


@compiled()
def fill_best_first(indptr: Int64, indices: Int32, scores: Float32, ids: Int32, best: Float32) -> None:
    """Targets and scores of each row's best entries into `ids[rows, k]` and `best[rows, k]`, best first."""
    chosen = np.empty(ids.shape[1], np.int64)
    for row in range(len(ids)):
        count = _choose(scores, indptr[row], indptr[row + 1], chosen)
        for last in range(count - 1, 0, -1):  # heap sort: the worst of those left goes behind them
            chosen[0], chosen[last] = chosen[last], chosen[0]
            _sink(scores, chosen[:last], 0)
        for rank in range(count):
            ids[row, rank], best[row, rank] = indices[chosen[rank]], scores[chosen[rank]]


@compiled()
def among_best(indptr: Int64, scores: Float32, k: int) -> Bool:
    """Which entries are among the k best of their row, `[entries]`."""
    among = np.ones(len(scores), np.bool_)
    chosen = np.empty(min(k, len(scores)), np.int64)
    for row in range(len(indptr) - 1):
        start, end = indptr[row], indptr[row + 1]
        if end - start > k:
            among[start:end] = False
            for entry in chosen[: _choose(scores, start, end, chosen)]:
                among[entry] = True
    return among


@compiled()
def _choose(scores: Float32, start: int, end: int, chosen: Int64) -> int:
    """Choose as many of the entries `start:end` as there is room for, the best ones; how many.

    They lie in `chosen` as a heap with the worst on top, so that long rows cost little more than a glance.
    """
    count = min(end - start, len(chosen))
    heap = chosen[:count]
    for place in range(count - 1, -1, -1):
        heap[place] = start + place
        _sink(scores, heap, place)
    for entry in range(start + count, end):
        if count and scores[entry] > scores[heap[0]]:
            heap[0] = entry
            _sink(scores, heap, 0)
    return count


@compiled()
def _sink(scores: Float32, heap: Int64, place: int) -> None:
    """Let the entry at a place of the heap sink until no worse one is below it."""
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


@compiled()
def _is_worse(scores: Float32, entry: int, other: int) -> bool:
    """Of equal scores in a row the later entry is worse: its target has the greater id."""
    return scores[entry] < scores[other] or (scores[entry] == scores[other] and entry > other)
