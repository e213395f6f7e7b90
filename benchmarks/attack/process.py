"""Runs a command in a process of its own, within limits, and judges how it ended.

The processes are forked from one that has only done the imports, so that thousands of them are affordable.
That one must never compute: threads and compiled kernels do not survive a fork.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from largeea import cli
from largeea.execution import memory

PRELOADED = (
    *("align", "resume", "update", "verify", "evaluate", "explain", "export", "report", "merge", "synth"),
    *("status", "inspect", "review", "reconcile", "schema", "dedupe", "build_dbp1m", "experiment", "data"),
)
for command_name in PRELOADED:
    import_module(f"largeea.cli.{command_name}")
import_module("largeea.pipeline")
memory._LOWER_MARK = Path(
    os.devnull
)  # the system tells the most memory that was in use, unless it is lowered

SECONDS = 600
"""A process that is not at its end by then hangs; the first one of a kind compiles for minutes."""
CLEAR = (2, 3, 4)
"""Exit codes of errors with a clear message: usage, input, resources."""


@dataclass(frozen=True)
class Outcome:
    """How a process ended: `code` is negative for a signal, None if it was still running at the end."""

    code: int | None
    out: str
    err: str
    seconds: float
    cpu_seconds: float
    memory_mb: float

    @property
    def killed(self) -> bool:
        return self.code == -signal.SIGKILL


def nothing() -> None:
    """Do nothing before the command."""


def run(arguments: list[str], before: Callable[[], None] = nothing, seconds: float = SECONDS) -> Outcome:
    """Run `largeea ARGUMENTS` in a process of its own; it calls `before` first."""

    def action() -> int:
        before()
        return cli.run(arguments)

    return call(action, seconds)


def call(action: Callable[[], int], seconds: float = SECONDS) -> Outcome:
    """Run a function in a process of its own, and return how it ended; its exit code is what it returns."""
    with tempfile.TemporaryDirectory(prefix="attack") as place:
        out, err = Path(place, "out"), Path(place, "err")
        began = time.monotonic()
        child = start(action, out, err)
        while True:
            pid, status, usage = os.wait4(child, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                break
            if time.monotonic() - began > seconds:
                os.killpg(child, signal.SIGKILL)
                _, _, usage = os.wait4(child, 0)
                code = None
                break
            time.sleep(0.005)
        took = time.monotonic() - began
        texts = [path.read_text("utf-8", "replace") for path in (out, err)]
    cpu = usage.ru_utime + usage.ru_stime
    return Outcome(code, *texts, took, cpu, usage.ru_maxrss / 1024)


def start(action: Callable[[], int], out: Path, err: Path) -> int:
    """Start a process, the leader of a group of its own, and return its id."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        os.setsid()
        for number, path in ((1, out), (2, err)):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = action()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def fall(outcome: Outcome, allowed: tuple[int, ...] = (0, *CLEAR)) -> str | None:
    """Return what is wrong with the end of a command; None for a result or a clear error."""
    lines = outcome.err.strip().splitlines() or [""]
    if outcome.code is None:
        return f"no end after {outcome.seconds:.0f} s"
    if "Traceback" in outcome.err or "internal error" in outcome.err:
        return next((line for line in lines if "internal error" in line), lines[-1])
    if outcome.code not in allowed:
        return f"ended with {outcome.code}: {lines[-1]}"
    if outcome.code and "error:" not in outcome.err and not outcome.out.strip():
        return f"ended with {outcome.code} and no message"
    return None
