"""A structure model of another package: seeds spread through both graphs, nothing is trained.

Each seed has one random vector, shared by its ends. An entity's vector is made of the seed vectors that reach
it along triples, so two entities are near if they are connected to the same seeds in the same way.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from largeea.structure.models import Batch, Embeddings, StructureConfig

DIMENSION = 512
HOPS = 3


class SeedPropagation:
    """Vectors of length `HOPS * D`: the seed vectors that reach an entity in one hop, in two, in three."""

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        """Spread the seeds of one batch."""
        local = batch.local()
        random = np.random.default_rng(seed)
        labels = random.standard_normal((len(local.seeds), settings.dimension or DIMENSION), np.float32)
        return Embeddings(
            spread(local.source_triples, local.seeds.source, labels, len(local.source)),
            spread(local.target_triples, local.seeds.target, labels, len(local.target)),
        )


def spread(triples: np.ndarray, seeds: np.ndarray, labels: np.ndarray, size: int) -> np.ndarray:
    """Vectors `[size, HOPS * D]` of one graph: `triples[m, 3]` carry `labels[n, D]` away from `seeds[n]`."""
    vectors = np.zeros((size, labels.shape[1]), np.float32)
    np.add.at(vectors, seeds, labels)
    neighbours = adjacency(triples, size)
    hops = []
    for _ in range(HOPS):
        vectors = neighbours @ vectors
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        hops.append(vectors)
    return np.hstack(hops)


def adjacency(triples: np.ndarray, size: int) -> sp.csr_array:
    """Neighbours of each entity, `[size, size]`; a neighbour of d entities counts `d ** -0.5`."""
    heads, _, tails = triples.T
    ends = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    matrix = sp.csr_array((np.ones(len(ends[0]), np.float32), ends), shape=(size, size))
    degrees = np.maximum(matrix.sum(axis=0), 1)
    return matrix @ sp.diags_array((degrees**-0.5).astype(np.float32))
