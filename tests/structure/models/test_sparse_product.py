"""Sums over groups and products with a sparse matrix, against the dense ones."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="structure models need the extra structure with torch")

import torch

from largeea.structure.models import sparse_product
from largeea.structure.models.sparse_product import Groups, SparseMatrix, rows_of

pytestmark = pytest.mark.usefixtures("kernels")


def normal(*shape: int) -> torch.Tensor:
    random = torch.Generator().manual_seed(len(shape) + shape[0])
    return torch.randn(shape, generator=random).requires_grad_()


def gradient(result: torch.Tensor, vectors: torch.Tensor) -> np.ndarray:
    direction = torch.linspace(-1, 2, result.numel()).view_as(result)
    return torch.autograd.grad((result * direction).sum(), vectors)[0].numpy()


def test_a_sparse_matrix_multiplies_like_a_dense_one() -> None:
    """Entries in no order, one place twice, an empty row and an empty column."""
    row, column = torch.tensor([3, 0, 3, 1, 0, 0]), torch.tensor([1, 4, 1, 0, 2, 0])
    values, vectors = normal(6).detach(), normal(6, 3)
    ours = SparseMatrix(row, column, values, Groups(row, 5), Groups(column, 6)).times(vectors)
    plain = torch.zeros(5, 6).index_put((row, column), values, accumulate=True) @ vectors
    np.testing.assert_allclose(ours.detach(), plain.detach(), rtol=1e-5)
    np.testing.assert_allclose(gradient(ours, vectors), gradient(plain, vectors), rtol=1e-5)


@pytest.mark.parametrize("chunk", [1, 2, 3, 64])
def test_large_groups_are_summed_in_chunks(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_product, "CHUNK", chunk)
    key = torch.tensor([4, 1, 4, 4, 2, 4, 4, 4, 2, 4, 4, 1, 4, 4])
    values, vectors = normal(14).detach(), normal(9, 3).detach()
    index = (torch.arange(14, dtype=torch.int32) * 5) % 9
    terms = (values, index, vectors), (2 * values, index.flip(0), vectors)
    expected = torch.zeros(6, 3)
    for edge, group in enumerate(key.tolist()):
        expected[group] += sum(weight[edge] * table[places[edge]] for weight, places, table in terms)
    groups = Groups(key, 6)
    np.testing.assert_allclose(groups.sums(*terms), expected, rtol=1e-5, atol=1e-6)
    totals = groups.totals(values[:, None])
    np.testing.assert_allclose(totals[:, 0], torch.bincount(key, values.double(), 6), rtol=1e-5, atol=1e-6)
    assert sorted(groups.order.tolist()) == list(range(14))
    assert groups.starts.diff().max() <= chunk


def test_no_edges_and_no_groups() -> None:
    nothing = torch.empty(0, dtype=torch.int64)
    term = (torch.empty(0), nothing.int(), torch.ones(2, 3))
    assert Groups(nothing, 4).sums(term).tolist() == [[0.0] * 3] * 4


def test_rows_are_taken_and_their_gradients_added_up() -> None:
    vectors, rows = normal(5, 3), torch.tensor([4, 0, 4, 4, 1])
    ours, plain = rows_of(vectors, rows), vectors[rows]
    np.testing.assert_array_equal(ours.detach(), plain.detach())
    np.testing.assert_allclose(gradient(ours, vectors), gradient(plain, vectors), rtol=1e-6)
