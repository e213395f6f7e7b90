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
from largeea.structure.models.sparse_product import Pattern, aggregate, entry_dots
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

    mean: torch.Tensor

    def __init__(self, local: Batch, dimension: int, random: torch.Generator) -> None:
        super().__init__()
        entities = len(local.source) + len(local.target)
        edges = torch.from_numpy(with_inverses(merged_triples(local)))
        head, relation, tail = (column.contiguous() for column in edges.T)
        relations = int(relation.max()) + 1 if len(relation) else 1
        self.neighbours = Pattern(head, tail, (entities, entities))
        self.outgoing = Pattern(head, relation, (entities, relations))
        self.incoming = Pattern(tail, relation, (entities, relations))
        self.register_buffer("mean", (1 / torch.bincount(head, minlength=entities).float())[head])

        def normal(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(shape, generator=random) / dimension**0.5)

        self.entity = normal(entities, dimension)
        self.relation = normal(relations, dimension)
        self.attention = nn.ParameterList(normal(2, dimension) for _ in range(2 * LAYERS))

    def forward(self) -> torch.Tensor:
        """Embeddings `[entities, 2 (LAYERS + 1) D]`."""
        axes = normalize(self.relation)
        layers = []
        for view, (pattern, table) in enumerate(
            [(self.neighbours, self.entity), (self.outgoing, self.relation)]
        ):
            layers.append(torch.tanh(aggregate(pattern, self.mean, table)))
            for attention in self.attention[view * LAYERS : (view + 1) * LAYERS]:
                layers.append(torch.tanh(self.reflected(layers[-1], axes, attention)))
        return torch.cat(layers, dim=1)

    def reflected(self, vectors: torch.Tensor, axes: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
        """The attention-weighted sum of reflected neighbours `M_r e_j = e_j - 2 (e_j . h_r) h_r`.

        Attention is the softmax of `v . M_r e_j + w . h_r`; a term of the entity itself would cancel out.
        All an edge needs is `e_j . h_r`: one number, not a vector.
        """
        tail, relation = self.incoming.row, self.incoming.column
        along = entry_dots(self.incoming, vectors, axes)
        neighbour, axis = attention
        logits = (vectors @ neighbour).index_select(0, tail) + (axes @ axis).index_select(0, relation)
        logits = logits - 2 * along * (axes @ neighbour).index_select(0, relation)
        weights = self.neighbours.row_softmax(logits)
        straight = aggregate(self.neighbours, weights, vectors)
        return straight - 2 * aggregate(self.outgoing, weights * along, axes)
