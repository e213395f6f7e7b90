"""GCN-Align (Wang et al., EMNLP 2018), structure variant: the model of LargeEA-G.

Two rounds of convolution over a graph whose edges weigh what a relation tells about its ends. Both graphs go
through the same network, whose only parameters are the entities' own vectors.

Where it differs from the original, it does so because few seeds are then learnt better: the ends of a seed
share their vector, there is no ReLU between the rounds, and what comes out of both rounds is kept.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn
from torch.nn.functional import normalize

from largeea.structure.batch import Batch
from largeea.structure.models.edges import functionality, triples_of_both
from largeea.structure.models.options import Embeddings, TrainingOptions
from largeea.structure.models.sparse import Pattern, aggregate
from largeea.structure.models.training import Recipe, train

LEAST_FUNCTIONALITY = 0.3
"""A relation of little functionality still connects its ends."""
RECIPE = Recipe(
    dimension=200,
    loss="logsumexp",
    learning_rate={"logsumexp": 0.01, "triplet": 0.01},
    negatives_per_seed={"logsumexp": 1024, "triplet": 5},
    margin=15.0,
    dropout=0.3,
)


class GCNAlign:
    """Vectors of 2 D numbers: one half for each round of convolution."""

    def fit(self, batch: Batch, options: TrainingOptions) -> Embeddings:
        """Train on one batch."""
        return train(ConvolutionNetwork, batch, options, RECIPE)


class ConvolutionNetwork(nn.Module):
    """`[A X, A A X]` with free X."""

    weights: torch.Tensor
    owner: torch.Tensor

    def __init__(self, local: Batch, dimension: int, random: torch.Generator) -> None:
        super().__init__()
        matrix = adjacency(local).tocoo()
        row, column = (torch.from_numpy(at.astype(np.int64)) for at in matrix.coords)
        self.pattern = Pattern(row, column, matrix.shape)
        self.register_buffer("weights", torch.from_numpy(matrix.data.astype(np.float32)))
        free = torch.randn(matrix.shape[0], dimension, generator=random) / dimension**0.5
        self.entity = nn.Parameter(free)
        owner = torch.arange(matrix.shape[0])
        source, target = torch.from_numpy(local.seeds.pairs.astype(np.int64)).T
        owner[target + len(local.source)] = source
        self.register_buffer("owner", owner)

    def forward(self) -> torch.Tensor:
        """Embeddings `[entities, 2 D]`, either half of length 1."""
        own = self.entity.index_select(0, self.owner)
        once = aggregate(self.pattern, self.weights, own)
        twice = aggregate(self.pattern, self.weights, once)
        return torch.cat([normalize(once), normalize(twice)], dim=1)


def adjacency(local: Batch) -> sp.csr_array:
    """`D^-1/2 (A + I) D^-1/2`: A sums inverse functionality along and functionality against each triple."""
    triples = triples_of_both(local)
    head, relation, tail = triples.T
    along, against = (np.maximum(values, LEAST_FUNCTIONALITY) for values in functionality(triples))
    size = len(local.source) + len(local.target)
    everything = np.arange(size)
    row = np.concatenate([head, tail, everything])
    column = np.concatenate([tail, head, everything])
    values = np.concatenate([against[relation], along[relation], np.ones(size)])
    weighted = sp.csr_array((values, (row, column)), shape=(size, size))
    scale = sp.diags_array(np.asarray(weighted.sum(axis=1)) ** -0.5)
    return sp.csr_array(scale @ weighted @ scale)
