"""SENS, semantic name similarity: whose names mean the same (`M_se`)."""

from __future__ import annotations

from largeea.config import NamesConfig
from largeea.graph import Strings
from largeea.names.encoders import encode_unique, load_encoder
from largeea.names.ngrams import tfidf
from largeea.search import dense_top_k, sparse_top_k
from largeea.similarity import Similarity

NGRAM = "ngram"
"""The encoder without weights: vectors of character n-grams, sparse."""


def ngram_similarity(source: Strings, target: Strings, config: NamesConfig) -> Similarity:
    """The `top_k` targets of each source by the n-grams of their (latinised) names."""
    vectors = tfidf(source, target, config.shortest_gram, config.longest_gram)
    return Similarity.from_top_k(*sparse_top_k(*vectors, config.top_k), len(target))


def vector_similarity(source: Strings, target: Strings, config: NamesConfig) -> Similarity:
    """The `top_k` (phi) targets of each source by what their names mean to the encoder."""
    encoder = load_encoder(config.encoder, device=config.device, precision=config.precision)
    ours, theirs = encode_unique(encoder, source), encode_unique(encoder, target)
    found = dense_top_k(ours, theirs, config.top_k, metric=config.metric, search=config.search)
    return Similarity.from_top_k(*found, len(target))
