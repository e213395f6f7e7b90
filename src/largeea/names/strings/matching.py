"""From shared buckets to scored pairs: candidates are verified, measured and the best kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from largeea.compiled import compiled
from largeea.graph import Float32, Int32, Int64
from largeea.names.strings.levenshtein import CODE_POINTS, levenshtein
from largeea.names.strings.minhash import BandIndex, gather
from largeea.names.strings.shingles import NameSets, UInt64


class Bearers(NamedTuple):
    """Which entities bear name i: `entities[pointer[i] : pointer[i + 1]]`, ascending."""

    entities: Int32
    pointer: Int64


class Limits(NamedTuple):
    """`theta`, the pairs kept of each source, and the targets looked at in one bucket."""

    theta: float
    candidates: int
    bucket: int


class Matches(NamedTuple):
    """What became of some names: pairs kept of each, `[names]`; the pairs; buckets looked up and too large.

    A pair is packed: the upper half is the target entity, the lower the complement of the score's bits. As
    whole numbers, complemented float32 bits of scores in [0, 1] sort from best to worst, so pairs with their
    halves swapped sort by score, then by entity.
    """

    counts: Int64
    pairs: UInt64
    looked_up: Int64


@compiled(nogil=True)
def match(
    names: Int32, keys: UInt64, sets: NameSets, index: BandIndex, bearers: Bearers, limits: Limits
) -> Matches:
    """Match source names, whose band keys are `keys[names, bands]`, with the target names in the index.

    The pairs of a name are sorted by target entity; `bearers` are those of the target names.
    """
    text, text_pointer = sets.characters, sets.character_pointer
    shingles, pointer, sketches = sets.shingles, sets.shingle_pointer, sets.sketches
    entities, entity_pointer = bearers.entities, bearers.pointer
    found = np.empty(len(sketches), np.int32)
    seen_by = np.full(len(sketches), -1, np.int32)
    in_name = np.zeros(len(sets.hashes), np.uint8)
    places = np.zeros(CODE_POINTS, np.uint64)
    steps = np.empty(sets.longest, np.int8)
    score = np.empty(1, np.float32)
    score_bits = score.view(np.uint32)
    kept = np.empty(1024, np.uint64)
    counts = np.zeros(len(names), np.int64)
    looked_up = np.zeros(2, np.int64)
    share = limits.theta / (1 + limits.theta)  # of both sizes: what sets of Jaccard similarity theta share
    end = 0
    for i in range(len(names)):
        name = names[i]
        size = pointer[name + 1] - pointer[name]
        text_start, text_end = text_pointer[name], text_pointer[name + 1]
        first = end
        for at in range(pointer[name], pointer[name + 1]):
            in_name[shingles[at]] = 1
        for candidate in range(gather(name, keys[i], index, limits.bucket, seen_by, found, looked_up)):
            other = found[candidate]
            other_size = pointer[other + 1] - pointer[other]
            if _most_shared(sketches, name, size, other, other_size) < share * (size + other_size) - 1e-6:
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
                    kept = np.concatenate((kept, np.empty_like(kept)))
                kept[end] = rank | np.uint64(entities[at])
                end += 1
        for at in range(pointer[name], pointer[name + 1]):
            in_name[shingles[at]] = 0
        end = first + _keep_best(kept[first:end], limits.candidates)
        counts[i] = end - first
    return Matches(counts, kept[:end].copy(), looked_up)


@compiled(nogil=True)
def _keep_best(pairs: UInt64, most: int) -> int:
    """Move the best pairs to the front, halves swapped, by ascending entity; say how many they are."""
    if len(pairs) > most:
        pairs[:most] = np.partition(pairs, most - 1)[:most]
    best = pairs[:most]
    for i in range(len(best)):
        best[i] = (best[i] << np.uint64(32)) | (best[i] >> np.uint64(32))
    best.sort()
    return len(best)


@compiled()
def copy_rows(
    names: Int32, matches: Matches, bearers: Bearers, indptr: Int64, targets: Int32, scores: Float32
) -> None:
    """Unpack the pairs of each matched name into the rows of all who bear it."""
    score_bits = scores.view(np.uint32)
    start = 0
    for i in range(len(names)):
        end = start + matches.counts[i]
        for at in range(bearers.pointer[names[i]], bearers.pointer[names[i] + 1]):
            row = indptr[bearers.entities[at]] - start
            for pair in range(start, end):
                targets[row + pair] = matches.pairs[pair] >> np.uint64(32)
                score_bits[row + pair] = ~np.uint32(matches.pairs[pair])
        start = end


@compiled(nogil=True)
def _most_shared(sketches: UInt64, a: int, size_a: int, b: int, size_b: int) -> int:
    """An upper bound of the shingles two sets share: each bit of one sketch alone is a shingle not shared."""
    for word in range(2):
        size_a -= _ones(sketches[a, word] & ~sketches[b, word])
        size_b -= _ones(sketches[b, word] & ~sketches[a, word])
    return min(size_a, size_b)


@compiled(nogil=True)
def _ones(word: Any) -> int:
    """Bits set in a 64-bit word, in the form compilers turn into one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int(np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56)))
