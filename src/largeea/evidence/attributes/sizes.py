"""Memory that the stages of literal evidence need at their peak, in bytes, beside their inputs."""

from __future__ import annotations

from largeea.evidence.attributes.tokens import BUCKETS
from largeea.search.sparse import sparse_memory

FEATURES_PER_LITERAL = 2
"""Tokens and values that a literal is found by, on average over short texts, numbers and codes."""


def attribute_values_memory(literals: int, characters: int) -> int:
    """`attribute_values`, for so many literals of both graphs and characters of distinct values.

    Sorting takes 96 bytes a literal. A value is held in three forms while it is parsed.
    """
    return 8 * BUCKETS + 96 * literals + 3 * characters


def propose_memory(literals: tuple[int, int], sources: int, targets: int, top_k: int, threads: int) -> int:
    """`propose_by_values`: 24 bytes a feature while features are counted, and the search."""
    entries = FEATURES_PER_LITERAL * literals[0], FEATURES_PER_LITERAL * literals[1]
    search = sparse_memory(sum(entries), entries[1], sources, targets, top_k, threads)
    return 24 * sum(entries) + search + 8 * sources * top_k


def literal_evidence_memory(literals: int, entries: int) -> int:
    """`literal_evidence`: the values, and ratio, mark, offset, target and score of each candidate entry."""
    return 32 * literals + 26 * entries
