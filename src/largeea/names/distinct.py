"""Equal names found and distinct names sorted, on all threads.

Ours, because Arrow encodes and sorts text on one thread.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Int32, Int64, Strings
from largeea.names.numbering import number_codes
from largeea.search.sorting import UInt64

Bytes = npt.NDArray[np.uint8]
PREFIX = 8
"""Bytes of a text that are compared as one number."""


def number_names(names: Strings) -> tuple[Int32, int]:
    """A number for each name, equal for equal names, and how many there are; -1 for null and empty names."""
    offsets, text = _buffers(names)
    named = np.flatnonzero(np.diff(offsets))
    codes = np.empty(len(named), np.uint64)
    over_rows(_hash_texts, len(named), named, offsets, text, codes)
    pointer = np.arange(len(named) + 1)
    numbers, numbering = number_codes(codes, pointer[:-1], pointer)
    found = np.full(len(names), -1, np.int32)
    found[named] = numbering.number_of[numbers]
    return found, len(numbering.codes)


def distinct_names(names: Strings) -> tuple[Strings, Int32]:
    """The distinct names in the order of their bytes, and which of them each is, -1 for null and empty."""
    number, count = number_names(names)
    named = np.flatnonzero(number >= 0)
    bearer = np.empty(count, np.int64)
    bearer[number[named[::-1]]] = named[::-1]
    names = names.take(bearer)
    order = _sorted_order(*_buffers(names))
    place = np.empty(count + 1, np.int32)
    place[order], place[-1] = np.arange(count), -1
    return names.take(order), place[number]


def _buffers(names: Strings) -> tuple[Int64, Bytes]:
    """Where each name starts among the bytes of all, `[n + 1]`, and these bytes; a null name is empty."""
    names = pc.fill_null(names, "")
    _, offsets, text = names.buffers()
    starts = np.frombuffer(offsets or b"", np.int64)[names.offset : names.offset + len(names) + 1]
    return starts if len(starts) else np.zeros(1, np.int64), np.frombuffer(text or b"", np.uint8)


def _sorted_order(offsets: Int64, text: Bytes) -> Int64:
    """The order of distinct texts: by their first bytes as numbers, then those that begin alike in full."""
    count = len(offsets) - 1
    keys = np.empty(count, np.uint64)
    over_rows(_prefixes, count, offsets, text, keys)
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if count else np.empty(0, np.int64)
    bounds = np.append(starts, count)
    over_rows(_sort_groups, len(starts), bounds, order, offsets, text)
    return order


@njit(cache=True, nogil=True)
def _hash_texts(first: int, last: int, rows: Int64, offsets: Int64, text: Bytes, codes: UInt64) -> None:
    """Write a hash code of the text of each of the rows."""
    for at in range(first, last):
        code = np.uint64(1)
        for place in range(offsets[rows[at]], offsets[rows[at] + 1]):
            code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(text[place])
        codes[at] = code


@njit(cache=True, nogil=True)
def _prefixes(first: int, last: int, offsets: Int64, text: Bytes, keys: UInt64) -> None:
    """Write the first bytes of each text as a number that is larger for a later text."""
    for row in range(first, last):
        key, end = np.uint64(0), offsets[row + 1]
        for place in range(offsets[row], offsets[row] + PREFIX):
            key = (key << np.uint64(8)) | (np.uint64(text[place]) if place < end else np.uint64(0))
        keys[row] = key


@njit(cache=True, nogil=True)
def _sort_groups(first: int, last: int, bounds: Int64, order: Int64, offsets: Int64, text: Bytes) -> None:
    """Sort `order[bounds[g] : bounds[g + 1]]` of each group by the texts from `PREFIX` on (Shell sort)."""
    for group in range(first, last):
        begin, end = bounds[group], bounds[group + 1]
        gap = 1
        while gap < (end - begin) // 3:
            gap = 3 * gap + 1
        while gap > 0:
            for at in range(begin + gap, end):
                row, place = order[at], at
                while place >= begin + gap and _comes_before(row, order[place - gap], offsets, text):
                    order[place] = order[place - gap]
                    place -= gap
                order[place] = row
            gap //= 3


@njit(cache=True, nogil=True)
def _comes_before(one: int, other: int, offsets: Int64, text: Bytes) -> bool:
    """Whether a text comes before another that has the same first bytes."""
    i, end_i = offsets[one] + PREFIX, offsets[one + 1]
    j, end_j = offsets[other] + PREFIX, offsets[other + 1]
    while i < end_i and j < end_j:
        if text[i] != text[j]:
            return bool(text[i] < text[j])
        i, j = i + 1, j + 1
    return bool(end_i - i < end_j - j)
