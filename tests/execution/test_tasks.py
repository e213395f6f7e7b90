"""Tasks as a worker of a cluster sees them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from largeea.errors import UsageError
from largeea.execution import Execution, tasks
from largeea.names.strings import minhash


def test_a_node_with_another_release_does_not_compute() -> None:
    """It would silently mix results of different code into one answer."""
    pytest.importorskip("ray", reason="the extra largeea[ray] is not installed")
    function = next(value for value in vars(minhash).values() if _is_own_function(value))
    module, name, code, arguments = tasks.described(function, (0, 1))
    assert code
    with pytest.raises(UsageError, match=r"another version of .*minhash.*install the same release"):
        tasks.carry_out((module, name, f"{code}x", arguments), Execution(), np.empty(0))


def test_workers_import_what_the_driver_has_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = tasks.loaded_modules()
    assert minhash.__name__ in modules
    assert not [name for name in modules if not name.startswith("largeea") or name.startswith("largeea.cli")]
    imported: list[str] = []
    monkeypatch.setattr(tasks.importlib, "import_module", imported.append)
    tasks.get_ready(("largeea.graph", "os", "largeea_other", minhash.__name__))
    expected = [*tasks.NEEDED_BY_JOBS, "largeea.graph", minhash.__name__]
    assert imported == expected, "modules of this package alone"


def test_workers_that_are_ready_have_imported_the_jobs_of_the_default_method() -> None:
    """They get ready before the driver has imported that itself."""
    program = """
import sys
from largeea.execution import jobs, tasks
tasks.get_ready(())
ready, needed = set(sys.modules), set()
run = jobs.Job.run
jobs.Job.run = lambda self, shared: (needed.add(self.function.__module__), run(self, shared))[1]
import largeea
from largeea.datasets.demo import demo_pair
pair = demo_pair()
largeea.align(pair.source, pair.target)
print(len(needed), sorted(needed - ready))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    count, missing = done.stdout.split(maxsplit=1)
    assert int(count) > 5
    assert missing.strip() == "[]"


def _is_own_function(value: object) -> bool:
    return getattr(value, "__module__", "") == minhash.__name__ and type(value).__name__ == "function"
