"""The compiled loops of `StringTable`: a hash table of byte strings with linear probing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from numba.extending import intrinsic

from largeea.graph.arrays import Int32, Int64

Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]

WINDOW = 64
"""Strings that are hashed at once."""
_NUMBER = np.uint64(0x7FFFFFFF)
_TAG = ~_NUMBER
FREE = np.uint64(0x7FFFFFFF)
"""A slot of the hash table holds a number in its low bits and part of the hash above, or is free."""


def _load_word(typing_context: Any, buffer: Any, at: Any) -> Any:
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


def _folded_product(typing_context: Any, left: Any, right: Any) -> Any:
    """The exclusive or of both halves of the 128-bit product of two words."""
    import numba
    from llvmlite import ir

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide, word = ir.IntType(128), ir.IntType(64)
        product = builder.mul(*(builder.zext(one, wide) for one in arguments))
        high = builder.trunc(builder.lshr(product, wide(64)), word)
        return builder.xor(builder.trunc(product, word), high)

    return numba.types.uint64(numba.types.uint64, numba.types.uint64), generate


_eight_bytes: Any = intrinsic(_load_word)
_folded: Any = intrinsic(_folded_product)


@njit(cache=True, nogil=True)
def _keyed_hash(buffer: Bytes, start: int, end: int, key: np.uint64) -> np.uint64:
    """A hash that nobody can choose collisions for without the key, which is odd.

    A product alone would not do: its highest bit tells nothing about the key.
    """
    value = _folded(np.uint64(end - start) ^ key, np.uint64(0x9E3779B97F4A7C15))
    at = start
    while at + 8 <= end:
        value = _folded(value ^ _eight_bytes(buffer, at), key)
        at += 8
    last_bytes = np.uint64(0)
    while at < end:
        last_bytes = last_bytes << np.uint64(8) | np.uint64(buffer[at])
        at += 1
    value = _folded(value ^ last_bytes, key)
    return np.uint64(value)


@njit(cache=True, nogil=True)
def fixed_hashes(buffer: Bytes, offsets: Int64, hashes: Hashes) -> None:
    """Write a hash of each string that is the same everywhere, `hashes[n]`, to order strings by."""
    for number in range(len(hashes)):
        hashes[number] = _fixed_hash(buffer, offsets[number], offsets[number + 1])


@njit(cache=True, nogil=True)
def _fixed_hash(buffer: Bytes, start: int, end: int) -> np.uint64:
    """A multiply-and-shift hash."""
    value = np.uint64(end - start) * np.uint64(0x9E3779B97F4A7C15)
    at = start
    while at + 8 <= end:
        value = (value ^ _eight_bytes(buffer, at)) * np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(32)
        at += 8
    last_bytes = np.uint64(0)
    while at < end:
        last_bytes = last_bytes << np.uint64(8) | np.uint64(buffer[at])
        at += 1
    value = (value ^ last_bytes) * np.uint64(0x94D049BB133111EB)
    value ^= value >> np.uint64(29)
    value *= np.uint64(0x9E3779B97F4A7C15)
    return value ^ (value >> np.uint64(32))


@njit(cache=True, nogil=True)
def _same(left: Bytes, at: int, right: Bytes, start: int, length: int) -> bool:
    """Whether `left[at:at + length]` equals `right[start:start + length]`."""
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


@njit(cache=True, nogil=True)
def _hash_window(
    buffer: Bytes,
    starts: Int64,
    ends: Int64,
    first: int,
    last: int,
    arena: Bytes,
    offsets: Int64,
    slots: Hashes,
    key: np.uint64,
    window: Hashes,
) -> np.uint64:
    """Hash the strings `first` to `last` into `window` and touch the memory that their lookup will need.

    Lookups wait for memory, and reads that are issued together wait only once. The result has no meaning; it
    keeps the compiler from removing the reads.
    """
    mask, touched = np.uint64(len(slots) - 1), np.uint64(0)
    for i in range(first, last):
        if starts[i] >= 0:
            window[i - first] = _keyed_hash(buffer, starts[i], ends[i], key)
    for i in range(last - first):
        touched += slots[window[i] & mask]
    for i in range(last - first):
        entry = slots[window[i] & mask]
        if entry != FREE:
            touched += np.uint64(offsets[entry & _NUMBER])
    for i in range(last - first):
        entry = slots[window[i] & mask]
        if entry != FREE:
            touched += np.uint64(arena[offsets[entry & _NUMBER]])
    return touched


@njit(cache=True, nogil=True)
def number_spans(
    buffer: Bytes,
    starts: Int64,
    ends: Int64,
    arena: Bytes,
    offsets: Int64,
    hashes: Hashes,
    slots: Hashes,
    count: int,
    key: np.uint64,
    window: Hashes,
    grows: bool,
    numbers: Int32,
) -> int:
    """Fill `numbers[n]` and return how many distinct strings there are now.

    Where the table does not grow, a new string gets -1. New strings are copied byte by byte, because numba
    takes 2 s to compile an assignment between slices.
    """
    mask, touched = np.uint64(len(slots) - 1), np.uint64(0)
    for i in range(len(starts)):
        if i % WINDOW == 0:
            last = min(i + WINDOW, len(starts))
            touched += _hash_window(buffer, starts, ends, i, last, arena, offsets, slots, key, window)
        start, length = starts[i], ends[i] - starts[i]
        numbers[i] = -1
        code = window[i % WINDOW]
        slot = code & mask
        while start >= 0 and numbers[i] < 0:
            entry = slots[slot]
            if entry == FREE:
                if not grows:
                    break
                place = offsets[count]
                for j in range(length):
                    arena[place + j] = buffer[start + j]
                offsets[count + 1] = place + length
                hashes[count] = code
                slots[slot] = code & _TAG | np.uint64(count)
                numbers[i] = count
                count += 1
            elif entry & _TAG == code & _TAG:
                known = np.int64(entry & _NUMBER)
                place = offsets[known]
                if offsets[known + 1] - place == length and _same(arena, place, buffer, start, length):
                    numbers[i] = known
            slot = (slot + np.uint64(1)) & mask
    window[0] = touched
    return count


@njit(cache=True, nogil=True)
def fill_slots(hashes: Hashes, slots: Hashes) -> None:
    """Enter the numbers of all strings into empty slots."""
    mask = np.uint64(len(slots) - 1)
    for number in range(len(hashes)):
        slot = hashes[number] & mask
        while slots[slot] != FREE:
            slot = (slot + np.uint64(1)) & mask
        slots[slot] = hashes[number] & _TAG | np.uint64(number)
