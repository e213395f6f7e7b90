"""Which device torch computes on: one choice for encoders, structure models and searches."""

from __future__ import annotations

import ctypes
import os
import threading
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from largeea.errors import ResourceError, UsageError
from largeea.execution.jobs import over_rows
from largeea.execution.settings import current
from largeea.plugins import optional

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
"""Torch's threads sleep while they wait; else they take the cores from those that work."""
STAGED_BYTES = 1 << 26
"""Page-locked memory that results of a GPU pass through."""
_staging_lock = threading.Lock()


def cuda_is_chosen() -> bool:
    """Whether a GPU does the work that it can do: one is there, and the CPU was not chosen."""
    if current().device == "cpu":
        return False
    if current().device != "auto":
        return bool(torch_device().type == "cuda")
    if not _has_driver():  # importing torch takes a second and 200 MB
        return False
    try:
        import torch
    except ModuleNotFoundError:
        return False
    return bool(torch.cuda.is_available())


def start_cuda() -> None:
    """Start CUDA in the background if it may be used: that takes seconds, while files are read anyway."""
    if current().device != "cpu" and _has_driver():
        threading.Thread(target=_start_cuda, daemon=True).start()


def _start_cuda() -> None:
    try:
        import torch
    except ModuleNotFoundError:
        return
    if torch.cuda.is_available():
        torch.cuda.init()  # type: ignore[no-untyped-call]


@cache
def _has_driver() -> bool:
    """Whether the CUDA driver is installed: without it there is no GPU to use."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def torch_device(extra: str = "structure") -> Any:
    """The chosen torch device; "auto" is CUDA where there is one."""
    torch, name = optional("torch", extra), current().device
    there = torch.cuda.device_count() if torch.cuda.is_available() else 0
    device = torch.device(("cuda" if there else "cpu") if name == "auto" else name)
    if device.type == "cuda" and (device.index or 0) >= there:
        raise UsageError(f"device {name!r} is not there: torch sees {there} CUDA devices; use cpu or auto")
    if device.type == "cuda":
        _keep_within_limit(torch, device)
    return device


def _keep_within_limit(torch: Any, device: Any) -> None:
    """Let torch hold no more GPU memory than allowed, what it keeps in reserve included."""
    number = device.index or 0
    _, total = torch.cuda.mem_get_info(number)
    share = min(int(current().gpu_memory or total) / total, 1.0)
    torch.cuda.set_per_process_memory_fraction(share, number)


def free_gpu_bytes(device: Any) -> int:
    """Memory of a torch device that is free for this process, what torch holds in reserve included.

    Never more than the limit `gpu_memory` leaves; on the CPU, the limit itself.
    """
    limit = current().gpu_memory
    if device.type == "cpu":
        return int(limit or current().memory_bytes)
    import torch

    free, _ = torch.cuda.mem_get_info(device)
    held = torch.cuda.memory_stats_as_nested_dict(device)  # torch.cuda.memory_allocated is much slower
    used = held["allocated_bytes"]["all"]["current"] if held else 0
    free += held["reserved_bytes"]["all"]["current"] - used if held else 0
    return free if limit is None else max(0, min(free, int(limit) - used))


def in_blocks(work: Callable[[int, int], None], rows: int, size: int) -> None:
    """`work(first, last)` over all rows, `size` at a time; half as many whenever a GPU runs out of memory."""
    import torch

    first = 0
    while first < rows:
        last = min(first + size, rows)
        if _fits(work, first, last):
            first = last
            continue
        size = (last - first) // 2
        torch.cuda.empty_cache()
        if not size:
            raise ResourceError(
                "the GPU has too little free memory for a single row of this step: end other programs that "
                "use it, allow more with gpu_memory, or choose device = cpu"
            )


def _fits(work: Callable[[int, int], None], first: int, last: int) -> bool:
    """Whether the work was done; what it held is released on return."""
    import torch

    try:
        work(first, last)
    except torch.cuda.OutOfMemoryError:
        return False
    return True


def tensor(array: npt.NDArray[Any], device: Any) -> Any:
    """An array as a torch tensor on a device; always a copy, so that no tensor writes to a frozen array."""
    import torch

    array = np.ascontiguousarray(array)
    if torch.device(device).type == "cpu":
        return torch.from_numpy(array.copy())
    with warnings.catch_warnings():  # of arrays that cannot be written to: the tensor is a copy
        warnings.simplefilter("ignore", UserWarning)
        return torch.from_numpy(array).to(device)


def to_host(found: Any) -> npt.NDArray[Any]:
    """A torch tensor as an array.

    What a GPU has passes through page-locked memory and is copied on by all threads: a copy by torch alone
    takes many times as long, most of it for new pages of memory.
    """
    import torch

    if found.device.type == "cpu":
        array: npt.NDArray[Any] = found.numpy()
        return array
    whole = np.empty(found.shape, str(found.dtype).removeprefix("torch."))
    given, taken = found.contiguous().view(-1).view(torch.uint8), whole.reshape(-1).view(np.uint8)
    with _staging_lock:
        for first in range(0, len(taken), STAGED_BYTES):
            part = taken[first : first + STAGED_BYTES]
            staged = _staging()[: len(part)]
            staged.copy_(given[first : first + len(part)])
            over_rows(_copy, len(part), staged.numpy(), part, least=1 << 20)
    return whole


@cache
def _staging() -> Any:
    import torch

    return torch.empty(STAGED_BYTES, dtype=torch.uint8, pin_memory=True)


def _copy(first: int, last: int, given: npt.NDArray[Any], taken: npt.NDArray[Any]) -> None:
    taken[first:last] = given[first:last]
