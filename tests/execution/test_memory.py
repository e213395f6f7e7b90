"""Peak memory of the process, and of its steps one by one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from largeea.execution import memory
from largeea.execution.memory import peak_gpu_mb, peak_memory, peak_rss_mb
from largeea.runs.folder import Run

MB = 1 << 20
needs_marks = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="this system keeps one mark per process only"
)


def use(mb: int) -> None:
    """Touch so much memory, then give it back."""
    np.ones(mb * MB, np.uint8)


@needs_marks
def test_a_measurement_is_about_its_own_time_alone() -> None:
    with peak_memory() as idle:
        pass
    with peak_memory() as busy:
        use(300)
    with peak_memory() as idle_again:
        pass
    assert busy.host > idle.host + 250
    assert abs(idle_again.host - idle.host) < 100
    assert peak_rss_mb() >= busy.host


@needs_marks
def test_an_outer_measurement_holds_the_inner_ones() -> None:
    with peak_memory() as outer:
        with peak_memory() as large:
            use(300)
        with peak_memory() as small:
            pass
    assert outer.host == large.host > small.host + 250


def test_the_peak_of_the_process_never_falls() -> None:
    before = peak_rss_mb()
    use(200)
    high = peak_rss_mb()
    assert high >= before > 10
    assert peak_rss_mb() >= high


@needs_marks
def test_every_stage_of_a_run_has_its_own_figure() -> None:
    with Run() as run:
        _ = run.stage("large", use, 300).value, run.stage("small", use, 1).value
    assert run.memory_mb["large"]["host"] > run.memory_mb["small"]["host"] + 250


def test_without_proc_there_is_still_a_figure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "_STATUS", tmp_path / "status")
    with peak_memory() as used:
        pass
    assert used.host > 10


class Cuda:
    """Two GPUs with known marks."""

    def __init__(self) -> None:
        self.marks = [300 * MB, 700 * MB]

    def is_initialized(self) -> bool:
        return True

    def device_count(self) -> int:
        return len(self.marks)

    def max_memory_allocated(self, device: int) -> int:
        return self.marks[device]

    def reset_peak_memory_stats(self, device: int) -> None:
        self.marks[device] = 0


def test_the_fullest_gpu_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_measured", [])
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=Cuda()))  # type: ignore[arg-type]
    with peak_memory() as outer:
        sys.modules["torch"].cuda.marks = [500 * MB, 200 * MB]
        with peak_memory() as inner:
            sys.modules["torch"].cuda.marks = [0, 100 * MB]
    assert (outer.gpu, inner.gpu) == (500, 100)


@pytest.mark.parametrize("torch", [None, SimpleNamespace(), SimpleNamespace(cuda=SimpleNamespace())])
def test_a_torch_that_is_not_there_yet_is_left_alone(monkeypatch: pytest.MonkeyPatch, torch: object) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]
    assert memory._gpu_mb() == 0


def test_looking_imports_no_torch() -> None:
    program = "import sys, largeea.execution.memory as m; print(m.peak_gpu_mb(), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "0.0 False\n"
    assert peak_gpu_mb() >= 0
