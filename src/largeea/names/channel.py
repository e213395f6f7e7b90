"""The name channel: which entities are called alike (`M_n`)."""

from __future__ import annotations

from collections.abc import Callable

from largeea.config import NamesConfig
from largeea.names.rows import Names
from largeea.names.semantic import NGRAM, Vectors, encode_names, ngram_similarity, vector_similarity
from largeea.names.strings import string_similarity
from largeea.similarity import Similarity

__all__ = ["Names", "Vectors", "encode_names", "name_features", "semantic_names", "string_names"]


def semantic_names(
    names: Names, config: NamesConfig, encoded: Callable[[], Vectors] | None = None
) -> Similarity:
    """`M_se` (SENS): similar by the encoder's vectors; an entity without a name scores nothing.

    An encoder that knows meanings is poor at proper names, and n-grams are good at them: beside such an
    encoder n-grams count with the weight `config.lexical` (0 in the paper). `encoded` gives the vectors if
    they may be there already.
    """
    if config.encoder == NGRAM:
        return ngram_similarity(names, config)
    meant = vector_similarity(names, encoded() if encoded else encode_names(names, config), config)
    if not config.lexical:
        return meant
    both = meant + ngram_similarity(names, config).scale(config.lexical)
    return both.scale(1 / (1 + config.lexical)).top_k(config.top_k)


def string_names(names: Names, config: NamesConfig, seed: int) -> Similarity:
    """`M_st` (STNS): similar by spelling."""
    latin = names.source.latin, names.target.latin
    found = string_similarity(*latin, theta=config.theta, max_candidates=config.top_k, seed=seed)
    return names.fold(found, config.top_k)


def name_features(semantic: Similarity | None, strings: Similarity | None, config: NamesConfig) -> Similarity:
    """NFF: `M_n = M_se + gamma * M_st`, scaled to [0, 1]; a feature that is switched off is None."""
    if semantic is None or strings is None:
        alone = strings if semantic is None else semantic
        assert alone is not None
        return alone
    both = semantic + strings.scale(config.gamma)
    return both.scale(1 / (1 + config.gamma)).top_k(config.top_k)
