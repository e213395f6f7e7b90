"""Names of targets near a source: those that share a neighbour with it, although their names rank low.

A search by name keeps the most similar of all targets. Where the surroundings leave few targets to choose
from, a name may tell which one is right without being among the most similar.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numba import njit

from largeea.execution.jobs import over_rows
from largeea.graph import Arrays, Float32, Int32, Int64
from largeea.names.blocks import fold
from largeea.names.equal import BONUS
from largeea.names.rows import Columns, NameRows, Names
from largeea.names.semantic import Vectors, as_matrices, compared_texts
from largeea.names.words import with_word_overlap
from largeea.similarity import Similarity

NEARBY = 4
"""Targets with shared neighbours whose names are compared, for every one that is kept as evidence."""
PROMISING = 4
"""Of these, the ones that are compared word by word, for every one that is added."""


def with_nearby_names(
    names: Similarity,
    rows: Columns,
    ngrams: Arrays,
    vectors: Vectors | None,
    nearby: Similarity,
    per_source: int,
    discount_brackets: bool,
    ngram_weight: float,
    string_weight: float,
) -> Similarity:
    """Add the `per_source` targets of `nearby` with the most similar names to each source of `names`.

    The scores are those of `names`, the whole channel with its bonus for equal names: n-grams, words and, if
    there is an encoder, its `vectors`. Only the string feature is left out; it knows similar spellings alone.
    Pairs that `names` has already stay as they are.
    """
    known = Names.from_columns(rows)
    texts = compared_texts(known, discount_brackets)
    pairs = _of_names(nearby, known)
    by_ngrams = _by_ngrams(pairs, *as_matrices(ngrams))
    by_vectors = None if vectors is None else _by_vectors(pairs, vectors)
    estimate = by_ngrams if by_vectors is None else _mean(by_vectors, by_ngrams, ngram_weight)
    promising = estimate.top_k(PROMISING * per_source)
    semantic = with_word_overlap(known, *texts, _on(by_ngrams, promising))
    if by_vectors is not None:
        semantic = _mean(_on(by_vectors, promising), semantic, ngram_weight)
    scale = np.float32(1 / ((1 + string_weight) * (1 + BONUS)))
    found = fold(known, _with_scores(semantic, semantic.scores * scale), PROMISING * per_source)
    there = names.scores_on(found) > names.floor
    fresh = _with_scores(found, np.where(there, np.float32(0), found.scores)).top_k(per_source)
    return names + fresh


def with_nearby_names_memory(entries: int, characters: int, pairs: int, kept: int) -> int:
    """Bytes that `with_nearby_names` needs at its peak, given the entries of the n-gram vectors.

    `pairs` are those of nearby targets, `kept` those of the name channel.
    """
    return 8 * entries + 16 * characters + 24 * pairs + 16 * kept


def _of_names(entities: Similarity, known: Names) -> Similarity:
    """From pairs of entities to all pairs of their names, `[source rows, target rows]`."""
    if (len(known.source), len(known.target)) == entities.shape:
        return entities
    pattern = sp.csr_array(
        (np.ones(len(entities), np.float32), entities.indices, entities.indptr), shape=entities.shape
    )
    pairs = (_owner(known.source) @ pattern @ _owner(known.target).T).tocsr()
    return Similarity.from_scipy(pairs)


def _owner(side: NameRows) -> sp.csr_array:
    """Which entity each name belongs to, `[rows, entities]`."""
    count = len(side)
    return sp.csr_array(
        (np.ones(count, np.float32), (np.arange(count), side.entity)), shape=(count, side.size)
    )


def _by_ngrams(pairs: Similarity, source: sp.csr_array, target: sp.csr_array) -> Similarity:
    """The cosines of the n-gram vectors of given pairs of names."""
    cosines = np.empty(len(pairs), np.float32)
    over_rows(
        _sparse_products, pairs.shape[0], pairs.indptr, pairs.indices, source.shape[1],
        source.indptr, source.indices, source.data, target.indptr, target.indices, target.data, cosines,
    )  # fmt: skip
    return _with_scores(pairs, cosines)


def _by_vectors(pairs: Similarity, vectors: Vectors) -> Similarity:
    """The cosines of the encoder's vectors of given pairs of names, 0 at least."""
    cosines = np.empty(len(pairs), np.float32)
    source, target = (vectors[side].astype(np.float32, copy=False) for side in ("source", "target"))
    over_rows(_dense_products, pairs.shape[0], pairs.indptr, pairs.indices, source, target, cosines)
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
def _sparse_products(
    first: int,
    last: int,
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

    The vector of a row is spread out once, so that no comparison has to be guessed ahead.
    """
    spread = np.zeros(width, np.float32)
    for row in range(first, last):
        if indptr[row] == indptr[row + 1]:
            continue
        for at in range(pointer[row], pointer[row + 1]):
            spread[columns[at]] = weights[at]
        for entry in range(indptr[row], indptr[row + 1]):
            other, product = indices[entry], np.float32(0)
            for at in range(other_pointer[other], other_pointer[other + 1]):
                product += spread[other_columns[at]] * other_weights[at]
            products[entry] = min(product, np.float32(1))
        for at in range(pointer[row], pointer[row + 1]):
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
            for at in range(source.shape[1]):
                product += source[row, at] * target[other, at]
            products[entry] = product
