"""Exact inner-product search between sparse vectors."""

from __future__ import annotations

import os

import scipy.sparse as sp
from sparse_dot_topn import sp_matmul_topn

from largeea.graph import Float32, Int32
from largeea.similarity import Similarity


def sparse_top_k(queries: sp.csr_array, items: sp.csr_array, k: int) -> tuple[Int32, Float32]:
    """The k items with the highest inner product for each query, of those that share a feature with it."""
    left, right = sp.csr_matrix(queries), sp.csr_matrix(items.T)
    found = sp_matmul_topn(left, right, top_n=k, threshold=0.0, n_threads=os.cpu_count() or 1)
    return Similarity.from_scipy(found).top_k_arrays(k)
