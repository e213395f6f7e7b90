"""Names as sets: what MinHash hashes and Jaccard compares.

A name is kept as its characters (for Levenshtein) and as its set of shingles: all windows of a few
characters, or its words. Shingles are numbered, so that a set is a short run of uint32 and two sets
are compared by looking numbers up.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numba import njit

from largeea.graph import Int64, Strings
from largeea.names.characters import code_points

UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
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
        hashes, hash_pointer = np.empty(len(characters), np.uint64), np.zeros_like(pointer)
        if shingle == "words":
            _words(characters, pointer, hashes, hash_pointer)
        else:
            _windows(characters, pointer, shingle, hashes, hash_pointer)
        numbered = pa.array(hashes[: hash_pointer[-1]]).dictionary_encode()
        vocabulary = numbered.dictionary.to_numpy()
        shingles = numbered.indices.to_numpy().view(np.uint32).copy()
        sketches, last_seen_in = np.zeros((len(names), 2), np.uint64), np.full(len(vocabulary), -1, np.int64)
        shingle_pointer = np.zeros_like(pointer)
        _each_once(hash_pointer, vocabulary, last_seen_in, shingles, shingle_pointer, sketches)
        longest = int(np.diff(pointer).max(initial=0))
        return cls(
            characters,
            pointer,
            shingles[: shingle_pointer[-1]],
            shingle_pointer,
            sketches,
            vocabulary,
            longest,
        )


@njit(cache=True, nogil=True)
def mixed(value: Any) -> Any:
    """A 64-bit value with its bits stirred (the finaliser of SplitMix64); one-to-one."""
    value = np.uint64(value)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@njit(cache=True, nogil=True)
def _windows(characters: UInt32, pointer: Int64, length: int, hashes: UInt64, ends: Int64) -> None:
    """Write the hash of each window of `length` characters, repeats included, and where each name's end."""
    count = 0
    for name in range(len(pointer) - 1):
        start, end = pointer[name], pointer[name + 1]
        for first in range(start, max(end - length + 1, min(start + 1, end))):
            state = np.uint64(0)
            for at in range(first, min(first + length, end)):
                state = mixed(state + np.uint64(characters[at]) + np.uint64(1))
            hashes[count] = state
            count += 1
        ends[name + 1] = count


@njit(cache=True, nogil=True)
def _words(characters: UInt32, pointer: Int64, hashes: UInt64, ends: Int64) -> None:
    """Write the hash of each word, repeats included, and where each name's words end."""
    count = 0
    for name in range(len(pointer) - 1):
        state = np.uint64(0)
        inside = False
        for at in range(pointer[name], pointer[name + 1]):
            if characters[at] > SPACE:
                state = mixed(state + np.uint64(characters[at]) + np.uint64(1))
                inside = True
            if inside and (characters[at] <= SPACE or at == pointer[name + 1] - 1):
                hashes[count] = state
                count += 1
                state = np.uint64(0)
                inside = False
        ends[name + 1] = count


@njit(cache=True, nogil=True)
def _each_once(
    pointer: Int64, vocabulary: UInt64, last_seen_in: Int64, numbers: UInt32, ends: Int64, sketches: UInt64
) -> None:
    """Drop repeats from every name's numbers, in place, write where each name's end, and sketch them.

    `last_seen_in[vocabulary]` is working space, all -1.
    """
    count = 0
    for name in range(len(pointer) - 1):
        for at in range(pointer[name], pointer[name + 1]):
            number = numbers[at]
            if last_seen_in[number] != name:
                last_seen_in[number] = name
                numbers[count] = number
                count += 1
                bit = vocabulary[number] & np.uint64(127)
                sketches[name, bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
        ends[name + 1] = count
