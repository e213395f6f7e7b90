"""SENS, semantic name similarity: whose names mean the same or look alike (`M_se`)."""

from __future__ import annotations

from largeea.graph import Float32
from largeea.names.blocks import fold, matrix_of, weighted_mean
from largeea.names.encoders import encode_unique, load_encoder
from largeea.names.ngrams import gram_entries, tfidf, tfidf_memory
from largeea.names.rows import Columns, Names
from largeea.names.words import with_word_overlap, word_overlap_memory
from largeea.search import dense_top_k, sparse_top_k
from largeea.search.dense import dense_memory
from largeea.search.sparse import sparse_memory
from largeea.similarity import Similarity

Vectors = dict[str, Float32]
"""The vectors of all names, by row: `source[rows, d]`, `target[rows, d]`, of length 1 (or 0)."""
NGRAM = "ngram"
"""The encoder without weights: vectors of character n-grams, sparse."""


def ngram_similarity(
    rows: Columns, top_k: int, shortest: int, longest: int, discount_brackets: bool
) -> Similarity:
    """The `top_k` targets of each source by the n-grams and words of their Latin names, `[sources, targets]`.

    N-grams of `shortest` to `longest` characters find the candidates; the score is the mean of their cosine
    and of the overlap of words. `discount_brackets` lets what is in brackets weigh less.
    """
    names = Names.from_columns(rows)
    sides = names.source, names.target
    source, target = (side.discounted if discount_brackets else side.latin for side in sides)
    found = sparse_top_k(*tfidf(source, target, shortest, longest), top_k, stored=True)
    by_name = matrix_of(*found, len(target))
    return fold(names, with_word_overlap(names, source, target, by_name), top_k)


def ngram_similarity_memory(
    source_rows: int, target_rows: int, characters: int, top_k: int, shortest: int, longest: int, threads: int
) -> int:
    """Bytes that `ngram_similarity` needs at its peak; `characters` are those of all names of both sides."""
    entries = gram_entries(characters, shortest, longest)
    target_entries = entries * target_rows // max(source_rows + target_rows, 1)
    search = sparse_memory(entries, target_entries, source_rows, target_rows, top_k, threads)
    words = 16 * source_rows * top_k + word_overlap_memory(characters, source_rows, top_k)
    return characters + max(tfidf_memory(entries), search, words)


def encode_names(rows: Columns, encoder: str, dtype: str, fingerprint: str) -> Vectors:
    """The encoder's vectors of both sides' names as they are written; zeros for a missing name.

    `fingerprint` identifies the encoder's weights: vectors of other weights must not be reused.
    """
    loaded = load_encoder(encoder, dtype=dtype)
    return {side: encode_unique(loaded, rows[f"{side}_texts"]) for side in ("source", "target")}


def encode_names_memory(source_rows: int, target_rows: int, dimension: int) -> int:
    """Bytes that `encode_names` needs at its peak beside the encoder: all vectors, one side twice."""
    return 4 * dimension * (source_rows + target_rows + max(source_rows, target_rows))


def vector_similarity(rows: Columns, vectors: Vectors, top_k: int, metric: str, search: str) -> Similarity:
    """The `top_k` (phi) targets of each source by the encoder's vectors, `[sources, targets]`."""
    source, target = vectors["source"], vectors["target"]
    found = dense_top_k(source, target, top_k, metric=metric, search=search, stored=True)
    return fold(Names.from_columns(rows), matrix_of(*found, len(target)), top_k)


def vector_similarity_memory(
    source_rows: int, target_rows: int, dimension: int, top_k: int, metric: str, search: str, threads: int
) -> int:
    """Bytes that `vector_similarity` needs at its peak."""
    found = dense_memory(source_rows, target_rows, dimension, top_k, metric, search, threads)
    return found + 10 * source_rows * top_k


def semantic_names(
    vectors_found: Similarity, ngrams: Similarity, ngram_weight: float, top_k: int
) -> Similarity:
    """`M_se` of an encoder of meanings with n-grams beside it: their weighted mean.

    An encoder that knows meanings is poor at proper names, and n-grams are good at them.
    """
    return weighted_mean(vectors_found, ngrams, ngram_weight, top_k)
