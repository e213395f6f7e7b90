"""GCN-Align (Wang et al., EMNLP 2018), structure variant: the model of LargeEA-G.

Two graph convolutions over both graphs, with edges weighted by the functionality of their relation. The only
parameters are the entities' own vectors.

Three differences from the original help with few seeds: the ends of a seed share their vector, there is no
ReLU between the convolutions, and the output of both convolutions is kept.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn
from torch.nn.functional import normalize

from largeea.config import StructureConfig
from largeea.graph.triples import functionality
from largeea.structure.batch import Batch, Embeddings
from largeea.structure.models.batch_graph import merged_triples
from largeea.structure.models.sparse_product import Groups, SparseMatrix, rows_of
from largeea.structure.models.training_loop import Recipe, train

LEAST_FUNCTIONALITY = 0.3
"""Lowest weight of an edge: a relation of low functionality still connects its ends."""
RECIPE = Recipe(
    dimension=200,
    loss="logsumexp",
    learning_rate={"logsumexp": 0.01, "triplet": 0.01},
    negatives_per_seed={"logsumexp": 1024, "triplet": 5},
    margin=15.0,
    dropout=0.3,
)


class GCNAlign:
    """Vectors of length 2 D: one half for each convolution."""

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        """Train on one batch."""
        return train(ConvolutionNetwork, batch, settings, seed, RECIPE)


class ConvolutionNetwork(nn.Module):
    """`[A X, A A X]`, where the vectors X are learnt."""

    owner: torch.Tensor

    def __init__(self, local: Batch, dimension: int, random: torch.Generator) -> None:
        super().__init__()
        matrix = adjacency(local).tocoo()
        row, column = (torch.from_numpy(at.astype(np.int32)) for at in matrix.coords)
        groups = (Groups(key, matrix.shape[0]) for key in (row, column))
        self.adjacency = SparseMatrix(row, column, torch.from_numpy(matrix.data), *groups)
        free = torch.randn(matrix.shape[0], dimension, generator=random) / dimension**0.5
        self.entity = nn.Parameter(free)
        owner = torch.arange(matrix.shape[0])
        source, target = torch.from_numpy(local.seeds.pairs.astype(np.int64)).T
        owner[target + len(local.source)] = source
        self.register_buffer("owner", owner)

    def forward(self) -> torch.Tensor:
        """Embeddings `[entities, 2 D]`; each half has length 1."""
        once = self.adjacency.times(rows_of(self.entity, self.owner))
        twice = self.adjacency.times(once)
        return torch.cat([normalize(once), normalize(twice)], dim=1)


def adjacency(local: Batch) -> sp.csr_array:
    """`D^-1/2 (A + I) D^-1/2`, where each triple adds its relation's inverse functionality to `A[head, tail]`
    and its functionality to `A[tail, head]`."""
    triples = merged_triples(local)
    head, relation, tail = triples.T
    relations = int(relation.max(initial=-1)) + 1
    forward, inverse = (
        np.maximum(values, LEAST_FUNCTIONALITY) for values in functionality(triples, relations)
    )
    size = local.size
    everything = np.arange(size)
    row = np.concatenate([head, tail, everything])
    column = np.concatenate([tail, head, everything])
    values = np.concatenate([inverse[relation], forward[relation], np.ones(size)])
    weighted = sp.csr_array((values, (row, column)), shape=(size, size))
    scale = sp.diags_array(np.asarray(weighted.sum(axis=1)) ** -0.5)
    return sp.csr_array(scale @ weighted @ scale)
