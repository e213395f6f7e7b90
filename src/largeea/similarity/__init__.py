"""`Similarity`: the sparse matrix type used everywhere, in which *absent means worst*."""

from largeea.similarity.matrix import Similarity

__all__ = ["Similarity"]
