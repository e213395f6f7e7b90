"""MinHash-LSH: names whose shingle sets overlap share a bucket, found by sorting.

The chance that two sets have the same minimum under a random permutation is their Jaccard similarity. A
*band* joins the minima of a few permutations (its *rows*) into a key; names with the same key in some band
are candidates. The keys of all targets are sorted per band, so a bucket is a run of equal keys.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from largeea.errors import UsageError
from largeea.execution.jobs import over_rows
from largeea.execution.prefetch import prefetch
from largeea.graph import Int32, Int64, UInt32, UInt64
from largeea.names.strings.shingles import NameSets, mixed
from largeea.randomness import generator
from largeea.similarity.arrays import stable_order

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
        points = (mixed.py_func(hashes ^ salt) >> np.uint64(32)).astype(np.uint32)
        flips, factors = random.integers(0, 1 << 32, (2, banding.bands * banding.rows), dtype=np.uint32)
        return cls(points, flips, factors | np.uint32(1), *banding)


class BandIndex(NamedTuple):
    """Sorted band keys, `[bands, n]`, and which name each belongs to: 12.5 bytes a band and name.

    `directory[bands, 2^bits + 1]` tells where the keys with given first bits begin.
    """

    keys: UInt64
    names: Int32
    directory: Int32
    bits: int

    @classmethod
    def build(cls, sets: NameSets, names: Int32, minhash: MinHash) -> BandIndex:
        """Hash the given names and sort them, band by band; equal keys stay in the order of `names`."""
        keys = np.empty((minhash.bands, len(names)), np.uint64)
        owners = np.empty(keys.shape, np.int32)
        bits = max(len(names).bit_length() - 3, 1)
        directory = np.full((minhash.bands, (1 << bits) + 1), len(names), np.int32)
        over_rows(_hash_names, len(names), sets, names, minhash, keys)
        over_rows(_sort_bands, minhash.bands, names, keys, owners, directory, bits, least=1)
        return cls(keys, owners, directory, bits)


def _hash_names(first: int, last: int, sets: NameSets, names: Int32, minhash: MinHash, keys: UInt64) -> None:
    """Write the keys of `names[first:last]`."""
    for start in range(first, last, NAMES_AT_ONCE):
        part = slice(start, min(start + NAMES_AT_ONCE, last))
        keys[:, part] = band_keys(sets, names[part], minhash).T


def _sort_bands(
    first: int, last: int, names: Int32, keys: UInt64, owners: Int32, directory: Int32, bits: int
) -> None:
    """Sort the keys of the bands `first:last`."""
    starts = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    for band in range(first, last):
        order = stable_order(keys[band])
        keys[band] = keys[band][order]
        owners[band] = names[order]
        directory[band, :-1] = np.searchsorted(keys[band], starts)


def band_keys(sets: NameSets, names: Int32, minhash: MinHash) -> UInt64:
    """Keys of the given names, `[names, bands]`.

    The upper 32 bits are the bucket: a hash of the band's rows. The lower 32 bits are 16 each of the two
    minima that follow the band: names in one bucket are sorted by them, and an overfull bucket is narrowed
    to those who agree in them too.
    """
    keys = np.empty((len(names), minhash.bands), np.uint64)
    _write_keys(sets, names, minhash, np.empty(len(minhash.flips), np.uint32), keys)
    return keys


@njit(cache=True, nogil=True)
def _write_keys(sets: NameSets, names: Int32, minhash: MinHash, minima: UInt32, keys: UInt64) -> None:
    """Write the keys of the given names; `minima[permutations]` is working space."""
    points, flips, factors = minhash.points, minhash.flips, minhash.factors
    for i in range(len(names)):
        for p in range(len(minima)):
            minima[p] = np.uint32(0xFFFFFFFF)
        for at in range(sets.shingle_pointer[names[i]], sets.shingle_pointer[names[i] + 1]):
            point = points[sets.shingles[at]]
            for p in range(len(minima)):
                minima[p] = min(minima[p], np.uint32((point ^ flips[p]) * factors[p]))
        for band in range(minhash.bands):
            hashed = np.uint64(0)
            after = (band + 1) * minhash.rows
            for row in range(after - minhash.rows, after):
                hashed = mixed(hashed + np.uint64(minima[row]))
            key = (hashed >> np.uint64(32)) << np.uint64(32)
            key |= np.uint64(minima[after % len(minima)] >> np.uint32(16)) << np.uint64(16)
            key |= np.uint64(minima[(after + 1) % len(minima)] >> np.uint32(16))
            keys[i, band] = key


@njit(cache=True, nogil=True)
def prefetch_directory(keys: UInt64, index: BandIndex) -> None:
    """Load where the buckets of some `keys[bands]` begin into the cache."""
    for band in range(len(keys)):
        prefetch(index.directory[band], np.int64(keys[band] >> np.uint64(64 - index.bits)))


@njit(cache=True, nogil=True)
def prefetch_buckets(keys: UInt64, index: BandIndex) -> None:
    """Load the beginnings of the buckets of some `keys[bands]` into the cache."""
    for band in range(len(keys)):
        begin = index.directory[band, np.int64(keys[band] >> np.uint64(64 - index.bits))]
        prefetch(index.keys[band], begin)
        prefetch(index.names[band], begin)


@njit(cache=True, nogil=True)
def gather(
    name: int, keys: UInt64, index: BandIndex, most: int, seen_by: Int32, found: Int32, looked_up: Int64
) -> int:
    """Write all names that share a bucket with `name` and its `keys[bands]` into `found`; say how many.

    From a bucket of more than `most` names those nearest to the place of `name` are taken: names that agree
    in the lower bits, too, and among them the next in the order of the names. `seen_by[names]` tells who was
    found before; `looked_up[2]` counts buckets, and those too large.
    """
    sorted_keys, owners, directory = index.keys, index.names, index.directory
    low = np.uint64(0xFFFFFFFF)
    count = 0
    for band in range(len(keys)):
        key = keys[band]
        slot = np.int64(key >> np.uint64(64 - index.bits))
        begin, end = np.int64(directory[band, slot]), np.int64(directory[band, slot + 1])
        start = _place(sorted_keys, band, key & ~low, begin, end, False)
        end = _place(sorted_keys, band, key | low, start, end, True)
        looked_up[0] += 1
        if end - start > most:
            looked_up[1] += 1
            middle = _place(sorted_keys, band, key, start, end, False)
            after_equal = _place(sorted_keys, band, key, middle, end, True)
            while middle < after_equal:
                half = (middle + after_equal) >> 1
                if owners[band, half] < name:
                    middle = half + 1
                else:
                    after_equal = half
            start = min(max(start, middle - most // 2), end - most)
            end = start + most
        for at in range(start, end):
            other = owners[band, at]
            if seen_by[other] != name:
                seen_by[other] = name
                found[count] = other
                count += 1
    return count


@njit(cache=True, nogil=True)
def _place(keys: UInt64, band: int, key: int, start: int, end: int, after_equal: bool) -> int:
    """Where a key belongs in the sorted part `start : end` of a band, before or after its equals."""
    while start < end:
        middle = (start + end) >> 1
        if keys[band, middle] < key or (after_equal and keys[band, middle] == key):
            start = middle + 1
        else:
            end = middle
    return start
