"""The kernels of both kinds of devices: those for a GPU run on a CPU too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from largeea.execution import Execution, executing


@pytest.fixture(params=["kernels_cpu", "kernels_torch"])
def kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Every computation inside the test uses these kernels."""
    pytest.importorskip("torch", reason="structure models need the extra structure with torch")
    from largeea.structure.models import contrast, kernels_cpu, kernels_torch, reflection, sparse_product

    chosen = {"kernels_cpu": kernels_cpu, "kernels_torch": kernels_torch}[request.param]
    for module in (contrast, reflection, sparse_product):
        monkeypatch.setattr(module, "kernels_for", lambda tensor: chosen)
    with executing(Execution(device="cpu", threads=2)):
        yield request.param
