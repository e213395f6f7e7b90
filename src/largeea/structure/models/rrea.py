"""RREA, relational reflection entity alignment (Mao et al., CIKM 2020): the model of LargeEA-R.

A relation r reflects the vector of a neighbour by `M_r = I - 2 h_r h_r^T`, which keeps lengths and angles. An
entity's vector is the attention-weighted sum of its reflected neighbours.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.functional import normalize

from largeea.config import StructureConfig
from largeea.structure.batch import Batch, Embeddings
from largeea.structure.models.batch_graph import merged_triples, with_inverses
from largeea.structure.models.reflection import ReflectionEdges, reflected
from largeea.structure.models.sparse_product import SparseMatrix
from largeea.structure.models.training_loop import Recipe, train

LAYERS = 2
RECIPE = Recipe(
    dimension=100,
    loss="logsumexp",
    learning_rate={"logsumexp": 0.02, "triplet": 0.01},
    negatives_per_seed={"logsumexp": 1024, "triplet": 5},
    margin=10.0,
    dropout=0.3,
)


class RREA:
    """Vectors of length `2 (LAYERS + 1) D`: an entity view and a relation view, each with all its layers.

    An entity without triples has the zero vector.
    """

    def fit(self, batch: Batch, settings: StructureConfig, seed: int) -> Embeddings:
        """Train on one batch."""
        return train(ReflectionNetwork, batch, settings, seed, RECIPE)


class ReflectionNetwork(nn.Module):
    """One table for the entities of both graphs; every relation and every inverse relation has a vector."""

    def __init__(self, local: Batch, dimension: int, random: torch.Generator) -> None:
        super().__init__()
        entities = len(local.source) + len(local.target)
        edges = with_inverses(merged_triples(local))
        relations = int(edges[:, 1].max(initial=0)) + 1
        self.edges = by = ReflectionEdges(edges, entities, relations)
        mean = (1 / by.starts.diff())[by.head]
        self.neighbours = SparseMatrix(by.head, by.tail, mean, by.by_head, by.by_tail)
        self.outgoing = SparseMatrix(by.head, by.relation, mean, by.by_head, by.by_relation)

        def normal(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(shape, generator=random) / dimension**0.5)

        self.entity = normal(entities, dimension)
        self.relation = normal(relations, dimension)
        self.attention = nn.ParameterList(normal(2, dimension) for _ in range(2 * LAYERS))

    def forward(self) -> torch.Tensor:
        """Embeddings `[entities, 2 (LAYERS + 1) D]`."""
        axes = normalize(self.relation)
        layers = []
        for view, (matrix, table) in enumerate(
            [(self.neighbours, self.entity), (self.outgoing, self.relation)]
        ):
            layers.append(torch.tanh(matrix.times(table)))
            for attention in self.attention[view * LAYERS : (view + 1) * LAYERS]:
                layers.append(torch.tanh(reflected(self.edges, layers[-1], axes, attention)))
        return torch.cat(layers, dim=1)
