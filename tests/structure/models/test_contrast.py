"""The log-sum-exp loss with its own gradient, against autograd."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="structure models need the extra structure with torch")

import torch
from torch.nn.functional import cross_entropy, normalize

from largeea.structure.models import kernels_cpu, kernels_torch
from largeea.structure.models.contrast import Ends, contrast

ENTITIES, DIMENSION, TEMPERATURE = 60, 8, 0.1


@pytest.fixture
def embeddings() -> torch.Tensor:
    random = torch.Generator().manual_seed(1)
    return torch.randn((ENTITIES, DIMENSION), generator=random).requires_grad_()


@pytest.fixture
def directions() -> list[Ends]:
    """Some negatives are drawn twice, some are the counterpart of a seed, one entity is in two seeds."""
    left, right = torch.tensor([0, 1, 2, 2]), torch.tensor([30, 31, 32, 33])
    return [
        (left, right, torch.tensor([31, 40, 40, 50, 33, 30, 59])),
        (right, left, torch.tensor([2, 5, 9, 9])),
    ]


def by_autograd(embeddings: torch.Tensor, directions: list[Ends]) -> torch.Tensor:
    units, total = normalize(embeddings), torch.zeros(())
    for entity, counterpart, negative in directions:
        wrong = units[entity] @ units[negative].T
        wrong = wrong.masked_fill(counterpart[:, None] == negative, -torch.inf)
        right = (units[entity] * units[counterpart]).sum(dim=1, keepdim=True)
        logits = torch.cat([right, wrong], dim=1) / TEMPERATURE
        total = total + cross_entropy(logits, torch.zeros_like(entity))
    return total


@pytest.mark.usefixtures("kernels")
def test_loss_and_gradient_equal_autograd(embeddings: torch.Tensor, directions: list[Ends]) -> None:
    ours = contrast(embeddings, directions, TEMPERATURE, 0.0, seed=0)
    true = by_autograd(embeddings, directions)
    assert ours.item() == pytest.approx(true.item(), rel=1e-5)
    found, expected = (torch.autograd.grad(3 * loss, embeddings)[0] for loss in (ours, true))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.usefixtures("kernels")
def test_vectors_of_zeros_give_no_gradient(directions: list[Ends]) -> None:
    nothing = torch.zeros(ENTITIES, DIMENSION, requires_grad=True)
    loss = contrast(nothing, directions, TEMPERATURE, 0.3, seed=0)
    (gradient,) = torch.autograd.grad(loss, nothing)
    assert torch.isfinite(loss)
    assert not gradient.any()


@pytest.mark.parametrize("kernels", [kernels_cpu, kernels_torch], ids=["cpu", "torch"])
def test_dropout_drops_its_share_and_follows_its_seed(kernels) -> None:
    vectors, rows = torch.ones(500, 100), torch.arange(500)
    units, scale = kernels.unit_rows(vectors, rows, 0.3, 7)
    dropped = (units == 0).double()
    assert dropped.mean().item() == pytest.approx(0.3, abs=0.01)
    assert dropped.mean(dim=0).sub(0.3).abs().max() < 0.1
    assert dropped.mean(dim=1).sub(0.3).abs().max() < 0.25
    np.testing.assert_allclose(torch.linalg.vector_norm(units, dim=1), 1, rtol=1e-5)
    np.testing.assert_allclose(scale * torch.sqrt((units > 0).sum(dim=1)), 1, rtol=1e-5)
    again, _ = kernels.unit_rows(vectors, rows, 0.3, 7)
    other, _ = kernels.unit_rows(vectors, rows, 0.3, 8)
    np.testing.assert_array_equal(units, again)
    assert ((units == 0) != (other == 0)).double().mean().item() == pytest.approx(0.42, abs=0.02)


def test_products_in_bf16_are_near(embeddings: torch.Tensor, directions: list[Ends]) -> None:
    exact = contrast(embeddings, directions, TEMPERATURE, 0.0, 0)
    coarse = contrast(embeddings, directions, TEMPERATURE, 0.0, 0, torch.bfloat16)
    assert coarse.item() == pytest.approx(exact.item(), rel=0.02)
    assert coarse.item() != exact.item()
