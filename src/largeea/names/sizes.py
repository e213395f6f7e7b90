"""Memory and time that the stages of the name channel need. For the planner."""

from __future__ import annotations

from collections.abc import Iterator

from largeea.config import NamesConfig
from largeea.execution.planner import GpuNeed
from largeea.names.blocks import weighted_mean_memory
from largeea.names.encoders import encoder_dimension
from largeea.names.encoders.base import encoder_gpu_memory
from largeea.names.learnt import find_memory, learn_memory, score_memory
from largeea.names.nearby import nearby_names_memory
from largeea.names.ngrams import gram_entries, tfidf_memory
from largeea.names.rows import name_rows_memory as rows_memory
from largeea.names.semantic import encode_names_memory, ngram_similarity_memory, vector_similarity_memory
from largeea.names.strings import string_memory
from largeea.names.translation import translation_memory
from largeea.names.units import unit_entries, units_memory

__all__ = [
    "feature_stages",
    "gpu_stages",
    "learnt_stages",
    "nearby_memory",
    "rows_memory",
    "translation_memory",
    "units_stage",
]
DENSE_BLOCK = 8 << 30
"""Bytes of scores that a search of vectors computes at once on a GPU at most."""


def feature_stages(
    entities: tuple[int, int], characters: tuple[int, int], how: NamesConfig, threads: int
) -> Iterator[tuple[str, int, int, float]]:
    """Stage, working memory and result in bytes, and seconds on one thread, of SENS and STNS."""
    sources, targets = entities
    matrix = 8 * sources * how.top_k
    grams = how.shortest_gram, how.longest_gram
    ngrams = ngram_similarity_memory(sources, targets, sum(characters), how.top_k, *grams, threads)
    seconds = 9.5e-5 * sources
    if how.by_ngrams or how.ngram_weight:
        entries = gram_entries(sum(characters), *grams)
        yield "ngrams", tfidf_memory(entries), 8 * entries, 6.5e-6 * (sources + targets)
    if how.by_ngrams:
        yield "semantic", ngrams, matrix, seconds
    else:
        dimension = encoder_dimension(how.encoder)
        vectors = 2 * dimension * (sources + targets)
        yield "vectors", encode_names_memory(sources, targets, dimension), vectors, 2e-3 * (sources + targets)
        search = how.top_k, how.metric, how.search, threads
        found = vector_similarity_memory(sources, targets, dimension, *search)
        searched = vectors + found, matrix, 2e-10 * dimension * sources * targets
        if how.ngram_weight:
            yield "by-vectors", *searched
            yield "by-ngrams", ngrams, matrix, seconds
            both = 2 * matrix + weighted_mean_memory(sources, how.top_k, threads)
            yield "semantic", both, matrix, 5e-6 * sources
        else:
            yield "semantic", *searched
    spelling = string_memory(sources, targets, sum(characters), how.theta, threads)
    yield "strings", spelling, 16 * sources, 2e-5 * (sources + targets)


def nearby_memory(characters: int, pairs: int, kept: int, how: NamesConfig) -> int:
    """Bytes to compare the names of so many nearby pairs, beside a name channel of `kept` pairs."""
    entries = gram_entries(characters, how.shortest_gram, how.longest_gram)
    vectors = 0 if how.by_ngrams else 4 * encoder_dimension(how.encoder) * characters // 20
    return vectors + nearby_names_memory(entries, characters, pairs, kept)


def units_stage(entities: int, characters: int) -> tuple[str, int, int, float]:
    """Stage, working memory and result in bytes, and seconds on one thread, of the units of all names."""
    return "name-units", units_memory(characters), 4 * unit_entries(characters), 1e-5 * entities


def learnt_stages(
    entities: tuple[int, int], free: tuple[int, int], characters: int, top_k: int, threads: int
) -> Iterator[tuple[str, int, int, float]]:
    """The same of the stages that learn translations from anchors; `free` entities are no anchors."""
    entries = entities[0] * top_k
    learning, finding = learn_memory(characters), find_memory(characters, *free, top_k, threads)
    yield "translations", learning, learning // 4, 4e-8 * learning
    yield "learnt-candidates", finding, 8 * free[0] * top_k, 1.4e-4 * free[0]
    yield "learnt", score_memory(characters, entries), 8 * entries, 4e-7 * entries


def gpu_stages(
    entities: tuple[int, int], characters: tuple[int, int], how: NamesConfig, free: int
) -> Iterator[GpuNeed]:
    """What SENS takes on a GPU with so many free bytes. Spelling is compared on the CPU."""
    sources, targets = entities
    entries = gram_entries(sum(characters), how.shortest_gram, how.longest_gram)
    index = 2 * entries * targets // max(sources + targets, 1)
    if how.by_ngrams:
        yield _ngram_search("semantic", index, free)
        return
    dimension = encoder_dimension(how.encoder)
    yield GpuNeed("vectors", encoder_gpu_memory(dimension))
    if how.search != "approximate":
        vectors = 4 * dimension * targets
        needed = vectors + min(DENSE_BLOCK, max(free - vectors, 0) // 4)
        yield GpuNeed("by-vectors" if how.ngram_weight else "semantic", needed)
    if how.ngram_weight:
        yield _ngram_search("by-ngrams", index, free)


def _ngram_search(stage: str, entries: int, free: int) -> GpuNeed:
    """The n-gram search, with an index of so many entries."""
    from largeea.search.cuda_sparse import fits_on_device, sparse_gpu_memory

    return GpuNeed(stage, sparse_gpu_memory(entries, free), fits_on_device(entries, free))
