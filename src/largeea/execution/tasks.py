"""What a worker of a cluster does: a task names a function of this package or of a registered plug-in.

Nothing else can be named: a description that was tampered with does not reach `os.system`.
"""

from __future__ import annotations

import importlib
import inspect
import platform
import sys
import time
from collections.abc import Callable
from functools import cache
from importlib.metadata import distributions
from typing import Any

from largeea.errors import UsageError
from largeea.execution import file_arrays
from largeea.execution.code import code_fingerprint
from largeea.execution.settings import Execution, executing
from largeea.graph import Arrays

PACKAGE = "largeea"
NEEDED_BY_JOBS = (f"{PACKAGE}.pipeline", f"{PACKAGE}.search.exact")
"""Modules that import what nearly all jobs need: workers start before the driver has imported it itself."""
Described = tuple[str, str, str, tuple[int | str, ...]]
"""The module and name of a function, the fingerprint of its code, and the arguments of one job."""


def described(function: Callable[..., Arrays], arguments: tuple[int | str, ...]) -> Described:
    """A job as plain values; an error if a worker would refuse it."""
    function_named(function.__module__, function.__qualname__)
    return function.__module__, function.__qualname__, code_fingerprint(function), arguments


def carry_out(task: Described, execution: Execution, *shared: Any) -> tuple[Arrays, str, float]:
    """The result of a job, on which node and in how many seconds."""
    import ray

    file_arrays.check_restored()
    module, name, code, arguments = task
    function = function_named(module, name)
    _check_code(function, code)
    started = time.perf_counter()
    with executing(execution):
        result = function(*arguments, *shared)
    node: str = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    return result, node, time.perf_counter() - started


def loaded_modules() -> tuple[str, ...]:
    """The modules of this package that this process has imported, but for those of the command line."""
    ours = (name for name in tuple(sys.modules) if name.partition(".")[0] == PACKAGE)
    return tuple(sorted(name for name in ours if not name.startswith(f"{PACKAGE}.cli")))


def get_ready(modules: tuple[str, ...]) -> None:
    """Import what jobs need, and some modules of this package, before the first job does."""
    for name in (*NEEDED_BY_JOBS, *modules):
        if name.partition(".")[0] == PACKAGE:
            importlib.import_module(name)


def function_named(module: str, name: str) -> Callable[..., Arrays]:
    """The function of that name, which its module itself defines."""
    package = module.partition(".")[0]
    if package != PACKAGE and package not in _plugin_packages():
        raise UsageError(
            f"a job names the module {module!r}: jobs are functions of {PACKAGE}, or of packages that "
            f"register plug-ins in a group {PACKAGE}.*"
        )
    function = getattr(importlib.import_module(module), name, None)
    if not inspect.isfunction(function) or function.__module__ != module:
        raise UsageError(f"a job names {module}.{name}, which is not a function of that module")
    return function


def _check_code(function: Callable[..., Arrays], expected: str) -> None:
    """Raise an error if this node has other code: the answer would depend on which node computes what."""
    if code_fingerprint(function) != expected:
        raise UsageError(
            f"the node {platform.node()} has another version of {function.__module__} than the machine that "
            f"started the run; install the same release of {PACKAGE} on all nodes"
        )


@cache
def _plugin_packages() -> frozenset[str]:
    """Top-level packages that register plug-ins."""
    points = (point for package in distributions() for point in package.entry_points)
    ours = (point for point in points if point.group.startswith(f"{PACKAGE}."))
    return frozenset(point.module.partition(".")[0] for point in ours)
