"""The name channel (`M_n`): its stages, and the fusion of its two features."""

from __future__ import annotations

from largeea.names.blocks import weighted_mean
from largeea.names.rows import name_rows
from largeea.names.semantic import (
    encode_names,
    ngram_similarity,
    ngram_vectors,
    semantic_names,
    vector_similarity,
)
from largeea.names.strings import string_names
from largeea.similarity import Similarity

__all__ = [
    "encode_names",
    "name_features",
    "name_rows",
    "ngram_similarity",
    "ngram_vectors",
    "semantic_names",
    "string_names",
    "vector_similarity",
]


def name_features(
    semantic: Similarity | None, strings: Similarity | None, gamma: float, top_k: int
) -> Similarity:
    """NFF: `M_n = M_se + gamma * M_st`, scaled to [0, 1]; a feature that is switched off is None."""
    if semantic is None or strings is None:
        alone = strings if semantic is None else semantic
        assert alone is not None
        return alone
    return weighted_mean(semantic, strings, gamma, top_k)
