"""The two networks against their formulas, computed the slow way."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="structure models need the extra structure with torch")

import torch

from largeea.config import StructureConfig
from largeea.graph import Links
from largeea.structure.batch import Batch
from largeea.structure.models.batch_graph import merged_triples, with_inverses
from largeea.structure.models.gcn_align import adjacency
from largeea.structure.models.reflection import reflected
from largeea.structure.models.rrea import RECIPE, ReflectionNetwork

BATCH = Batch(
    np.arange(3),
    np.arange(2),
    [(0, 4, 1), (0, 4, 2), (1, 9, 2)],
    [(1, 4, 0)],
    Links([(0, 0)]),
)


def test_graphs_share_entities_numbers_but_no_relations() -> None:
    triples = merged_triples(BATCH)
    assert triples.tolist() == [[0, 0, 1], [0, 0, 2], [1, 1, 2], [4, 2, 3]]
    assert with_inverses(triples)[4:].tolist() == [[1, 3, 0], [2, 3, 0], [2, 4, 1], [3, 5, 4]]


def test_adjacency_weighs_by_functionality_and_is_normalised() -> None:
    plain = np.eye(5)
    plain[0, 1] = plain[0, 2] = 1.0  # two tails in two triples
    plain[1, 0] = plain[2, 0] = 0.5  # one head in two triples
    plain[1, 2] = plain[2, 1] = plain[4, 3] = plain[3, 4] = 1.0
    scale = plain.sum(axis=1) ** -0.5
    np.testing.assert_allclose(adjacency(BATCH).toarray(), scale[:, None] * plain * scale)


def test_reflection_is_the_papers() -> None:
    network = ReflectionNetwork(BATCH, 4, torch.Generator().manual_seed(0))
    vectors = torch.randn((5, 4), generator=torch.Generator().manual_seed(1))
    axes = torch.nn.functional.normalize(network.relation.detach())
    v, w = attention = network.attention[0].detach()
    expected = torch.zeros(5, 4)
    edges = with_inverses(merged_triples(BATCH))
    for entity in range(5):
        own = [(r, t) for h, r, t in edges if h == entity]
        turned = [(torch.eye(4) - 2 * torch.outer(axes[r], axes[r])) @ vectors[t] for r, t in own]
        logits = torch.stack([v @ turn + w @ axes[r] for turn, (r, _) in zip(turned, own, strict=True)])
        expected[entity] = torch.softmax(logits, 0) @ torch.stack(turned)
    ours = reflected(network.edges, vectors, axes, attention)
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-6)


def test_settings_left_open_are_the_models_choice() -> None:
    own = RECIPE.complete(StructureConfig())
    assert (own.loss, own.dimension, own.learning_rate) == ("logsumexp", 100, 0.02)
    given = RECIPE.complete(StructureConfig(loss="triplet", dimension=7, margin=3.0, epochs=9))
    assert (given.loss, given.dimension, given.margin, given.epochs) == ("triplet", 7, 3.0, 9)
    assert (given.learning_rate, given.negatives_per_seed) == (0.01, 5)


def test_embeddings_hold_both_views_of_all_layers() -> None:
    assert ReflectionNetwork(BATCH, 4, torch.Generator())().shape == (5, 24)
