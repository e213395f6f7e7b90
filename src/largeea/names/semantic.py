"""SENS, semantic name similarity: whose names mean the same (`M_se`)."""

from __future__ import annotations

from largeea.config import NamesConfig
from largeea.graph import Float32
from largeea.names.encoders import encode_unique, load_encoder
from largeea.names.ngrams import tfidf
from largeea.names.rows import Names
from largeea.search import dense_top_k, sparse_top_k
from largeea.similarity import Similarity

Vectors = dict[str, Float32]
"""The vectors of all names, by row: `source[rows, d]`, `target[rows, d]`, of length 1 (or 0)."""
NGRAM = "ngram"
"""The encoder without weights: vectors of character n-grams, sparse."""


def ngram_similarity(names: Names, config: NamesConfig) -> Similarity:
    """The `top_k` targets of each source by the n-grams of their (latinised) names."""
    sides = names.source, names.target
    source, target = (side.stressed if config.discount_brackets else side.latin for side in sides)
    vectors = tfidf(source, target, config.shortest_gram, config.longest_gram)
    found = Similarity.from_top_k(*sparse_top_k(*vectors, config.top_k), len(target))
    return names.fold(found, config.top_k)


def encode_names(names: Names, config: NamesConfig) -> Vectors:
    """The encoder's vectors of both sides' names as they are written; zeros for a missing name."""
    encoder = load_encoder(config.encoder, device=config.device, precision=config.precision)
    return {
        "source": encode_unique(encoder, names.source.texts),
        "target": encode_unique(encoder, names.target.texts),
    }


def vector_similarity(names: Names, vectors: Vectors, config: NamesConfig) -> Similarity:
    """The `top_k` (phi) targets of each source by what their names mean to the encoder."""
    source, target = vectors["source"], vectors["target"]
    found = dense_top_k(source, target, config.top_k, metric=config.metric, search=config.search)
    return names.fold(Similarity.from_top_k(*found, len(target)), config.top_k)
