"""Products with a sparse matrix, against the dense ones."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="structure models need the extra structure with torch")

import torch

from largeea.structure.models.sparse_product import Pattern, aggregate, entry_dots
from largeea.structure.models.training_loop import torch_threads


@pytest.fixture
def pattern() -> Pattern:
    """Entries in no order, one place twice, an empty row and an empty column."""
    return Pattern(torch.tensor([3, 0, 3, 1, 0, 0]), torch.tensor([1, 4, 1, 0, 2, 0]), (5, 6))


def normal(*shape: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(len(shape) + shape[0])
    return torch.randn(shape, generator=random).requires_grad_()


def dense(pattern: Pattern, values: torch.Tensor) -> torch.Tensor:
    return torch.zeros(pattern.shape).index_put((pattern.row, pattern.column), values, accumulate=True)


def gradients(result: torch.Tensor, *inputs: torch.Tensor) -> list[np.ndarray]:
    direction = torch.linspace(-1, 2, result.numel()).view_as(result)
    return [g.numpy() for g in torch.autograd.grad((result * direction).sum(), inputs)]


def test_aggregate_is_a_matrix_product(pattern: Pattern) -> None:
    values, vectors = normal(6), normal(6, 3)
    ours, plain = aggregate(pattern, values, vectors), dense(pattern, values) @ vectors
    np.testing.assert_allclose(ours.detach(), plain.detach(), rtol=1e-5)
    for own, true in zip(gradients(ours, values, vectors), gradients(plain, values, vectors), strict=True):
        np.testing.assert_allclose(own, true, rtol=1e-5)


def test_entry_dots_are_entries_of_a_product(pattern: Pattern) -> None:
    left, right = normal(5, 3), normal(6, 3)
    ours, plain = entry_dots(pattern, left, right), (left @ right.T)[pattern.row, pattern.column]
    np.testing.assert_allclose(ours.detach(), plain.detach(), rtol=1e-5)
    for own, true in zip(gradients(ours, left, right), gradients(plain, left, right), strict=True):
        np.testing.assert_allclose(own, true, rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 3])
def test_gradients_do_not_depend_on_threads(threads: int) -> None:
    """With so many entries torch uses several threads; sums of `values[places]` then differ between runs."""
    random = torch.Generator().manual_seed(0)
    row, column = (torch.randint(0, 9, (100_000,), generator=random) for _ in range(2))
    many = Pattern(row, column, (9, 9))
    found = []
    for count in (1, threads, threads):
        with torch_threads(count):
            logits = normal(100_000)
            found.append(gradients(many.row_softmax(logits), logits)[0])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_softmax_sums_to_one_in_each_row(pattern: Pattern) -> None:
    logits = torch.tensor([1000.0, 1.0, 1001.0, -1000.0, 2.0, 3.0])
    weights = pattern.row_softmax(logits)
    np.testing.assert_allclose(weights[[1, 4, 5]], torch.softmax(logits[[1, 4, 5]], 0), rtol=1e-6)
    np.testing.assert_allclose(weights[[0, 2]], torch.softmax(logits[[0, 2]], 0), rtol=1e-6)
    assert weights[3] == 1
