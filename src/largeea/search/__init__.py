"""Nearest neighbours. Every search answers `(ids[n, k], scores[n, k])`: best first, padded with -1 and 0."""

from largeea.search.dense import dense_top_k
from largeea.search.sparse import sparse_top_k

__all__ = ["dense_top_k", "sparse_top_k"]
