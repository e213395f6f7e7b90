"""Nearest neighbours. Every search answers `(ids[n, k], scores[n, k])`: best first, padded with -1 and 0."""

from largeea.search.sparse import sparse_top_k

__all__ = ["sparse_top_k"]
