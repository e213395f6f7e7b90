"""What this machine has: memory and cores, as far as its control group lets us use them; who goes first."""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

NICENESS = 5
"""Of threads that give way, beside that of the process: with another thread on a core, they get a quarter."""
_CGROUP = Path("/sys/fs/cgroup")
_OWN_CGROUP = Path("/proc/self/cgroup")


@cache
def memory_bytes() -> int:
    """Physical memory, or the control group's limit where that is lower."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [_number(text) for text in _limits("memory.max", "memory/memory.limit_in_bytes")]
    return int(min([physical, *(limit for limit in limits if limit)]))


@cache
def cpu_count() -> int:
    """Cores this process may run on, or the control group's share where that is lower."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for text in _limits("cpu.max"):
        quota, _, period = text.partition(" ")
        if _number(quota) and _number(period):
            cores = min(cores, math.ceil(_number(quota) / _number(period)))
    return max(1, cores)


def give_way() -> None:
    """Lower the priority of this thread; do nothing outside of Linux, where it is that of the process."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.nice(NICENESS)


def _limits(*names: str) -> list[str]:
    """What the control group says under each name: its own folder first, then the root."""
    folders = [_CGROUP]
    with suppress(OSError):
        own = _OWN_CGROUP.read_text().rsplit("::", 1)[-1].strip().lstrip("/")
        folders.insert(0, _CGROUP / own)
    found = []
    for path in (folder / name for folder in folders for name in names):
        with suppress(OSError):
            found.append(path.read_text().strip())
    return found


def _number(text: str) -> float:
    """The number, 0 where it is none: "max" stands for no limit."""
    return float(text) if text.isdigit() else 0.0
