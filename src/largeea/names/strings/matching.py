"""From shared buckets to scored pairs: candidates are verified, measured and the best kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from largeea.execution.prefetch import prefetch
from largeea.graph import Arrays, Int32, Int64, UInt64
from largeea.names.strings.levenshtein import CODE_POINTS, levenshtein
from largeea.names.strings.minhash import (
    BandIndex,
    MinHash,
    band_keys,
    gather,
    prefetch_buckets,
    prefetch_directory,
)
from largeea.names.strings.shingles import NameSets
from largeea.search.sorting import move_smallest, sort_range

AHEAD = 8
"""Candidates between the one whose sketch is asked for and the one that is looked at."""


class Bearers(NamedTuple):
    """Which entities bear name i: `entities[pointer[i] : pointer[i + 1]]`, ascending."""

    entities: Int32
    pointer: Int64

    @classmethod
    def of(cls, name_of: Int32, names: int) -> Bearers:
        """Given the name of each entity (-1: none) and the number of names."""
        pointer = np.zeros(names + 1, np.int64)
        _count_bearers(name_of, pointer[1:])
        np.cumsum(pointer, out=pointer)
        entities = np.empty(pointer[-1], np.int32)
        _write_bearers(name_of, pointer[:-1].copy(), entities)
        return cls(entities, pointer)

    def borne(self) -> Int32:
        """The names that some entity bears, ascending."""
        return np.flatnonzero(np.diff(self.pointer)).astype(np.int32)


@njit(cache=True, nogil=True)
def _count_bearers(name_of: Int32, counts: Int64) -> None:
    """Add the number of entities that bear each name to `counts`."""
    for name in name_of:
        if name >= 0:
            counts[name] += 1


@njit(cache=True, nogil=True)
def _write_bearers(name_of: Int32, places: Int64, entities: Int32) -> None:
    """Write the entities of each name from its place on, which moves."""
    for entity in range(len(name_of)):
        name = name_of[entity]
        if name >= 0:
            entities[places[name]] = entity
            places[name] += 1


class Limits(NamedTuple):
    """`theta`, the pairs kept of each source, and the targets looked at in one bucket."""

    theta: float
    candidates: int
    bucket: int


class Scratch(NamedTuple):
    """Working space of a job.

    `found` and `seen_by` are for `gather`, `places` and `steps` for `levenshtein`. `in_name[vocabulary]`
    marks the shingles of the name at hand.
    """

    found: Int32
    seen_by: Int32
    in_name: npt.NDArray[np.uint8]
    places: UInt64
    steps: npt.NDArray[np.int8]

    @classmethod
    def of(cls, sets: NameSets) -> Scratch:
        """Working space for names of these sets."""
        names = len(sets.sketches)
        return cls(
            np.empty(names, np.int32),
            np.full(names, -1, np.int32),
            np.zeros(len(sets.hashes), np.uint8),
            np.zeros(CODE_POINTS, np.uint64),
            np.empty(sets.longest, np.int8),
        )


def match_block(
    first: int,
    last: int,
    names: Int32,
    sets: NameSets,
    minhash: MinHash,
    index: BandIndex,
    bearers: Bearers,
    limits: Limits,
) -> Arrays:
    """Match the source names `names[first:last]` with the target names in the index.

    How many pairs each name has, the target entities of all pairs, ascending for each name, and their scores;
    how many buckets were looked up, and how many of them were too large. `bearers` are those of target names.
    """
    part = names[first:last]
    counts, looked_up = np.zeros(len(part), np.int64), np.zeros(2, np.int64)
    keys = band_keys(sets, part, minhash)
    pairs = _match(part, keys, sets, index, bearers, limits, Scratch.of(sets), counts, looked_up)
    pairs = pairs[: counts.sum()]
    targets = (pairs >> np.uint64(32)).astype(np.int32)
    scores = (~pairs.astype(np.uint32)).view(np.float32)
    return {"counts": counts, "targets": targets, "scores": scores, "looked_up": looked_up}


@njit(cache=True, nogil=True)
def _match(
    names: Int32,
    keys: UInt64,
    sets: NameSets,
    index: BandIndex,
    bearers: Bearers,
    limits: Limits,
    scratch: Scratch,
    counts: Int64,
    looked_up: Int64,
) -> UInt64:
    """The pairs of names whose band keys are `keys[names, bands]`, each packed into an integer.

    The upper half is the target entity, the lower the complement of the score's float32 bits. The pairs of a
    name are sorted by entity. With their halves swapped, pairs sort by score, best first, then by entity.
    """
    text, text_pointer = sets.characters, sets.character_pointer
    shingles, pointer, sketches = sets.shingles, sets.shingle_pointer, sets.sketches
    entities, entity_pointer = bearers.entities, bearers.pointer
    found, seen_by, in_name, places, steps = scratch
    score = np.empty(1, np.float32)
    score_bits = score.view(np.uint32)
    kept = np.empty(1024, np.uint64)
    share = limits.theta / (1 + limits.theta)  # of both sizes: what sets of Jaccard similarity theta share
    end = np.int64(0)
    for i in range(len(names)):
        name = names[i]
        if i + 1 < len(names):
            prefetch_buckets(keys[i + 1], index)
        if i + 2 < len(names):
            prefetch_directory(keys[i + 2], index)
        size = pointer[name + 1] - pointer[name]
        text_start, text_end = text_pointer[name], text_pointer[name + 1]
        first = end
        for at in range(pointer[name], pointer[name + 1]):
            in_name[shingles[at]] = 1
        gathered = gather(name, keys[i], index, limits.bucket, seen_by, found, looked_up)
        for candidate in range(gathered):
            later = found[min(candidate + AHEAD, gathered - 1)]
            prefetch(sketches, later)
            prefetch(pointer, later)
            other = found[candidate]
            other_size = pointer[other + 1] - pointer[other]
            if most_shared(sketches, name, size, other, other_size) < share * (size + other_size) - 1e-6:
                continue
            shared = 0
            for at in range(pointer[other], pointer[other + 1]):
                shared += in_name[shingles[at]]
            if shared == 0 or shared / (size + other_size - shared) < limits.theta:
                continue
            other_start, other_end = text_pointer[other], text_pointer[other + 1]
            distance = levenshtein(text, text_start, text_end, other_start, other_end, places, steps)
            score[0] = 1 - distance / max(text_end - text_start, other_end - other_start)
            rank = np.uint64(~score_bits[0]) << np.uint64(32)
            start = entity_pointer[other]
            for at in range(start, min(entity_pointer[other + 1], start + limits.candidates)):
                if end == len(kept):
                    larger = np.empty(2 * end, np.uint64)
                    for place in range(end):
                        larger[place] = kept[place]
                    kept = larger
                kept[end] = rank | np.uint64(entities[at])
                end += 1
        for at in range(pointer[name], pointer[name + 1]):
            in_name[shingles[at]] = 0
        if end - first > limits.candidates:
            move_smallest(kept, first, end, limits.candidates)
            end = first + limits.candidates
        for at in range(first, end):
            kept[at] = (kept[at] << np.uint64(32)) | (kept[at] >> np.uint64(32))
        sort_range(kept, first, end)
        counts[i] = end - first
    return kept


@njit(cache=True, nogil=True)
def most_shared(sketches: UInt64, a: int, size_a: int, b: int, size_b: int) -> int:
    """An upper bound of the shingles two sets share: each bit of one sketch alone is a shingle not shared."""
    for word in range(2):
        size_a -= ones(sketches[a, word] & ~sketches[b, word])
        size_b -= ones(sketches[b, word] & ~sketches[a, word])
    return min(size_a, size_b)


@njit(cache=True, nogil=True)
def ones(word: Any) -> int:
    """Bits set in a 64-bit word, in the form compilers turn into one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56)))
