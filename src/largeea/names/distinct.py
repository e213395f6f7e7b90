"""Equal names found and distinct names sorted, on all threads.

Ours, because Arrow encodes and sorts text on one thread.
"""

from __future__ import annotations

import secrets

import numpy as np
import pyarrow as pa
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Int32, Int64, Strings, UInt64
from largeea.names.characters import Bytes, text_buffers
from largeea.names.numbering import number_codes

PREFIX = 8
"""Bytes of a text that are compared as one number."""


def number_names(names: Strings) -> tuple[Int32, int]:
    """A number for each name, equal for equal names, and how many there are; -1 for null and empty names.

    Names are equal if their hash codes are. These have a random key, so that nobody can make different names
    with the same code; the order of the numbers depends on it.
    """
    offsets, text = text_buffers(names)
    named = np.flatnonzero(np.diff(offsets))
    codes = np.empty(len(named), np.uint64)
    over_rows(_hash_texts, len(named), np.uint64(secrets.randbits(64)), named, offsets, text, codes)
    pointer = np.arange(len(named) + 1)
    numbers, numbering = number_codes(codes, pointer[:-1], pointer)
    found = np.full(len(names), -1, np.int32)
    found[named] = numbering.number_of[numbers]
    return found, len(numbering.codes)


def distinct_names(names: Strings) -> tuple[Strings, Int32]:
    """The distinct names in the order of their bytes, and which of them each is, -1 for null and empty."""
    number, count = number_names(names)
    bearer = np.empty(count, np.int64)
    _first_bearers(number, bearer)
    offsets, text = text_buffers(names)
    order = _sorted_order(bearer, offsets, text)
    place = np.empty(count + 1, np.int32)
    place[order], place[-1] = np.arange(count), -1
    return _texts_of(bearer[order], offsets, text), place[number]


def _sorted_order(rows: Int64, offsets: Int64, text: Bytes) -> Int64:
    """The order of distinct texts of some rows: by their first bytes as numbers, then in full."""
    count = len(rows)
    keys = np.empty(count, np.uint64)
    over_rows(_prefixes, count, rows, offsets, text, keys)
    order = np.argsort(keys)
    keys = keys[order]
    starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])) if count else np.empty(0, np.int64)
    bounds = np.append(starts, count)
    over_rows(_sort_groups, len(starts), bounds, order, rows, offsets, text)
    return order


def _texts_of(rows: Int64, offsets: Int64, text: Bytes) -> Strings:
    """The texts of some rows as a column."""
    pointer = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(offsets[rows + 1] - offsets[rows], out=pointer[1:])
    copied = np.empty(pointer[-1], np.uint8)
    over_rows(_copy_texts, len(rows), rows, offsets, text, pointer, copied)
    return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(pointer), pa.py_buffer(copied))


@njit(cache=True, nogil=True)
def _first_bearers(number: Int32, bearer: Int64) -> None:
    """Write the first row that has each number."""
    for row in range(len(number) - 1, -1, -1):
        if number[row] >= 0:
            bearer[number[row]] = row


@njit(cache=True, nogil=True)
def _copy_texts(
    first: int, last: int, rows: Int64, offsets: Int64, text: Bytes, pointer: Int64, copied: Bytes
) -> None:
    """Copy the text of each of the rows to its new place."""
    for at in range(first, last):
        shift = offsets[rows[at]] - pointer[at]
        for place in range(pointer[at], pointer[at + 1]):
            copied[place] = text[place + shift]


@njit(cache=True, nogil=True)
def _hash_texts(
    first: int, last: int, key: np.uint64, rows: Int64, offsets: Int64, text: Bytes, codes: UInt64
) -> None:
    """Write a hash code of the text of each of the rows."""
    for at in range(first, last):
        code = key
        for place in range(offsets[rows[at]], offsets[rows[at] + 1]):
            code = (code ^ (code >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(text[place])
        codes[at] = code


@njit(cache=True, nogil=True)
def _prefixes(first: int, last: int, rows: Int64, offsets: Int64, text: Bytes, keys: UInt64) -> None:
    """Write the first bytes of the text of each row as a number that is larger for a later text."""
    for at in range(first, last):
        row = rows[at]
        key, end = np.uint64(0), offsets[row + 1]
        for place in range(offsets[row], offsets[row] + PREFIX):
            key = (key << np.uint64(8)) | (np.uint64(text[place]) if place < end else np.uint64(0))
        keys[at] = key


@njit(cache=True, nogil=True)
def _sort_groups(
    first: int, last: int, bounds: Int64, order: Int64, rows: Int64, offsets: Int64, text: Bytes
) -> None:
    """Sort `order[bounds[g] : bounds[g + 1]]` of each group by the texts from `PREFIX` on (merge sort)."""
    for group in range(first, last):
        size = bounds[group + 1] - bounds[group]
        if size == 1:
            continue
        part, merged, width = order[bounds[group] : bounds[group + 1]], np.empty(size, np.int64), 1
        while width < size:
            for start in range(0, size, 2 * width):
                middle, end = min(start + width, size), min(start + 2 * width, size)
                i, j = start, middle
                for at in range(start, end):
                    later = i == middle or (
                        j < end and _comes_before(rows[part[j]], rows[part[i]], offsets, text)
                    )
                    merged[at] = part[j] if later else part[i]
                    i, j = (i, j + 1) if later else (i + 1, j)
            part, merged, width = merged, part, 2 * width
        order[bounds[group] : bounds[group + 1]] = part


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
