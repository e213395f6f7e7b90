"""`StringTable`: gives every distinct byte string a number, at the speed of compiled code.

Ours, because a Python dict costs a Python object per string: five times the time and memory here.
Strings come as spans of a byte buffer, so neither a parser nor an Arrow column has to make objects.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from largeea.graph import Int32, Int64, Strings

Bytes = npt.NDArray[np.uint8]


class StringTable:
    """Numbers distinct strings 0, 1, 2, ... in order of first sight."""

    def __init__(self) -> None:
        self._arena: Bytes = np.empty(1 << 16, np.uint8)
        self._offsets: Int64 = np.zeros(1 << 10, np.int64)
        self._hashes: npt.NDArray[np.uint64] = np.empty(1 << 10, np.uint64)
        self._slots: Int32 = np.full(1 << 12, -1, np.int32)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def number(self, buffer: Bytes, starts: Int64, ends: Int64) -> Int32:
        """The numbers of `buffer[starts[i]:ends[i]]`, `[n]`; a span with negative start gets -1."""
        self._make_room(len(starts), int(np.maximum(ends - starts, 0).sum()))
        numbers = np.empty(len(starts), np.int32)
        self._count = _number_spans(
            buffer, starts, ends, self._arena, self._offsets, self._hashes, self._slots, self._count, numbers
        )
        return numbers

    def number_column(self, column: Strings) -> Int32:
        """The numbers of an Arrow text column, -1 where null."""
        column = column.cast(pa.large_string())
        if column.offset or column.null_count:
            starts, ends, data = _spans_of(pa.concat_arrays([column]))
            starts = np.where(np.asarray(column.is_valid()), starts, -1)
        else:
            starts, ends, data = _spans_of(column)
        return self.number(data, starts, ends)

    def strings(self) -> Strings:
        """All strings by number."""
        offsets = self._offsets[: self._count + 1].copy()
        data = self._arena[: offsets[-1]].copy()
        return pa.LargeStringArray.from_buffers(self._count, pa.py_buffer(offsets), pa.py_buffer(data))

    def order_by_hash(self) -> Int64:
        """The numbers in an order that depends on the strings alone, not on when they were seen."""
        hashes = self._hashes[: self._count]
        order = np.argsort(hashes, kind="stable")
        tied = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        if len(tied):
            text = self.strings().to_pylist()
            order = np.array(sorted(order.tolist(), key=lambda number: (hashes[number], text[number])))
        return order

    def _make_room(self, strings: int, size: int) -> None:
        """Grow so that this many more strings of this total size fit, come what may."""
        used = int(self._offsets[self._count])
        self._arena = _grown(self._arena, used + size)
        self._offsets = _grown(self._offsets, self._count + strings + 1)
        self._hashes = _grown(self._hashes, self._count + strings)
        if 2 * (self._count + strings) > len(self._slots):
            size = 1 << int(np.ceil(np.log2(3 * (self._count + strings))))
            self._slots = _rehash(self._hashes[: self._count], size)


def _spans_of(column: Strings) -> tuple[Int64, Int64, Bytes]:
    _, offset_buffer, data = column.buffers()
    offsets = (
        np.frombuffer(offset_buffer, np.int64, len(column) + 1) if len(column) else np.zeros(1, np.int64)
    )
    return offsets[:-1], offsets[1:], np.frombuffer(data or b"", np.uint8)


def _grown(array: npt.NDArray[Any], need: int) -> npt.NDArray[Any]:
    if need <= len(array):
        return array
    larger = np.zeros(max(need, len(array) + len(array) // 2), array.dtype)
    larger[: len(array)] = array
    return larger


@numba.njit(cache=True)
def _hash(buffer: Bytes, start: int, end: int) -> np.uint64:
    """FNV-1a over bytes, then a final mix so that the low bits depend on all of them."""
    value = np.uint64(14695981039346656037)
    for i in range(start, end):
        value = (value ^ np.uint64(buffer[i])) * np.uint64(1099511628211)
    value ^= value >> np.uint64(32)
    value *= np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(29))


@numba.njit(cache=True)
def _number_spans(
    buffer: Bytes,
    starts: Int64,
    ends: Int64,
    arena: Bytes,
    offsets: Int64,
    hashes: npt.NDArray[np.uint64],
    slots: Int32,
    count: int,
    numbers: Int32,
) -> int:
    mask = np.uint64(len(slots) - 1)
    for i in range(len(starts)):
        start, end = starts[i], ends[i]
        if start < 0:
            numbers[i] = -1
            continue
        code = _hash(buffer, start, end)
        slot = code & mask
        while True:
            known = slots[slot]
            if known < 0:
                place = offsets[count]
                arena[place : place + end - start] = buffer[start:end]
                offsets[count + 1] = place + end - start
                hashes[count] = code
                slots[slot] = count
                numbers[i] = count
                count += 1
                break
            if hashes[known] == code and offsets[known + 1] - offsets[known] == end - start:
                at = offsets[known]
                same = True
                for j in range(end - start):
                    if arena[at + j] != buffer[start + j]:
                        same = False
                        break
                if same:
                    numbers[i] = known
                    break
            slot = (slot + np.uint64(1)) & mask
    return count


@numba.njit(cache=True)
def _rehash(hashes: npt.NDArray[np.uint64], size: int) -> Int32:
    slots = np.full(size, -1, np.int32)
    mask = np.uint64(size - 1)
    for number in range(len(hashes)):
        slot = hashes[number] & mask
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = number
    return slots
