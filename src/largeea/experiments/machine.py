"""Description of the machine and software with which figures were measured."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from largeea.runs.folder import Run

Machine = dict[str, str | float]


def describe() -> Machine:
    """Hardware, current load, release and commit."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB",
        "gpu": _gpu(),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "release": version(),
        "commit": _commit(),
    }


def in_words(machines: Sequence[Machine]) -> str:
    """One sentence on the machines of all figures, which may have been measured at different times."""

    def seen(fact: str) -> str:
        return " and ".join(dict.fromkeys(str(machine[fact]) for machine in machines))

    loads = [float(machine["load"]) for machine in machines]
    return (
        f"Release {seen('release')}, commit {seen('commit')}; {seen('processor')}, {seen('memory')}, "
        f"GPU: {seen('gpu')}; load while measuring {min(loads):.1f} to {max(loads):.1f}."
    )


def version() -> str:
    """The release of this package, as runs record it."""
    return str(Run().manifest["version"])


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _gpu() -> str:
    """Name of the GPU; queried only if torch is already imported, because importing it takes seconds."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return "none"
    return str(torch.cuda.get_device_name(0))


def _commit() -> str:
    """The commit of the source tree that this package runs from, if there is one."""
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", str(folder.parent))
        return git("rev-parse", "--short", "HEAD") + (" and changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "none: an installed release"
