"""Names as sets: what MinHash hashes and Jaccard compares.

A name is kept as its characters (for Levenshtein) and as its set of shingles: all windows of a few
characters, or its words. Shingles are numbered, so that a set is a short run of uint32 and two sets
are compared by looking numbers up.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Int32, Int64, Strings, UInt32, UInt64
from largeea.names.characters import code_points
from largeea.names.numbering import number_codes

Shingle: TypeAlias = int | Literal["words"]

SPACE = 32


class NameSets(NamedTuple):
    """Names in columns, name i at `pointer[i] : pointer[i + 1]` of a flat array.

    About 4 bytes a character, 4 a shingle and 32 a name. `sketches[n, 2]` are 128 bits a name, of which each
    shingle sets one: they bound the intersection of two sets without reading them. `hashes[vocabulary]` is
    the content of each numbered shingle, `longest` the length of the longest name in characters.
    """

    characters: UInt32
    character_pointer: Int64
    shingles: UInt32
    shingle_pointer: Int64
    sketches: UInt64
    hashes: UInt64
    longest: int

    @classmethod
    def cut(cls, names: Strings, shingle: Shingle) -> NameSets:
        """Cut names, none of them null, into shingles.

        A name shorter than the window is one shingle; an empty name is an empty set.
        """
        characters, pointer = code_points(names)
        lengths = np.diff(pointer)
        sizes = _word_counts(characters, pointer) if shingle == "words" else _window_counts(lengths, shingle)
        starts = _pointer(sizes)
        hashes = np.empty(starts[-1], np.uint64)
        if shingle == "words":
            over_rows(_words, len(names), characters, pointer, starts, hashes)
        else:
            over_rows(_windows, len(names), characters, pointer, shingle, starts, hashes)
        numbers, numbering = number_codes(hashes, starts[:-1], starts)
        sketches = np.zeros((len(names), 2), np.uint64)
        over_rows(
            _each_once, len(names), starts, numbering.codes, numbering.number_of, numbers, sizes, sketches
        )
        shingle_pointer = _pointer(sizes)
        shingles = np.empty(shingle_pointer[-1], np.uint32)
        over_rows(_close_up, len(names), starts, numbers, shingle_pointer, shingles)
        longest = int(lengths.max(initial=0))
        return cls(characters, pointer, shingles, shingle_pointer, sketches, numbering.codes, longest)


def _pointer(sizes: Int64) -> Int64:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])


def _window_counts(lengths: Int64, length: int) -> Int64:
    """How many windows each name has: one at least, unless it is empty."""
    return np.maximum(lengths - length + 1, np.minimum(lengths, 1))


def _word_counts(characters: UInt32, pointer: Int64) -> Int64:
    """How many words each name has."""
    counts = np.empty(len(pointer) - 1, np.int64)
    over_rows(_count_words, len(counts), characters, pointer, counts)
    return counts


@njit(cache=True, nogil=True)
def mixed(value: Any) -> Any:
    """A 64-bit value with its bits stirred (the finaliser of SplitMix64); one-to-one."""
    value = np.uint64(value)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True, nogil=True)
def _windows(
    first: int, last: int, characters: UInt32, pointer: Int64, length: int, starts: Int64, hashes: UInt64
) -> None:
    """Write the hash of each window of `length` characters, repeats included."""
    for name in range(first, last):
        begin, end = pointer[name], pointer[name + 1]
        for place in range(starts[name + 1] - starts[name]):
            state = np.uint64(0)
            for at in range(begin + place, min(begin + place + length, end)):
                state = mixed(state + np.uint64(characters[at]) + np.uint64(1))
            hashes[starts[name] + place] = state


@njit(cache=True, nogil=True)
def _count_words(first: int, last: int, characters: UInt32, pointer: Int64, counts: Int64) -> None:
    """Write how many words each name has."""
    for name in range(first, last):
        counts[name] = 0
        for at in range(pointer[name], pointer[name + 1]):
            if characters[at] > SPACE and (at == pointer[name] or characters[at - 1] <= SPACE):
                counts[name] += 1


@njit(cache=True, nogil=True)
def _words(first: int, last: int, characters: UInt32, pointer: Int64, starts: Int64, hashes: UInt64) -> None:
    """Write the hash of each word, repeats included."""
    for name in range(first, last):
        at = pointer[name]
        for place in range(starts[name], starts[name + 1]):
            while characters[at] <= SPACE:
                at += 1
            state = np.uint64(0)
            while at < pointer[name + 1] and characters[at] > SPACE:
                state = mixed(state + np.uint64(characters[at]) + np.uint64(1))
                at += 1
            hashes[place] = state


@njit(cache=True, nogil=True)
def _each_once(
    first: int,
    last: int,
    starts: Int64,
    vocabulary: UInt64,
    number_of: Int32,
    numbers: Int32,
    sizes: Int64,
    sketches: UInt64,
) -> None:
    """Replace provisional numbers by final ones, each once in a name and from its start on; sketch them."""
    last_seen_in = np.full(len(vocabulary), -1, np.int32)
    for name in range(first, last):
        end = starts[name]
        for at in range(starts[name], starts[name + 1]):
            number = number_of[numbers[at]]
            if last_seen_in[number] != name:
                last_seen_in[number] = name
                numbers[end] = number
                end += 1
                bit = vocabulary[number] & np.uint64(127)
                sketches[name, np.int64(bit >> np.uint64(6))] |= np.uint64(1) << (bit & np.uint64(63))
        sizes[name] = end - starts[name]


@njit(cache=True, nogil=True)
def _close_up(first: int, last: int, starts: Int64, numbers: Int32, pointer: Int64, shingles: UInt32) -> None:
    """Copy the numbers of each name, without the unused space between names."""
    for name in range(first, last):
        shift = starts[name] - pointer[name]
        for at in range(pointer[name], pointer[name + 1]):
            shingles[at] = numbers[at + shift]
