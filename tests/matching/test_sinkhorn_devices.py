"""Sinkhorn iterations give the same probabilities on every device."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.execution.devices import cuda_is_chosen
from largeea.matching.sinkhorn import on_cpu, row_weights, sinkhorn
from largeea.similarity import Similarity

torch = pytest.importorskip("torch", reason="needs largeea[structure]")

BOUND = 1e-5
"""How far probabilities may differ between devices."""


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> object:
    if request.param == "cuda" and not cuda_is_chosen():
        pytest.skip("no CUDA device here")
    return torch.device(request.param)


def random_scores(seed: int, shape: tuple[int, int] = (400, 300)) -> Similarity:
    """Some rows and columns have no entry at all."""
    random = np.random.default_rng(seed)
    rows, columns = random.integers(5, shape[0], 4000), random.integers(0, shape[1] - 5, 4000)
    return Similarity.from_entries(rows, columns, random.random(4000), shape)


@pytest.mark.parametrize("temperature", [0.01, 0.1])
@pytest.mark.parametrize("iterations", [0, 50])
def test_devices_agree(device: object, temperature: float, iterations: int) -> None:
    from largeea.matching.cuda import on_device

    scores = random_scores(0)
    given = scores.indptr, scores.indices, *row_weights(scores, temperature, 0.3), 300, iterations
    np.testing.assert_allclose(on_device(*given, device), on_cpu(*given), atol=BOUND)


def test_the_same_bytes_again(device: object) -> None:
    from largeea.matching.cuda import on_device

    scores = random_scores(1)
    given = scores.indptr, scores.indices, *row_weights(scores, 0.05, 0.3), 300, 20, device
    np.testing.assert_array_equal(on_device(*given), on_device(*given))


@pytest.mark.parametrize("gpu_memory", ["1KB", "1GB"])
def test_what_does_not_fit_on_the_gpu_is_matched_on_the_cpu(
    gpu_memory: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is the same; a torch device that is the CPU stands in for the GPU."""
    from largeea.matching import cuda

    asked = []
    on_gpu = cuda.on_gpu
    monkeypatch.setattr("largeea.matching.sinkhorn.cuda_is_chosen", lambda: True)
    monkeypatch.setattr(cuda, "on_gpu", lambda *given: asked.append(1) or on_gpu(*given))
    scores = random_scores(2)
    with executing(Execution(device="cpu", gpu_memory=gpu_memory)):
        found = sinkhorn(scores, 0.05, 0.3)
    assert len(asked) == (gpu_memory == "1GB")
    given = *row_weights(scores, 0.05, 0.3), 300, 50
    np.testing.assert_allclose(found.scores, on_cpu(scores.indptr, scores.indices, *given), atol=BOUND)
