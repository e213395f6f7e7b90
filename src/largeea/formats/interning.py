"""`StringTable`: gives every distinct byte string a number, at the speed of compiled code.

Ours, because a Python dict costs a Python object per string: five times the time and memory here.
Strings come as spans of a byte buffer, so neither a parser nor an Arrow column has to make objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from largeea.compiled import compiled, intrinsic
from largeea.graph import Int32, Int64, Strings

Bytes = npt.NDArray[np.uint8]

_WINDOW = 64
_NUMBER = np.uint64(0x7FFFFFFF)
_TAG = ~_NUMBER
_FREE = np.uint64(0x7FFFFFFF)
"""A slot of the hash table holds a number in its low bits and part of the hash above, or is free."""


class StringTable:
    """Numbers distinct strings 0, 1, 2, ... in order of first sight."""

    def __init__(self) -> None:
        self._arena: Bytes = np.empty(1 << 16, np.uint8)
        self._offsets: Int64 = np.zeros(1 << 10, np.int64)
        self._hashes: npt.NDArray[np.uint64] = np.empty(1 << 10, np.uint64)
        self._slots: npt.NDArray[np.uint64] = np.full(1 << 12, _FREE, np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def number(self, buffer: Bytes, starts: Int64, ends: Int64) -> Int32:
        """The numbers of `buffer[starts[i]:ends[i]]`, `[n]`; a span with negative start gets -1."""
        self._make_room(len(starts), int(np.where(starts < 0, 0, ends - starts).sum()))
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
        self._arena = _grown(self._arena, used + size + 1)
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


@intrinsic
def _eight_bytes(typing_context: Any, buffer: Any, at: Any) -> Any:
    """The eight bytes of `buffer` from `at` on as one number: strings are hashed and compared by words."""
    import numba
    from llvmlite import ir

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.gep(array.data, [arguments[1]])
        word = builder.load(builder.bitcast(place, ir.PointerType(ir.IntType(64))))
        word.align = 1
        return word

    return numba.types.uint64(buffer, numba.types.int64), generate


@compiled(nogil=True)
def _last_bytes(buffer: Bytes, at: int, end: int) -> np.uint64:
    """The fewer than eight bytes from `at` to `end` as one number."""
    word = np.uint64(0)
    while at < end:
        word = word << np.uint64(8) | np.uint64(buffer[at])
        at += 1
    return word


@compiled(nogil=True)
def _hash(buffer: Bytes, start: int, end: int) -> np.uint64:
    """A multiply-and-shift hash; deterministic, so that it can order strings too."""
    value = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
    at = start
    while at + 8 <= end:
        value = (value ^ _eight_bytes(buffer, at)) * np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(32)
        at += 8
    value = (value ^ _last_bytes(buffer, at, end)) * np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(29)
    value *= np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(32))


@compiled(nogil=True)
def _same(left: Bytes, at: int, right: Bytes, start: int, length: int) -> bool:
    end = at + length
    while at + 8 <= end:
        if _eight_bytes(left, at) != _eight_bytes(right, start):
            return False
        at += 8
        start += 8
    while at < end:
        if left[at] != right[start]:
            return False
        at += 1
        start += 1
    return True


@compiled(nogil=True)
def _warm(
    buffer: Bytes,
    starts: Int64,
    ends: Int64,
    first: int,
    codes: npt.NDArray[np.uint64],
    slots: npt.NDArray[np.uint64],
    offsets: Int64,
    arena: Bytes,
) -> int:
    """Hash a window of strings and touch the memory that looking them up will need.

    The lookups wait for memory; asked for together, a window's worth of it comes in the time of one.
    """
    mask = np.uint64(len(slots) - 1)
    count = min(_WINDOW, len(starts) - first)
    touched = 0
    for i in range(count):
        if starts[first + i] >= 0:
            codes[i] = _hash(buffer, starts[first + i], ends[first + i])
    for i in range(count):
        touched += slots[codes[i] & mask] & np.uint64(1)
    for i in range(count):
        entry = slots[codes[i] & mask]
        touched += offsets[entry & _NUMBER] & 1 if entry != _FREE else 0
    for i in range(count):
        entry = slots[codes[i] & mask]
        touched += arena[offsets[entry & _NUMBER]] & 1 if entry != _FREE else 0
    return touched


@compiled(nogil=True)
def _number_spans(
    buffer: Bytes,
    starts: Int64,
    ends: Int64,
    arena: Bytes,
    offsets: Int64,
    hashes: npt.NDArray[np.uint64],
    slots: npt.NDArray[np.uint64],
    count: int,
    numbers: Int32,
) -> int:
    mask = np.uint64(len(slots) - 1)
    codes = np.empty(_WINDOW, np.uint64)
    for i in range(len(starts)):
        if i % _WINDOW == 0:
            _warm(buffer, starts, ends, i, codes, slots, offsets, arena)
        start, length = starts[i], ends[i] - starts[i]
        if start < 0:
            numbers[i] = -1
            continue
        code = codes[i % _WINDOW]
        slot = code & mask
        while True:
            entry = slots[slot]
            if entry == _FREE:
                place = offsets[count]
                arena[place : place + length] = buffer[start : start + length]
                offsets[count + 1] = place + length
                hashes[count] = code
                slots[slot] = code & _TAG | np.uint64(count)
                numbers[i] = count
                count += 1
                break
            if entry & _TAG == code & _TAG:
                known = np.int64(entry & _NUMBER)
                place = offsets[known]
                if offsets[known + 1] - place == length and _same(arena, place, buffer, start, length):
                    numbers[i] = known
                    break
            slot = (slot + np.uint64(1)) & mask
    return count


@compiled(nogil=True)
def _rehash(hashes: npt.NDArray[np.uint64], size: int) -> npt.NDArray[np.uint64]:
    slots = np.full(size, _FREE, np.uint64)
    mask = np.uint64(size - 1)
    for number in range(len(hashes)):
        slot = hashes[number] & mask
        while slots[slot] != _FREE:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = hashes[number] & _TAG | np.uint64(number)
    return slots
