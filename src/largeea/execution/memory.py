"""How much memory this process uses at most: in all, and during each of its steps.

The system keeps one high-water mark of a process, and torch one of each GPU. Reading a mark also lowers it to
what is used right now, where that is allowed, so that the next reading tells about the time in between alone.
"""

from __future__ import annotations

import ctypes
import resource
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from largeea.execution.settings import current

_STATUS, _LOWER_MARK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class PeakMemory:
    """The most memory in use at a time, in MB: of the host, and of its GPUs (the fullest counts)."""

    host: float = 0.0
    gpu: float = 0.0


_process = PeakMemory()
_measured = [_process]
"""All measurements under way; the process itself is always among them."""
_lock = threading.RLock()


@contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measure what happens inside; the figures are there when the context ends. Contexts may be nested."""
    used = PeakMemory()
    with _lock:
        _read_marks()
        _measured.append(used)
    try:
        yield used
    finally:
        with _lock:
            _read_marks()
            _measured[:] = [other for other in _measured if other is not used]


def release_free_memory() -> None:
    """Give memory that was freed back to the system, once this process holds a quarter of its limit.

    With less, freed memory is kept: to get it again takes time.
    """
    if resident_bytes() < current().memory_bytes // 4:
        return
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def resident_bytes() -> int:
    """Resident memory of this process right now; 0 where the system does not tell."""
    with suppress(OSError, StopIteration):
        size = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmRSS:"))
        return int(size.split()[1]) * 1024
    return 0


def peak_rss_mb() -> float:
    """Peak resident memory of this process so far, in MB."""
    _read_marks()
    return _process.host


def peak_gpu_mb() -> float:
    """Peak memory of tensors on one GPU so far, in MB; 0 where none was used."""
    _read_marks()
    return _process.gpu


def _read_marks() -> None:
    """Credit what was used since the last reading to all measurements under way."""
    with _lock:
        host, gpu = _host_mb(), _gpu_mb()
        for used in _measured:
            used.host, used.gpu = max(used.host, host), max(used.gpu, gpu)


def _host_mb() -> float:
    """The mark of resident memory, lowered after reading; where there is no /proc it only ever rises."""
    with suppress(OSError, StopIteration):
        mark = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        with suppress(OSError):
            _LOWER_MARK.write_text("5")
        return round(int(mark.split()[1]) / 1024, 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def _gpu_mb() -> float:
    """The mark of tensors on the fullest GPU, lowered after reading; torch is asked only if it is in use."""
    torch = sys.modules.get("torch")
    if not getattr(getattr(torch, "cuda", None), "is_initialized", bool)():
        return 0.0
    assert torch is not None
    marks = [0.0]
    for device in range(torch.cuda.device_count()):
        marks.append(round(torch.cuda.max_memory_allocated(device) / (1 << 20), 1))
        torch.cuda.reset_peak_memory_stats(device)
    return max(marks)
