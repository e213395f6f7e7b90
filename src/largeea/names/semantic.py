"""SENS, semantic name similarity: whose names mean the same or look alike (`M_se`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from largeea.execution.devices import cuda_is_chosen
from largeea.graph import Arrays, Strings
from largeea.names.blocks import fold, weighted_mean
from largeea.names.encoders import BLOCK, BLOCK_ON_GPU, encode_unique, load_encoder
from largeea.names.encoders.base import Float16
from largeea.names.ngrams import gram_entries, tfidf
from largeea.names.rows import Columns, Names
from largeea.names.words import with_word_overlap, word_overlap_memory
from largeea.search import dense_top_k, sparse_top_k
from largeea.search.dense import dense_memory
from largeea.search.sparse import sparse_memory
from largeea.similarity import Similarity

Vectors = dict[str, Float16]
"""The vectors of all names, by row: `source[rows, d]`, `target[rows, d]`, float16, of length 1 (or 0)."""
SIDES = "source", "target"
CSR_PARTS = "data", "indices", "indptr"


def ngram_vectors(rows: Columns, shortest: int, longest: int, discount_brackets: bool) -> Arrays:
    """The vectors of all names by n-grams of `shortest` to `longest` characters: parts of CSR arrays."""
    vectors = tfidf(*compared_texts(Names.from_columns(rows), discount_brackets), shortest, longest)
    return {
        f"{side}_{part}": getattr(matrix, part)
        for side, matrix in zip(SIDES, vectors, strict=True)
        for part in CSR_PARTS
    } | {"width": np.array([vectors[0].shape[1]])}


def as_matrices(ngrams: Arrays) -> tuple[sp.csr_array, sp.csr_array]:
    """What `ngram_vectors` returned, as sparse matrices `[rows, n-grams]`."""
    width = int(ngrams["width"][0])
    source, target = (
        sp.csr_array(
            tuple(ngrams[f"{side}_{part}"] for part in CSR_PARTS),
            shape=(len(ngrams[f"{side}_indptr"]) - 1, width),
        )
        for side in SIDES
    )
    return source, target


def compared_texts(names: Names, discount_brackets: bool) -> tuple[Strings, Strings]:
    """The Latin names of both sides; `discount_brackets` lets what is in brackets weigh less."""
    source, target = (
        side.discounted if discount_brackets else side.latin for side in (names.source, names.target)
    )
    return source, target


def ngram_similarity(rows: Columns, ngrams: Arrays, top_k: int, discount_brackets: bool) -> Similarity:
    """The `top_k` targets of each source by the n-grams and words of their Latin names, `[sources, targets]`.

    The n-grams find the candidates; the score is the mean of their cosine and of the overlap of words.
    """
    names = Names.from_columns(rows)
    found = sparse_top_k(*as_matrices(ngrams), top_k, stored=True)
    source, target = compared_texts(names, discount_brackets)
    by_name = Similarity.from_top_k(*found, len(target))
    return fold(names, with_word_overlap(names, source, target, by_name), top_k)


def ngram_similarity_memory(
    source_rows: int, target_rows: int, characters: int, top_k: int, shortest: int, longest: int, threads: int
) -> int:
    """Bytes that `ngram_similarity` needs at its peak; `characters` are those of all names of both sides."""
    entries = gram_entries(characters, shortest, longest)
    target_entries = entries * target_rows // max(source_rows + target_rows, 1)
    search = sparse_memory(entries, target_entries, source_rows, target_rows, top_k, threads)
    words = 16 * source_rows * top_k + word_overlap_memory(characters, source_rows, top_k)
    return characters + max(search, words)


def encode_names(rows: Columns, encoder: str, dtype: str, fingerprint: str) -> Vectors:
    """The encoder's vectors of both sides' names as they are written; zeros for a missing name.

    `fingerprint` identifies the encoder's weights: vectors of other weights must not be reused.
    """
    texts = rows["source_texts"], rows["target_texts"]
    vectors = encode_unique(load_encoder(encoder, dtype=dtype), pa.concat_arrays(texts))
    return {"source": vectors[: len(texts[0])], "target": vectors[len(texts[0]) :]}


def encode_names_memory(source_rows: int, target_rows: int, dimension: int) -> int:
    """Bytes that `encode_names` needs at its peak beside the encoder: all vectors, and a block in float32."""
    rows = source_rows + target_rows
    block = BLOCK_ON_GPU if cuda_is_chosen() else BLOCK
    return 2 * dimension * rows + 6 * dimension * min(rows, block) + 40 * rows


def vector_similarity(rows: Columns, vectors: Vectors, top_k: int, metric: str, search: str) -> Similarity:
    """The `top_k` (phi) targets of each source by the encoder's vectors, `[sources, targets]`.

    A GPU takes the vectors in half precision and searches a block sooner than it is stored.
    """
    on_gpu = _is_on_gpu(search)
    dtype: Any = np.float16 if on_gpu else np.float32
    source, target = (vectors[side].astype(dtype, copy=False) for side in ("source", "target"))
    found = dense_top_k(source, target, top_k, metric=metric, search=search, stored=not on_gpu)
    return fold(Names.from_columns(rows), Similarity.from_top_k(*found, len(target)), top_k)


def vector_similarity_memory(
    source_rows: int, target_rows: int, dimension: int, top_k: int, metric: str, search: str, threads: int
) -> int:
    """Bytes that `vector_similarity` needs at its peak beside the vectors in half precision."""
    found = dense_memory(source_rows, target_rows, dimension, top_k, metric, search, threads)
    wide = 0 if _is_on_gpu(search) else 4 * dimension * (source_rows + target_rows)
    return wide + found + 10 * source_rows * top_k


def _is_on_gpu(search: str) -> bool:
    """Whether a GPU searches vectors: an approximate search runs on the CPU."""
    return search != "approximate" and cuda_is_chosen()


def semantic_names(
    vectors_found: Similarity, ngrams: Similarity, ngram_weight: float, top_k: int
) -> Similarity:
    """`M_se` of an encoder of meanings with n-grams beside it: their weighted mean.

    An encoder that knows meanings is poor at proper names, and n-grams are good at them.
    """
    return weighted_mean(vectors_found, ngrams, ngram_weight, top_k)
