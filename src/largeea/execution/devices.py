"""Which device torch computes on: one choice for encoders, structure models and searches."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from largeea.errors import UsageError
from largeea.execution.settings import current
from largeea.plugins import optional


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
    return device
