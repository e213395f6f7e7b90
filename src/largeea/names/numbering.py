"""Hash codes numbered from 0: a vocabulary made on all threads.

Ours, because Arrow's dictionary encoding uses one thread: each thread here keeps a table of its own part of
the codes.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.execution.settings import current
from largeea.graph import Int32, Int64, UInt64


class Numbering(NamedTuple):
    """The distinct codes.

    codes: ascending, `[vocabulary]`.
    frequency: how often each occurs, `[vocabulary]`.
    number_of: the number of each provisional number, see `number_codes`.
    """

    codes: UInt64
    frequency: Int64
    number_of: Int32


def number_codes(codes: UInt64, starts: Int64, pointer: Int64) -> tuple[Int32, Numbering]:
    """Provisional numbers of all codes, and the vocabulary with their final ones.

    Row i has `pointer[i + 1] - pointer[i]` codes, from `starts[i]` on; the numbers lie at `pointer[i]` on. A
    final number is a place in the vocabulary: `numbering.number_of[numbers]`. The tables have a random key,
    so that no names can be made whose codes collide; no number depends on it.
    """
    key = np.uint64(secrets.randbits(64) | 1)
    parts = min(current().thread_count, 1 + len(codes) // 100_000)
    numbers = np.empty(pointer[-1], np.int32)
    found: list[tuple[UInt64, Int64, Int64]] = [
        (np.empty(0, np.uint64), *2 * (np.empty(0, np.int64),))
    ] * parts

    def number(first: int, last: int) -> None:
        for part in range(first, last):
            own, counts = _number_part(part, parts, codes, starts, pointer, key, numbers)
            order = np.argsort(own)
            found[part] = own[order], counts[order], order

    over_rows(number, parts, least=1)
    number_of = np.empty(max(len(own) for own, *_ in found) * parts, np.int32)
    before = 0
    for part, (own, _, order) in enumerate(found):
        number_of[order * parts + part] = np.arange(before, before + len(own), dtype=np.int32)
        before += len(own)
    distinct, frequency = (np.concatenate([own[column] for own in found]) for column in (0, 1))
    return numbers, Numbering(distinct, frequency, number_of)


@njit(cache=True, nogil=True)
def _number_part(
    part: int, parts: int, codes: UInt64, starts: Int64, pointer: Int64, key: np.uint64, numbers: Int32
) -> tuple[UInt64, Int64]:
    """Number the codes of a part in the order they come, `place * parts + part`; its codes and counts.

    Codes are hashes: each part has those of one range, about equally many.
    """
    bits = np.uint64(12)
    table = np.full(1 << bits, -1, np.int32)
    distinct, counts = np.empty(1 << 11, np.uint64), np.empty(1 << 11, np.int64)
    size = np.int64(0)
    for row in range(len(pointer) - 1):
        shift = pointer[row] - starts[row]
        for at in range(starts[row], pointer[row + 1] - shift):
            code = codes[at]
            if ((code >> np.uint64(32)) * np.uint64(parts)) >> np.uint64(32) != np.uint64(part):
                continue
            mixed = _mixed(code, key)
            slot = np.int64(mixed >> (np.uint64(64) - bits))
            while table[slot] >= 0 and distinct[table[slot]] != code:
                slot = (slot + 1) & (len(table) - 1)
            place = np.int64(table[slot])
            if place < 0:
                if 2 * size == len(table):
                    bits += np.uint64(1)
                    table, distinct, counts = _larger(bits, distinct, counts, key)
                    slot = np.int64(mixed >> (np.uint64(64) - bits))
                    while table[slot] >= 0:
                        slot = (slot + 1) & (len(table) - 1)
                place = size
                table[slot], distinct[place], counts[place] = place, code, 0
                size += 1
            counts[place] += 1
            numbers[at + shift] = place * parts + part
    return distinct[:size].copy(), counts[:size].copy()


@njit(cache=True, nogil=True)
def _larger(bits: int, distinct: UInt64, counts: Int64, key: np.uint64) -> tuple[Int32, UInt64, Int64]:
    """A table of `2^bits` slots with all codes in it, and room for half as many codes and counts."""
    table = np.full(1 << bits, -1, np.int32)
    more, more_counts = np.empty(len(table) >> 1, np.uint64), np.empty(len(table) >> 1, np.int64)
    more[: len(distinct)], more_counts[: len(distinct)] = distinct, counts
    for place in range(len(distinct)):
        slot = np.int64(_mixed(distinct[place], key) >> (np.uint64(64) - bits))
        while table[slot] >= 0:
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = place
    return table, more, more_counts


@njit(cache=True, nogil=True, inline="always")
def _mixed(code: np.uint64, key: np.uint64) -> np.uint64:
    """A code whose highest bits nobody can foresee without the key, which is odd."""
    mixed = (code ^ key) * key
    return np.uint64((mixed ^ (mixed >> np.uint64(32))) * key)
