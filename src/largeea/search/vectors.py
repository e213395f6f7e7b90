"""Vectors of entities or names, one to a row."""

from __future__ import annotations

import numpy as np

from largeea.graph import Float32


def unit_rows(vectors: Float32) -> Float32:
    """Rows scaled to length 1; a row of zeros stays."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0), np.float32)
