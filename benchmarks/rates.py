"""How fast this machine copies memory and multiplies matrices."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

ADDED = 2
"""Operations of a multiplication and the addition of its result."""


@dataclass(frozen=True)
class Rates:
    """What the machine does in a second.

    `host` and `device` are bytes that are read or written in main memory and where stages compute, which is
    the same without a GPU; `operations` are those of a matrix product.
    """

    host: float
    device: float
    operations: float

    @classmethod
    def measured(cls, device: str, threads: int) -> Rates:
        """Copies on all threads and on the device; products in float32 on a CPU, in bfloat16 on a GPU."""
        host = copy_rate(threads)
        if device == "cpu":
            return cls(host, host, product_rate())
        rates = gpu_rates(device)
        import torch

        torch.cuda.empty_cache()  # leaves the memory to the runs that follow
        return cls(host, *rates)

    def seconds(self, moved: float, worked_on: float, operations: float) -> float:
        """The least time for bytes moved on the host, bytes read on the device, and operations meanwhile."""
        return moved / self.host + max(worked_on / self.device, operations / self.operations)

    def in_words(self) -> str:
        """The rates in a line."""
        return (
            f"memory {self.host / 1e9:,.1f} GB/s, where stages compute {self.device / 1e9:,.1f} GB/s, "
            f"matrix product {self.operations / 1e12:,.2f} T operations/s"
        )


def copy_rate(threads: int, size: int = 1 << 28) -> float:
    """Bytes a second that numpy reads and writes when it copies `size` bytes on all threads."""
    source = np.ones(size, np.uint8)
    target = np.ones_like(source)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    with ThreadPoolExecutor(threads) as pool:
        return 2 * size / best_time(lambda: list(pool.map(lambda part: np.copyto(*part), parts)))


def product_rate(size: int = 2048) -> float:
    """Operations a second of a product of square float32 matrices."""
    matrix = np.ones((size, size), np.float32)
    return ADDED * size**3 / best_time(lambda: matrix @ matrix)


def gpu_rates(device: str, size: int = 8192) -> tuple[float, float]:
    """Bytes a second of a copy on the GPU, and operations a second of a product of bfloat16 matrices."""
    import torch

    matrix = torch.ones((size, size), dtype=torch.bfloat16, device=device)
    copied = torch.empty_like(matrix.repeat(4, 1))

    def timed(action: Callable[[], Any]) -> float:
        def and_wait() -> None:
            action()
            torch.cuda.synchronize(device)

        return best_time(and_wait)

    bytes_copied = copied.numel() * copied.element_size()
    return 2 * bytes_copied / timed(copied.clone), ADDED * size**3 / timed(lambda: matrix @ matrix)


def best_time(action: Callable[[], Any], times: int = 5) -> float:
    """Seconds of the fastest of several calls, after one that is not counted."""
    action()
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
