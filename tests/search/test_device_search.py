"""The search of a GPU, run on a CPU, against the compiled one; and what it does when memory runs out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="searching on a device needs torch")

import torch

from largeea.errors import ResourceError
from largeea.execution import Execution, executing
from largeea.execution.devices import free_gpu_bytes, in_blocks
from largeea.search import cuda, dense_top_k
from largeea.search.cuda import CudaSearch, nearest_on_device
from largeea.search.vectors import unit_rows


@pytest.fixture(autouse=True)
def on_cpu():
    with executing(Execution(device="cpu")):
        yield


@pytest.fixture(scope="module")
def vectors() -> tuple[np.ndarray, np.ndarray]:
    """Sizes that are no multiples of a group; one query and some items are zero."""
    random = np.random.default_rng(0)
    queries, items = (unit_rows(random.standard_normal((n, 24), np.float32)) for n in (501, 2717))
    items[2000:2010] = 0
    queries[3] = 0
    return queries, items


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
@pytest.mark.parametrize("k", [1, 10, 60])
def test_it_finds_what_the_cpu_finds(vectors: tuple[np.ndarray, np.ndarray], metric: str, k: int) -> None:
    ids, scores = nearest_on_device(*map(torch.from_numpy, vectors), k, metric=metric)
    true_ids, true_scores = dense_top_k(*vectors, k, metric=metric, search="exact")
    assert (ids.dtype, scores.dtype) == (torch.int32, torch.float32)
    np.testing.assert_allclose(scores, true_scores, atol=2e-6)
    assert (ids.numpy() == true_ids).mean() > 0.999
    assert (ids[3] == -1).all()


def test_equal_items_are_found_by_id(vectors: tuple[np.ndarray, np.ndarray]) -> None:
    items = vectors[1].copy()
    items[100:140] = items[7]
    ids, scores = nearest_on_device(torch.from_numpy(items[7:8]), torch.from_numpy(items), 30)
    assert ids[0].tolist() == [7, *range(100, 129)]
    assert len(set(scores[0].tolist())) == 1


def test_fewer_items_than_wanted_are_padded() -> None:
    items = torch.eye(4)[:3]
    ids, scores = nearest_on_device(torch.eye(4), items, 5, metric="manhattan")
    assert ids[:, 0].tolist() == [0, 1, 2, -1]
    assert (ids[:, 1:] == -1).all()
    assert scores[3].tolist() == [0.0] * 5
    nothing, _ = nearest_on_device(torch.eye(4), torch.empty(0, 4), 2)
    assert (nothing == -1).all()


def test_blocks_leave_no_trace(
    vectors: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = CudaSearch(vectors[1]).nearest(vectors[0], 7, "manhattan")
    monkeypatch.setattr(cuda, "_MOST_QUERIES", 64)
    parts = CudaSearch(vectors[1]).nearest(vectors[0], 7, "manhattan")
    np.testing.assert_array_equal(parts[0], whole[0])
    np.testing.assert_allclose(parts[1], whole[1], atol=1e-6)


def test_vectors_too_large_for_the_gpu_are_refused(vectors: tuple[np.ndarray, np.ndarray]) -> None:
    limit = executing(Execution(device="cpu", gpu_memory="400KB"))
    with limit, pytest.raises(ResourceError, match=r"2717 vectors of 24 dimensions .* device = cpu"):
        CudaSearch(vectors[1]).nearest(vectors[0], 5, "cosine")


def test_the_limit_is_what_is_free() -> None:
    with executing(Execution(device="cpu", gpu_memory="3GB")):
        assert free_gpu_bytes(torch.device("cpu")) == 3_000_000_000


class SmallGpu:
    """Has room for so many rows at a time."""

    def __init__(self, room: int) -> None:
        self.room, self.done = room, []

    def __call__(self, first: int, last: int) -> None:
        if last - first > self.room:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        self.done.append((first, last))


@pytest.mark.parametrize(("rows", "size", "room"), [(100, 64, 1000), (100, 64, 20), (7, 4, 1), (1, 9, 1)])
def test_blocks_are_halved_until_they_fit(rows: int, size: int, room: int) -> None:
    gpu = SmallGpu(room)
    in_blocks(gpu, rows, size)
    covered = [row for first, last in gpu.done for row in range(first, last)]
    assert covered == list(range(rows))
    assert max(last - first for first, last in gpu.done) <= min(size, room)


def test_a_row_that_does_not_fit_is_a_resource_error() -> None:
    with pytest.raises(ResourceError, match="gpu_memory"):
        in_blocks(SmallGpu(0), 3, 2)


def test_a_search_goes_on_when_memory_runs_out(
    vectors: tuple[np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = CudaSearch(vectors[1]).nearest(vectors[0], 5, "cosine")
    real = cuda._candidates

    def short_of_memory(scores: Any, *sizes: int) -> Any:
        if len(scores) > 40:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory")
        return real(scores, *sizes)

    monkeypatch.setattr(cuda, "_candidates", short_of_memory)
    found = CudaSearch(vectors[1]).nearest(vectors[0], 5, "cosine")
    np.testing.assert_array_equal(found[0], expected[0])
