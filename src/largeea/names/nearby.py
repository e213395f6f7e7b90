"""Names of targets near a source: those that share a neighbour with it, although their names rank low.

A search by name keeps the most similar of all targets. Where the surroundings leave few targets to choose
from, a name may tell which one is right without being among the most similar.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numba import njit

from largeea.execution.jobs import in_order, over_rows, row_blocks, run_jobs
from largeea.execution.prefetch import prefetch, prefetch_row
from largeea.execution.shards import Shards
from largeea.graph import Arrays, Float32, Int32, Int64, UInt64
from largeea.names.blocks import ROWS_PER_JOB, fold
from largeea.names.cutting import Words
from largeea.names.equal import BONUS
from largeea.names.lexicon import Lexicon
from largeea.names.rows import Columns, NameRows, Names
from largeea.names.semantic import SIDES, Vectors, compared_texts
from largeea.names.strings.matching import ones
from largeea.names.words import averaged_with_words, compared_words
from largeea.similarity import Similarity
from largeea.similarity.blocks import block_arrays, stacked
from largeea.similarity.local_order import local_order_of_rows, places_of

NEARBY = 4
"""Targets with shared neighbours whose names are compared, for every one that is kept as evidence."""
LIKELY = 8
"""Of these, the ones whose n-grams are weighed, for every one that is added."""
PROMISING = 2
"""Of these, the ones that are compared word by word, for every one that is added."""
BYTES_PER_PAIR = 36
FILL = 0.6
"""Of the nearby targets that a source may have, the share that is taken to be found."""
AHEAD = 4
"""Pairs between the one whose target is asked for and the one that is compared."""
SIGNATURE = 16
"""64-bit words of the signature of a name: with 50 n-grams in 1,024 bits, few of them share a bit."""


class NearbyNames:
    """Compares the names of entities that share neighbours, as the whole name channel does.

    The scores are those of the channel with its bonus for equal names: n-grams, words and, if there is an
    encoder, its `vectors`. Only the string feature is left out; it knows similar spellings alone.
    """

    def __init__(
        self,
        rows: Columns,
        ngrams: Arrays,
        vectors: Vectors | None,
        discount_brackets: bool,
        ngram_weight: float,
        string_weight: float,
    ) -> None:
        self._names = Names.from_columns(rows)
        self._words = compared_words(self._names, *compared_texts(self._names, discount_brackets))
        self._signatures = [_signatures(ngrams, side) for side in SIDES] if vectors is None else None
        self._ngrams, self._ngram_weight = ngrams, ngram_weight
        self._vectors = None if vectors is None else _of_readings(vectors, self._names)
        self._scale = np.float32(1 / ((1 + string_weight) * (1 + BONUS)))

    def best(self, nearby: Similarity, names: Similarity, per_source: int) -> Similarity:
        """The `per_source` targets of `nearby` with the most similar names, of those that `names` lacks."""
        pairs = _of_names(nearby, self._names)
        how = self._ngram_weight, PROMISING * per_source, LIKELY * per_source
        order = local_order_of_rows(pairs.indptr, pairs.indices)  # names are looked up that are in the cache
        blocks, ordered = row_blocks(len(order), most=ROWS_PER_JOB), pairs.take(order)
        rows = Shards(tuple(order[first:last] for first, last in blocks))
        parts = Shards(tuple(ordered.block(first, last) for first, last in blocks))
        shared = (
            rows, parts, len(order), self._ngrams, self._vectors, self._signatures, self._words, how,
        )  # fmt: skip
        compared = in_order(run_jobs(compare_block, blocks, *shared, stored=False))
        semantic = stacked(compared, pairs.shape).take(places_of(order))
        scored = _with_scores(semantic, semantic.scores * self._scale)
        found = fold(self._names, scored, PROMISING * per_source)
        there = names.scores_on(found) > names.floor
        return _with_scores(found, np.where(there, np.float32(0), found.scores)).top_k(per_source)


def compare_block(
    first: int,
    last: int,
    rows: Int32,
    pairs: Similarity,
    sources: int,
    ngrams: Arrays,
    vectors: Vectors | None,
    signatures: Sequence[UInt64] | None,
    words: tuple[Words, Lexicon],
    how: tuple[float, int, int],
) -> Arrays:
    """The most promising of the `pairs` of some names, `rows`, of so many `sources` in all.

    Their scores are those by n-grams, words and vectors.
    """
    ngram_weight, promising, likely = how
    if signatures is not None:
        ours, theirs = signatures
        pairs = _sharing_ngrams(pairs, ours[rows], theirs, ngrams).top_k(likely)
    by_ngrams = _by_ngrams(pairs, rows, ngrams)
    by_vectors = None if vectors is None else _by_vectors(pairs, rows, vectors)
    estimate = by_ngrams if by_vectors is None else _mean(by_vectors, by_ngrams, ngram_weight)
    best = estimate.top_k(promising)
    semantic = averaged_with_words(_on(by_ngrams, best), rows, sources, *words)
    if by_vectors is not None:
        semantic = _mean(_on(by_vectors, best), semantic, ngram_weight)
    return block_arrays(semantic)


def sources_at_once(nearby: int, memory: int) -> int:
    """Source entities whose pairs with up to `nearby` targets fit into a fifth of the memory limit."""
    return max(1, int(memory / (5 * BYTES_PER_PAIR * FILL * nearby)))


def nearby_names_memory(entries: int, characters: int, pairs: int, kept: int) -> int:
    """Bytes that comparing nearby names needs at its peak, given the entries of the n-gram vectors.

    `pairs` are those that are compared at once, `kept` those of the name channel.
    """
    return 8 * entries + 16 * characters + BYTES_PER_PAIR * pairs + 16 * kept


def _of_names(entities: Similarity, known: Names) -> Similarity:
    """From pairs of entities to all pairs of their names, `[source rows, target rows]`."""
    if (len(known.source), len(known.target)) == entities.shape:
        return entities
    pattern = sp.csr_array(
        (np.ones(len(entities), np.float32), entities.indices, entities.indptr), shape=entities.shape
    )
    pairs = (_owner(known.source) @ pattern @ _owner(known.target).T).tocsr()
    return Similarity.from_scipy(pairs)


def _of_readings(vectors: Vectors, known: Names) -> Vectors:
    """The vectors of all names: other readings of a name have the vector of its text."""
    written = {"source": known.source.written, "target": known.target.written}
    return {side: vectors[side][rows] if len(rows) else vectors[side] for side, rows in written.items()}


def _owner(side: NameRows) -> sp.csr_array:
    """Which entity each name belongs to, `[rows, entities]`."""
    count = len(side)
    return sp.csr_array(
        (np.ones(count, np.float32), (np.arange(count), side.entity)), shape=(count, side.size)
    )


def _sharing_ngrams(pairs: Similarity, source: UInt64, target: UInt64, ngrams: Arrays) -> Similarity:
    """How many n-grams the names of each pair share, relative to those of the target, by their signatures.

    Ten times as fast as cosines. Of the ten highest cosines among 100 pairs, 97 % are among the 40 best.
    """
    shared = np.empty(len(pairs), np.float32)
    counts = ngrams["target_indptr"]
    over_rows(_bits_shared, pairs.shape[0], pairs.indptr, pairs.indices, source, target, counts, shared)
    return _with_scores(pairs, shared)


def _signatures(ngrams: Arrays, side: str) -> UInt64:
    """A bit set for each n-gram of a name, `[names, SIGNATURE]`."""
    pointers = ngrams[f"{side}_indptr"]
    signatures = np.zeros((len(pointers) - 1, SIGNATURE), np.uint64)
    over_rows(_set_bits, len(signatures), pointers, ngrams[f"{side}_indices"], signatures)
    return signatures


def _by_ngrams(pairs: Similarity, rows: Int32, ngrams: Arrays) -> Similarity:
    """The cosines of the n-gram vectors of the pairs of some names."""
    cosines = np.empty(len(pairs), np.float32)
    source, target = ([ngrams[f"{side}_{part}"] for part in ("indptr", "indices", "data")] for side in SIDES)
    width = int(ngrams["width"][0])
    over_rows(
        _sparse_products, len(rows), rows, pairs.indptr, pairs.indices, width, *source, *target, cosines
    )
    return _with_scores(pairs, cosines)


def _by_vectors(pairs: Similarity, rows: Int32, vectors: Vectors) -> Similarity:
    """The cosines of the encoder's vectors of the pairs of some names, 0 at least."""
    cosines = np.empty(len(pairs), np.float32)
    source = vectors["source"][rows].astype(np.float32, copy=False)
    columns, places = np.unique(pairs.indices, return_inverse=True)
    target = vectors["target"][columns].astype(np.float32, copy=False)
    over_rows(_dense_products, pairs.shape[0], pairs.indptr, places.astype(np.int32), source, target, cosines)
    return _with_scores(pairs, np.clip(cosines, 0, 1))


def _mean(one: Similarity, other: Similarity, weight: float) -> Similarity:
    """`(one + weight * other) / (1 + weight)`, for matrices of the same pairs."""
    total = one.scores + np.float32(weight) * other.scores
    return _with_scores(one, np.asarray(total / np.float32(1 + weight), np.float32))


def _on(matrix: Similarity, pattern: Similarity) -> Similarity:
    return _with_scores(pattern, matrix.scores_on(pattern))


def _with_scores(pairs: Similarity, scores: Float32) -> Similarity:
    return Similarity(pairs.shape, pairs.indptr, pairs.indices, scores)


@njit(cache=True, nogil=True)
def _set_bits(first: int, last: int, indptr: Int64, indices: Int32, signatures: UInt64) -> None:
    """Write the signatures of the rows `first:last`."""
    for row in range(first, last):
        for at in range(indptr[row], indptr[row + 1]):
            spread = np.uint64(indices[at]) * np.uint64(0x9E3779B97F4A7C15)
            word = spread >> np.uint64(32) & np.uint64(SIGNATURE - 1)
            signatures[row, word] |= np.uint64(1) << (spread >> np.uint64(58))


@njit(cache=True, nogil=True)
def _bits_shared(
    first: int,
    last: int,
    indptr: Int64,
    indices: Int32,
    source: UInt64,
    target: UInt64,
    pointers: Int64,
    shares: Float32,
) -> None:
    """Write the bits that both names of a pair have, over the root of the target's n-grams, `first:last`."""
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            prefetch_row(target, indices[min(entry + AHEAD, indptr[row + 1] - 1)])
            other, shared = indices[entry], 0
            for word in range(SIGNATURE):
                shared += ones(source[row, word] & target[other, word])
            shares[entry] = shared / np.sqrt(max(pointers[other + 1] - pointers[other], 1))


@njit(cache=True, nogil=True)
def _sparse_products(
    first: int,
    last: int,
    rows: Int32,
    indptr: Int64,
    indices: Int32,
    width: int,
    pointer: Int64,
    columns: Int32,
    weights: Float32,
    other_pointer: Int64,
    other_columns: Int32,
    other_weights: Float32,
    products: Float32,
) -> None:
    """Write the inner products of the sparse vectors of all pairs in the rows `first:last`.

    Row i has the vector `rows[i]`. It is spread out once, so that no comparison has to be guessed ahead.
    """
    spread = np.zeros(width, np.float32)
    for row in range(first, last):
        if indptr[row] == indptr[row + 1]:
            continue
        own, end = pointer[rows[row]], pointer[rows[row] + 1]
        for at in range(own, end):
            spread[columns[at]] = weights[at]
        for entry in range(indptr[row], indptr[row + 1]):
            later = other_pointer[indices[min(entry + AHEAD, indptr[row + 1] - 1)]]
            prefetch(other_columns, later)
            prefetch(other_weights, later)
            other, product = indices[entry], np.float32(0)
            for at in range(other_pointer[other], other_pointer[other + 1]):
                product += spread[other_columns[at]] * other_weights[at]
            products[entry] = min(product, np.float32(1))
        for at in range(own, end):
            spread[columns[at]] = 0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _dense_products(
    first: int, last: int, indptr: Int64, indices: Int32, source: Float32, target: Float32, products: Float32
) -> None:
    """Write the inner products of the dense vectors of all pairs in the rows `first:last`."""
    for row in range(first, last):
        for entry in range(indptr[row], indptr[row + 1]):
            product = np.float32(0)
            other = indices[entry]
            prefetch_row(target, indices[min(entry + 1, indptr[row + 1] - 1)])
            for at in range(source.shape[1]):
                product += source[row, at] * target[other, at]
            products[entry] = product
