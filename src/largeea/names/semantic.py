"""SENS, semantic name similarity: whose names mean the same (`M_se`)."""

from __future__ import annotations

from largeea.config import NamesConfig
from largeea.graph import Float32, Strings
from largeea.names.encoders import encode_unique, load_encoder
from largeea.names.ngrams import tfidf
from largeea.search import dense_top_k, sparse_top_k
from largeea.similarity import Similarity

Vectors = dict[str, Float32]
"""The vectors of names: `source[n_s, d]`, `target[n_t, d]`, rows of length 1 (or 0)."""
NGRAM = "ngram"
"""The encoder without weights: vectors of character n-grams, sparse."""


def ngram_similarity(source: Strings, target: Strings, config: NamesConfig) -> Similarity:
    """The `top_k` targets of each source by the n-grams of their (latinised) names."""
    vectors = tfidf(source, target, config.shortest_gram, config.longest_gram)
    return Similarity.from_top_k(*sparse_top_k(*vectors, config.top_k), len(target))


def encode_names(source: Strings, target: Strings, config: NamesConfig) -> Vectors:
    """The encoder's vectors of both sides' names as they are written; zeros for a missing name."""
    encoder = load_encoder(config.encoder, device=config.device, precision=config.precision)
    return {"source": encode_unique(encoder, source), "target": encode_unique(encoder, target)}


def vector_similarity(vectors: Vectors, config: NamesConfig) -> Similarity:
    """The `top_k` (phi) targets of each source by what their names mean to the encoder."""
    source, target = vectors["source"], vectors["target"]
    found = dense_top_k(source, target, config.top_k, metric=config.metric, search=config.search)
    return Similarity.from_top_k(*found, len(target))
