"""The sparse search on a torch device finds what the compiled one finds; here the device is the CPU."""

from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import numpy.typing as npt
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.execution import Execution, executing
from largeea.search.sparse import CompiledSearch
from largeea.search.sparse_index import Csr, SparseIndex

pytest.importorskip("torch")
from largeea.search import cuda_sparse
from largeea.search.cuda_sparse import CudaSparseSearch

often = settings(deadline=None, max_examples=60, database=None, derandomize=True)
Dense = npt.NDArray[np.float32]
# Halves multiply and add exactly, and often tie.
halves = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.5])


def both(queries: sp.csr_array, items: sp.csr_array, budget: int) -> tuple[CompiledSearch, CudaSparseSearch]:
    rows, index = Csr.of(queries), SparseIndex.build(Csr.of(items), items.shape[1], budget)
    return CompiledSearch(rows, index, budget), CudaSparseSearch(rows, index, budget)


@st.composite
def problems(draw: st.DrawFn) -> tuple[Dense, Dense]:
    queries, items, features = (draw(st.integers(0, most)) for most in (4, 12, 4))
    left, right = (draw(hnp.arrays(np.float32, (n, features), elements=halves)) for n in (queries, items))
    return left, right


@often
@given(problems(), st.integers(1, 20), st.integers(3, 6))
def test_same_as_the_compiled_search(problem: tuple[Dense, Dense], budget: int, k: int) -> None:
    """All proposed items are scored again here, so that no tie is cut in the middle."""
    queries, items = (sp.csr_array(side) for side in problem)
    compiled, on_device = both(queries, items, budget)
    expected, found = (search.find(0, queries.shape[0], k) for search in (compiled, on_device))
    for theirs, ours in zip(expected, found, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def vectors(rows: int, seed: int) -> sp.csr_array:
    """Rows of length 1; features have very different frequencies."""
    random = np.random.default_rng(seed)
    kept = random.random((rows, 120)) < 0.6 / np.arange(1, 121) ** 0.6
    dense = np.where(kept, random.random((rows, 120)) + 0.1, 0).astype(np.float32)
    return sp.csr_array(dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-6))


@pytest.mark.parametrize("budget", [60, 400, 10_000])
def test_scores_agree_within_the_stated_bound(budget: int) -> None:
    compiled, on_device = both(vectors(300, 1), vectors(900, 2), budget)
    expected, found = (search.find(0, 300, 10) for search in (compiled, on_device))
    assert np.abs(found[1] - expected[1]).max() < 1e-6
    assert (found[0] == expected[0]).mean() > 0.995


def test_blocks_and_memory_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    _, search = both(vectors(200, 1), vectors(500, 2), 150)
    expected = search.find(20, 200, 8)
    monkeypatch.setattr(cuda_sparse, "MOST_WORK", 20_000)
    found = search.find(20, 200, 8)
    for theirs, ours in zip(expected, found, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_index_that_does_not_fit_is_told() -> None:
    _, search = both(vectors(20, 1), vectors(5000, 2), 150)
    assert search.fits()
    with executing(Execution(device="cpu", gpu_memory="100KB")):
        assert not search.fits()
