"""STNS, string-based name similarity: whose names are spelt alike (`M_st`)."""

from __future__ import annotations

from largeea.names.blocks import fold
from largeea.names.rows import Columns, Names
from largeea.names.strings.spelling import string_memory, string_similarity
from largeea.similarity import Similarity

__all__ = ["string_memory", "string_names", "string_similarity"]


def string_names(rows: Columns, top_k: int, theta: float, seed: int) -> Similarity:
    """`M_st`: the `top_k` targets of each source whose Latin names are spelt alike, `[sources, targets]`."""
    names = Names.from_columns(rows)
    latin = names.source.latin, names.target.latin
    return fold(names, string_similarity(*latin, theta=theta, max_candidates=top_k, seed=seed), top_k)
