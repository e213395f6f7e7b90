"""Memory and time that the stages of the name channel need. For the planner."""

from __future__ import annotations

from collections.abc import Iterator

from largeea.config import NamesConfig
from largeea.names.blocks import weighted_mean_memory
from largeea.names.rows import name_rows_memory as rows_memory
from largeea.names.semantic import (
    NGRAM,
    encode_names_memory,
    ngram_similarity_memory,
    vector_similarity_memory,
)
from largeea.names.strings import string_memory

__all__ = ["feature_stages", "rows_memory"]
DIMENSION = 768
"""Length of an encoder's vectors, as far as it can be told without loading one."""


def feature_stages(
    entities: tuple[int, int], characters: tuple[int, int], how: NamesConfig, threads: int
) -> Iterator[tuple[str, int, int, float]]:
    """Stage, working memory and result in bytes, and seconds on one thread, of SENS and STNS."""
    sources, targets = entities
    matrix = 8 * sources * how.top_k
    grams = how.shortest_gram, how.longest_gram
    ngrams = ngram_similarity_memory(sources, targets, sum(characters), how.top_k, *grams, threads)
    seconds = 1.4e-4 * sources + 5e-6 * (sources + targets)
    if how.encoder == NGRAM:
        yield "semantic", ngrams, matrix, seconds
    else:
        vectors = 4 * DIMENSION * (sources + targets)
        yield "vectors", encode_names_memory(sources, targets, DIMENSION), vectors, 2e-3 * (sources + targets)
        search = how.top_k, how.metric, how.search, threads
        found = vector_similarity_memory(sources, targets, DIMENSION, *search)
        yield "by-vectors", vectors + found, matrix, 2e-10 * DIMENSION * sources * targets
        if how.ngram_weight:
            yield "by-ngrams", ngrams, matrix, seconds
        both = 2 * matrix + weighted_mean_memory(sources, how.top_k, threads)
        yield "semantic", both, matrix, 5e-6 * sources
    spelling = string_memory(sources, targets, sum(characters), how.theta, threads)
    yield "strings", spelling, 16 * sources, 5e-5 * (sources + targets)
