"""The layer of RREA with its own gradient, against autograd."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="structure models need the extra structure with torch")

import torch

from largeea.structure.models import sparse_product
from largeea.structure.models.reflection import ReflectionEdges, reflected

pytestmark = pytest.mark.usefixtures("kernels")
ENTITIES, RELATIONS, DIMENSION, EDGES = 300, 7, 5, 900


@pytest.fixture
def edges() -> np.ndarray:
    """Edges in no order; the last ten entities have none."""
    random = np.random.default_rng(0)
    return np.column_stack([random.integers(0, n, EDGES) for n in (ENTITIES - 10, RELATIONS, ENTITIES - 10)])


def inputs() -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(0)
    shapes = (ENTITIES, DIMENSION), (RELATIONS, DIMENSION), (2, DIMENSION)
    vectors, axes, attention = (torch.randn(shape, generator=random) for shape in shapes)
    axes = torch.nn.functional.normalize(axes)
    return [tensor.requires_grad_() for tensor in (vectors, axes, attention)]


def plain(
    edges: np.ndarray, vectors: torch.Tensor, axes: torch.Tensor, attention: torch.Tensor
) -> torch.Tensor:
    """A vector for every edge, a mask for every entity."""
    head, relation, tail = torch.from_numpy(edges).T
    neighbour, axis = attention
    turned = vectors[tail] - 2 * (vectors[tail] * axes[relation]).sum(1, keepdim=True) * axes[relation]
    logits = turned @ neighbour + axes[relation] @ axis
    rows = [torch.zeros(DIMENSION) for _ in range(ENTITIES)]
    for entity in set(edges[:, 0].tolist()):
        own = head == entity
        rows[entity] = torch.softmax(logits[own], 0) @ turned[own]
    return torch.stack(rows)


def test_the_layer_and_its_gradient_equal_autograd(
    edges: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse_product, "CHUNK", 8)
    given = inputs()
    ours = reflected(ReflectionEdges(edges, ENTITIES, RELATIONS), *given)
    true = plain(edges, *given)
    np.testing.assert_allclose(ours.detach(), true.detach(), rtol=1e-4, atol=1e-5)
    direction = torch.linspace(-1, 2, true.numel()).view_as(true)
    found, expected = (torch.autograd.grad((result * direction).sum(), given) for result in (ours, true))
    for own, autograd in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, autograd, rtol=1e-3, atol=1e-3)


def test_large_logits_do_not_overflow(edges: np.ndarray) -> None:
    vectors, axes, attention = inputs()
    layer = ReflectionEdges(edges, ENTITIES, RELATIONS)
    result = reflected(layer, vectors, axes, 1000 * attention)
    (gradient,) = torch.autograd.grad(result.sum(), vectors)
    assert torch.isfinite(result).all()
    assert torch.isfinite(gradient).all()
