"""Vectors in half precision: a device searches them as they are, the CPU in float32, with one answer."""

from __future__ import annotations

import numpy as np
import pytest

from largeea.execution import Execution, executing
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.graph.same_iri import matched_kinds
from largeea.names.rows import name_rows
from largeea.names.semantic import vector_similarity
from largeea.search.vectors import unit_rows

torch = pytest.importorskip("torch", reason="needs largeea[structure]")


def graph(side: str, size: int) -> KnowledgeGraph:
    iris = strings([f"urn:{side}{at:04}" for at in range(size)])
    return KnowledgeGraph(iris, iris, strings(), np.empty((0, 3)))


@pytest.mark.parametrize("metric", ["cosine", "manhattan"])
def test_a_device_finds_what_the_cpu_finds(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = graph("a", 300), graph("b", 900)
    rows = name_rows(source, target, matched_kinds(source, target, Links.none()), 0, ())
    random = np.random.default_rng(0)
    vectors = {
        side: unit_rows(random.standard_normal((n, 32), np.float32)).astype(np.float16)
        for side, n in (("source", 300), ("target", 900))
    }
    vectors["target"][:50] = vectors["source"][:50]
    with executing(Execution(device="cpu")):
        by_cpu = vector_similarity(rows, vectors, 10, metric, "exact")
        for place in ("names.semantic", "search.dense"):
            monkeypatch.setattr(f"largeea.{place}.cuda_is_chosen", lambda: True)
        monkeypatch.setattr("largeea.search.cuda.torch_device", lambda: torch.device("cpu"))
        by_device = vector_similarity(rows, vectors, 10, metric, "exact")
    np.testing.assert_array_equal(by_device.indptr, by_cpu.indptr)
    assert (by_device.indices == by_cpu.indices).mean() > 0.999
    np.testing.assert_allclose(by_device.scores, by_cpu.scores, atol=1e-5)
    np.testing.assert_array_equal(by_device.best()[0][:50], np.arange(50))
