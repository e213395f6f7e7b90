"""Compiled code waits for its first call, from however many threads that comes."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import pytest

from largeea.compiled import _Waiting

KERNELS = """
from largeea.compiled import compiled, prange

@compiled(parallel=True)
def total(n):
    sum = 0
    for i in prange(n):
        sum += fourfold(i)
    return sum

@compiled()
def fourfold(x):
    return twice(twice(x))

@compiled(nogil=True)
def twice(x):
    return 2 * x

@compiled(nogil=True)
def eightfold(x):
    return twice(fourfold(x))
"""


def module_of(tmp_path: Path) -> ModuleType:
    """A module of its own, so that nothing in it was called before."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    spec = spec_from_file_location("kernels", tmp_path / "kernels.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_functions_call_each_other(tmp_path: Path) -> None:
    kernels = module_of(tmp_path)
    assert kernels.total.__name__ == "total"
    assert kernels.total(5) == 40
    assert kernels.eightfold(3) == 24


def test_the_first_call_may_come_from_many_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While one prepares them, slowly, the others wait, and nobody meets a function that is not ready."""
    kernels, together = module_of(tmp_path), Barrier(8)
    prepared = _Waiting.prepared

    def slowly(self: _Waiting, module: dict[str, Any]) -> Any:
        preparing.append(1)
        assert len(preparing) == 1
        time.sleep(0.02)
        done = prepared(self, module)
        preparing.pop()
        return done

    preparing: list[int] = []
    monkeypatch.setattr(_Waiting, "prepared", slowly)

    def call(number: int) -> int:
        together.wait()
        return int((kernels.eightfold, kernels.fourfold)[number % 2](number))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(call, range(8))) == [0, 4, 16, 12, 32, 20, 48, 28]


def test_an_interruption_leaves_no_half_equipped_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = module_of(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(kernels.twice, "_compile", None)
        with pytest.raises(TypeError):
            kernels.fourfold(1)
    assert kernels.fourfold(1) == 4


def test_keywords_and_functions_without_a_name_in_their_module(tmp_path: Path) -> None:
    kernels = module_of(tmp_path)
    unnamed = kernels.twice
    del kernels.twice, kernels.fourfold, kernels.eightfold, kernels.total
    assert unnamed(x=4) == 8


def test_numba_is_not_imported_before(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    program = f"""
import sys
sys.path.append({str(tmp_path)!r})
import kernels
print("numba" in sys.modules, kernels.twice(2))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False 4\n"
