"""MinHash-LSH: names whose shingle sets overlap share a bucket, found by sorting.

The chance that two sets have the same minimum under a random permutation is their Jaccard similarity. A
*band* joins the minima of a few permutations (its *rows*) into a key; names with the same key in some band
are candidates. The keys of all targets are sorted per band, so a bucket is a run of equal keys.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any, NamedTuple

import numpy as np

from largeea.compiled import compiled
from largeea.errors import UsageError
from largeea.graph import Int32, Int64
from largeea.names.strings.shingles import NameSets, UInt32, UInt64, mixed
from largeea.randomness import generator

NAMES_AT_ONCE = 4096


class Banding(NamedTuple):
    """How many bands of how many rows."""

    bands: int
    rows: int

    def recall(self, jaccard: float) -> float:
        """The chance that a pair of this similarity shares a bucket."""
        return float(1 - (1 - jaccard**self.rows) ** self.bands)

    @classmethod
    def choose(cls, theta: float, permutations: int, recall: float) -> Banding:
        """As many rows as `recall` at `theta` allows: more rows, fewer pairs to verify in vain."""
        choices = [cls(permutations // rows, rows) for rows in range(permutations, 0, -1)]
        for banding in choices:
            if banding.recall(theta) >= recall:
                return banding
        raise UsageError(
            f"{permutations} permutations find a pair of Jaccard similarity theta = {theta} with a chance of "
            f"at most {choices[-1].recall(theta):.3f}, not {recall}; give more permutations, a higher theta "
            f"or a lower recall"
        )


class MinHash(NamedTuple):
    """Random permutations of 32-bit numbers, `x -> (x ^ flips) * factors`, and where each shingle lies.

    `flips` and `factors` are `[permutations]`, factors odd; `points[vocabulary]` is drawn from the shingle's
    content and the seed, so it depends on no order.
    """

    points: UInt32
    flips: UInt32
    factors: UInt32
    bands: int
    rows: int

    @classmethod
    def draw(cls, hashes: UInt64, banding: Banding, seed: int) -> MinHash:
        """Permutations and points of a seed, for shingles of given content."""
        random = generator(seed, "minhash")
        salt = random.integers(0, 1 << 64, dtype=np.uint64)
        points = (_mixed_all(hashes ^ salt) >> np.uint64(32)).astype(np.uint32)
        flips, factors = random.integers(0, 1 << 32, (2, banding.bands * banding.rows), dtype=np.uint32)
        return cls(points, flips, factors | np.uint32(1), *banding)


class BandIndex(NamedTuple):
    """Sorted band keys, `[bands, n]`, and which name each belongs to: 12.5 bytes a band and name.

    `directory[bands, 2^bits + 1]` says where the keys begin that start with given bits.
    """

    keys: UInt64
    names: Int32
    directory: Int32
    bits: int

    @classmethod
    def build(cls, sets: NameSets, names: Int32, minhash: MinHash, pool: Executor) -> BandIndex:
        """Hash the given names and sort them, band by band; equal keys stay in the order of `names`."""
        keys = np.empty((minhash.bands, len(names)), np.uint64)
        owners = np.empty(keys.shape, np.int32)
        bits = max(len(names).bit_length() - 3, 1)
        starts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
        directory = np.full((minhash.bands, len(starts) + 1), len(names), np.int32)

        def hash_part(start: int) -> None:
            part = slice(start, start + NAMES_AT_ONCE)
            keys[:, part] = band_keys(sets, names[part], minhash).T

        def sort_band(band: int) -> None:
            order = np.argsort(keys[band], kind="stable")
            keys[band] = keys[band][order]
            owners[band] = names[order]
            directory[band, :-1] = np.searchsorted(keys[band], starts)

        list(pool.map(hash_part, range(0, len(names), NAMES_AT_ONCE)))
        list(pool.map(sort_band, range(minhash.bands)))
        return cls(keys, owners, directory, bits)


@compiled()
def _mixed_all(values: UInt64) -> UInt64:
    result = np.empty_like(values)
    for i in range(len(values)):
        result[i] = mixed(values[i])
    return result


@compiled(nogil=True)
def band_keys(sets: NameSets, names: Int32, minhash: MinHash) -> UInt64:
    """Keys of the given names, `[names, bands]`.

    The upper 32 bits are the bucket: a hash of the band's rows. The lower 32 bits are 16 each of the two
    minima that follow the band: names in one bucket are sorted by them, and an overfull bucket is narrowed
    to those who agree in them too.
    """
    minima = np.empty(len(minhash.flips), np.uint32)
    keys = np.empty((len(names), minhash.bands), np.uint64)
    for i in range(len(names)):
        shingles = sets.shingles[sets.shingle_pointer[names[i]] : sets.shingle_pointer[names[i] + 1]]
        signature(shingles, minhash.points, minhash.flips, minhash.factors, minima)
        for band in range(minhash.bands):
            hashed = np.uint64(0)
            after = (band + 1) * minhash.rows
            for row in range(after - minhash.rows, after):
                hashed = mixed(hashed + np.uint64(minima[row]))
            key = (hashed >> np.uint64(32)) << np.uint64(32)
            key |= np.uint64(minima[after % len(minima)] >> np.uint32(16)) << np.uint64(16)
            key |= np.uint64(minima[(after + 1) % len(minima)] >> np.uint32(16))
            keys[i, band] = key
    return keys


@compiled(nogil=True)
def signature(shingles: UInt32, points: UInt32, flips: UInt32, factors: UInt32, minima: UInt32) -> None:
    """Write the minimum of a set under every permutation into `minima[permutations]`."""
    minima[:] = np.uint32(0xFFFFFFFF)
    for shingle in shingles:
        point = points[shingle]
        for p in range(len(minima)):
            minima[p] = min(minima[p], np.uint32((point ^ flips[p]) * factors[p]))


@compiled(nogil=True)
def gather(
    name: int, keys: UInt64, index: BandIndex, most: int, seen_by: Int32, found: Int32, looked_up: Int64
) -> int:
    """Write all names that share a bucket with `name` and its `keys[bands]` into `found`; say how many.

    From a bucket of more than `most` names those in the middle of which `name` would stand are taken: who
    agrees in the lower bits, too, stands nearest, and of those the next in the order of the names.
    `seen_by[names]` tells who was found before; `looked_up[2]` counts buckets, and those too large.
    """
    sorted_keys, owners, directory = index.keys, index.names, index.directory
    low = np.uint64(0xFFFFFFFF)
    count = 0
    for band in range(len(keys)):
        key = keys[band]
        slot = np.int64(key >> np.uint64(64 - index.bits))
        start, end = directory[band, slot], directory[band, slot + 1]
        start = _place(sorted_keys, band, key & ~low, start, end, False)
        end = _place(sorted_keys, band, key | low, start, end, True)
        looked_up[0] += 1
        if end - start > most:
            looked_up[1] += 1
            first_equal = _place(sorted_keys, band, key, start, end, False)
            after_equal = _place(sorted_keys, band, key, first_equal, end, True)
            middle = _place(owners, band, name, first_equal, after_equal, False)
            start = min(max(start, middle - most // 2), end - most)
            end = start + most
        for at in range(start, end):
            other = owners[band, at]
            if seen_by[other] != name:
                seen_by[other] = name
                found[count] = other
                count += 1
    return count


@compiled(nogil=True)
def _place(rows: Any, row: int, value: Any, start: int, end: int, after_equal: bool) -> int:
    """Where `value` belongs in the sorted part `start : end` of a row, before or after its equals."""
    while start < end:
        middle = (start + end) >> 1
        if rows[row, middle] < value or (after_equal and rows[row, middle] == value):
            start = middle + 1
        else:
            end = middle
    return start
