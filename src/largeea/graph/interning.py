"""`StringTable`: gives every distinct byte string a number, in compiled code.

A Python dict needs a Python object per string: five times the time and memory here. Strings come as spans of
a byte buffer, so neither a parser nor an Arrow column has to create objects.
"""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from largeea.graph.arrays import Int32, Int64, Strings
from largeea.graph.hash_table import FREE, WINDOW, Bytes, Hashes, fill_slots, fixed_hashes, number_spans

__all__ = ["Bytes", "Encoded", "StringTable", "encoded"]

Array = TypeVar("Array", bound=npt.NDArray[Any])


class Encoded(NamedTuple):
    """A text column as its distinct values in order of first appearance, and each row's position among them.

    `places[n]` are int32, -1 where null.
    """

    values: Strings
    places: Int32


def encoded(column: Strings) -> Encoded:
    """Encode a column: threads can do this beforehand, so that a `StringTable` gets every value once."""
    table = StringTable()
    places = table.number_column(column)
    return Encoded(table.strings(), places)


class StringTable:
    """Numbers distinct strings 0, 1, 2, ... in order of first appearance.

    Every table hashes with a key of its own, so that no file can be made of strings that collide.
    """

    def __init__(self) -> None:
        self._key = np.uint64(secrets.randbits(64) | 1)
        self._arena: Bytes = np.empty(1 << 16, np.uint8)
        self._offsets: Int64 = np.zeros(1 << 10, np.int64)
        self._hashes: Hashes = np.empty(1 << 10, np.uint64)
        self._slots: Hashes = np.full(1 << 12, FREE, np.uint64)
        self._window: Hashes = np.zeros(WINDOW, np.uint64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def number(self, buffer: Bytes, starts: Int64, ends: Int64, grows: bool = True) -> Int32:
        """The numbers of `buffer[starts[i]:ends[i]]`, `int32[n]`; a span with a negative start gets -1.

        So does a new string, where the table does not grow.
        """
        if grows:
            self._make_room(len(starts), int(np.where(starts < 0, 0, ends - starts).sum()))
        numbers = np.empty(len(starts), np.int32)
        self._count = number_spans(
            _read_only(buffer),
            _read_only(starts),
            _read_only(ends),
            self._arena,
            self._offsets,
            self._hashes,
            self._slots,
            self._count,
            self._key,
            self._window,
            grows,
            numbers,
        )
        return numbers

    def number_column(self, column: Strings, grows: bool = True) -> Int32:
        """The numbers of an Arrow text column, `int32[n]`; -1 where null."""
        column = column.cast(pa.large_string())
        if column.offset or column.null_count:
            starts, ends, data = _spans_of(pa.concat_arrays([column]))
            starts = np.where(np.asarray(column.is_valid()), starts, -1)
        else:
            starts, ends, data = _spans_of(column)
        return self.number(data, starts, ends, grows)

    def number_encoded(self, column: Encoded) -> Int32:
        """The numbers of an encoded column, `int32[n]`."""
        return self.number_column(column.values)[column.places]

    def strings(self) -> Strings:
        """All strings by number."""
        offsets = self._offsets[: self._count + 1].copy()
        data = self._arena[: offsets[-1]].copy()
        return pa.LargeStringArray.from_buffers(self._count, pa.py_buffer(offsets), pa.py_buffer(data))

    def order_by_hash(self) -> Int64:
        """The numbers in an order that depends on the strings alone, not on the order of appearance."""
        hashes = np.empty(self._count, np.uint64)
        fixed_hashes(self._arena, self._offsets, hashes)
        order = np.argsort(hashes)
        tied = np.flatnonzero(hashes[order][1:] == hashes[order][:-1])
        if len(tied):
            text = self.strings().to_pylist()
            order = np.array(sorted(order.tolist(), key=lambda number: (hashes[number], text[number])))
        return order

    def _make_room(self, strings: int, size: int) -> None:
        """Grow so that this many more strings of this total size fit."""
        used = int(self._offsets[self._count])
        self._arena = _grown(self._arena, used + size + 1)
        self._offsets = _grown(self._offsets, self._count + strings + 1)
        self._hashes = _grown(self._hashes, self._count + strings)
        if 2 * (self._count + strings) > len(self._slots):
            size = 1 << int(np.ceil(np.log2(3 * (self._count + strings))))
            self._slots = np.full(size, FREE, np.uint64)
            fill_slots(self._hashes[: self._count], self._slots)


def _spans_of(column: Strings) -> tuple[Int64, Int64, Bytes]:
    _, offset_buffer, data = column.buffers()
    offsets = (
        np.frombuffer(offset_buffer, np.int64, len(column) + 1) if len(column) else np.zeros(1, np.int64)
    )
    return offsets[:-1], offsets[1:], np.frombuffer(data or b"", np.uint8)


def _read_only(array: Array) -> Array:
    """A view that cannot be written: numba compiles a function again for arrays that can."""
    view = array.view()
    view.flags.writeable = False
    return view


def _grown(array: npt.NDArray[Any], need: int) -> npt.NDArray[Any]:
    if need <= len(array):
        return array
    larger = np.zeros(max(need, len(array) + len(array) // 2), array.dtype)
    larger[: len(array)] = array
    return larger
