"""Candidates by inner product, ranked by cosine or by Manhattan distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Float32, Int32

OVERSAMPLE = 4
"""Candidates by inner product for every one kept by Manhattan distance."""
LEAST_CANDIDATES = 200
_FAST = {"reassoc", "contract", "nsz"}


def candidate_count(k: int, metric: str) -> int:
    """How many items are found by inner product for every query, to keep k by the metric."""
    return k if metric == "cosine" else max(OVERSAMPLE * k, LEAST_CANDIDATES)


def ranked(
    find: Callable[[Float32, int], tuple[Int32, Float32]],
    queries: Float32,
    items: Float32,
    k: int,
    metric: str,
) -> tuple[Int32, Float32]:
    """The k best of what `find(queries, count)` returns: `(ids[n, k], scores[n, k])`, see `dense_top_k`.

    `find` gives the nearest items by inner product in any order, padded with -1 and any score.
    """
    found, similar = find(queries, min(candidate_count(k, metric), len(items)))
    if metric == "manhattan":
        found, similar = by_manhattan(queries, items, np.where(similar > 0, found, np.int32(-1)))
    ids, scores = np.full((len(queries), k), -1, np.int32), np.zeros((len(queries), k), np.float32)
    over_rows(_keep_best, len(queries), read_only(found), read_only(similar), ids, scores, least=512)
    return ids, scores


def by_manhattan(queries: Float32, items: Float32, ids: Int32) -> tuple[Int32, Float32]:
    """Candidates `ids[n, c]` and their scores `1 - distance / (2 sqrt(d))`; -1, no candidate, scores 0."""
    scores = np.zeros(ids.shape, np.float32)
    over_rows(_scores, len(ids), read_only(queries), read_only(items), read_only(ids), scores, least=64)
    return ids, scores


def read_only(array: Any) -> Any:
    """A view that cannot be written to: compiled code then has one signature for all arrays."""
    view = np.ascontiguousarray(array)[:]
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True, fastmath=_FAST)
def _scores(first: int, last: int, queries: Float32, items: Float32, ids: Int32, scores: Float32) -> None:
    """Write the scores of the candidates of the queries `first:last`."""
    width = 2 * np.sqrt(np.float32(queries.shape[1]))
    for query in range(first, last):
        asked = queries[query]
        for place in range(ids.shape[1]):
            if ids[query, place] < 0:
                continue
            item = items[ids[query, place]]
            distance = np.float32(0)
            for at in range(len(asked)):
                distance += abs(asked[at] - item[at])
            scores[query, place] = np.float32(1) - distance / width


@njit(cache=True, nogil=True)
def _keep_best(first: int, last: int, found: Int32, similar: Float32, ids: Int32, scores: Float32) -> None:
    """Write the best candidates of the rows `first:last`, best first, ties by id, without scores up to 0.

    The kept ones stay sorted while candidates are inserted from the end of the row.
    """
    k = ids.shape[1]
    for row in range(first, last):
        count = 0
        for place in range(found.shape[1]):
            candidate, score = found[row, place], similar[row, place]
            if candidate < 0 or not score > 0:
                continue
            at = min(count, k)
            while at > 0 and (
                scores[row, at - 1] < score or (scores[row, at - 1] == score and ids[row, at - 1] > candidate)
            ):
                if at < k:
                    ids[row, at], scores[row, at] = ids[row, at - 1], scores[row, at - 1]
                at -= 1
            if at < k:
                ids[row, at], scores[row, at] = candidate, score
                count = min(count + 1, k)
