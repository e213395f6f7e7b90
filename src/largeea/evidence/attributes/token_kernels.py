"""Compiled loops that cut texts into tokens. A token is known by the hash of its characters."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from largeea.graph import Int64, UInt64
from largeea.search.sorting import sort_range

SPACE = 32


@njit(cache=True, nogil=True)
def count_tokens(
    text: npt.NDArray[np.uint8], pointers: Int64, used: Int64, buckets: Int64, sizes: Int64
) -> None:
    """Add `used[v]` to the bucket of every token of each value v, and write how many it has to `sizes`."""
    for value in range(len(sizes)):
        at, end, count = pointers[value], pointers[value + 1], 0
        while at < end:
            code, at = _next_token(text, at, end)
            if code:
                buckets[code % np.uint64(len(buckets))] += used[value]
                count += 1
        sizes[value] = count


@njit(cache=True, nogil=True)
def choose_tokens(
    text: npt.NDArray[np.uint8], pointers: Int64, buckets: Int64, room: Int64, codes: UInt64, sizes: Int64
) -> None:
    """Write the rarest distinct tokens of each value to `codes`, from `room[v]` to `room[v + 1]` at most.

    They ascend by hash; `sizes[v]`, so far the number of all its tokens, becomes the number written.
    """
    most = sizes.max()
    found, order = np.empty(most, np.uint64), np.empty(most, np.uint64)
    zero = np.int64(0)
    for value in range(len(sizes)):
        at, end, count = pointers[value], pointers[value + 1], 0
        while at < end:
            code, at = _next_token(text, at, end)
            if code:
                found[count] = code
                count += 1
        sort_range(found, zero, count)
        distinct = 0
        for place in range(count):
            if place == 0 or found[place] != found[distinct - 1]:
                found[distinct] = found[place]
                distinct += 1
        start, kept = room[value], min(distinct, room[value + 1] - room[value])
        if kept == distinct:
            codes[start : start + kept] = found[:kept]
        else:
            for place in range(distinct):
                bucket = buckets[found[place] % np.uint64(len(buckets))]
                order[place] = (np.uint64(bucket) << np.uint64(16)) | np.uint64(place)
            sort_range(order, zero, distinct)
            for place in range(kept):
                codes[start + place] = found[order[place] & np.uint64(0xFFFF)]
            sort_range(codes, start, start + kept)
        sizes[value] = kept


@njit(cache=True, nogil=True)
def _next_token(text: npt.NDArray[np.uint8], at: int, end: int) -> tuple[np.uint64, int]:
    """The hash of the token that starts at a place, 0 if a space is there, and the place behind it."""
    code = np.uint64(0)
    while at < end and text[at] != SPACE:
        code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(text[at])
        at += 1
    if code:
        code = (code ^ (code >> np.uint64(32))) * np.uint64(0x94D049BB133111EB)
        code ^= code >> np.uint64(29)
    return code, at + 1
