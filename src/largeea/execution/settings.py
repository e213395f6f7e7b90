"""`Execution`: where a run is computed and within which limits. It never changes the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from typing import Any

from largeea.errors import UsageError
from largeea.execution import machine

SHARE_OF_MACHINE = 0.8
"""Of the machine's memory, what a run may use if nothing else is said: other programs live there too."""
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?i?)B?\s*", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


@dataclass(frozen=True)
class Execution:
    """Limits and places of the computation; None takes what the machine has.

    memory: bytes of host memory a run may use, as a number or as text such as "12GB" or "8GiB".
    gpu_memory: the same on the GPU.
    threads: CPU threads.
    device: "auto" (a GPU where there is one), "cpu", "cuda" or "cuda:N".
    engine: what carries jobs out: "local", "ray", or one that another package registers.
    address: of a Ray cluster, "auto" or "HOST:PORT"; None takes a running cluster or starts Ray here.

    Example: `Execution(memory="12GB", threads=4, device="cpu")`.
    """

    memory: int | str | None = None
    gpu_memory: int | str | None = None
    threads: int | None = None
    device: str = "auto"
    engine: str = "local"
    address: str | None = None

    def __post_init__(self) -> None:
        for limit in ("memory", "gpu_memory"):
            value = getattr(self, limit)
            if value is not None:
                object.__setattr__(self, limit, parse_size(value, limit))
        if self.threads is not None and (not isinstance(self.threads, int) or self.threads < 1):
            raise UsageError(f"threads = {self.threads!r}: give a whole number of at least 1")
        if not re.fullmatch(r"auto|cpu|cuda(:[0-9]+)?", str(self.device)):
            raise UsageError(f"device = {self.device!r}: give auto, cpu, cuda or cuda:N")
        if self.address is not None and self.is_local:
            raise UsageError("an address is given, but the engine is local: add engine = ray (--engine ray)")

    @classmethod
    def of(cls, given: Execution | dict[str, Any] | None) -> Execution:
        """As given: an `Execution`, a dictionary of its fields, or None for the machine's own limits."""
        if given is None or isinstance(given, Execution):
            return given or cls()
        if not isinstance(given, dict):
            raise TypeError(f"execution must be an Execution or a dict, not {type(given).__name__}")
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise UsageError(f"unknown execution setting {name!r}; known: {', '.join(known)}")
        return cls(**given)

    @property
    def is_local(self) -> bool:
        """Whether all jobs run in this process."""
        return self.engine == "local"

    @property
    def memory_bytes(self) -> int:
        """Host memory that a run may use."""
        return int(self.memory or SHARE_OF_MACHINE * machine.memory_bytes())

    @property
    def thread_count(self) -> int:
        """CPU threads that a run may use."""
        return self.threads or machine.cpu_count()


def parse_size(value: Any, what: str = "size") -> int:
    """Bytes from a number or from text: "12GB" is 12 * 10^9, "12GiB" is 12 * 2^30."""
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match:
        unit = match[2].lower()
        size = int(float(match[1]) * (_UNITS.get(unit) or _BINARY_UNITS.get(unit, 0)))
        if size > 0:
            return size
    raise UsageError(f"{what} = {value!r}: give a size such as 12GB, 800MB or 8GiB")


_current: ContextVar[Execution] = ContextVar("execution", default=Execution())  # noqa: B039


def current() -> Execution:
    """The execution settings in force here."""
    return _current.get()


@contextmanager
def executing(execution: Execution) -> Iterator[None]:
    """Compute everything inside this context with these settings."""
    token = _current.set(execution)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def with_threads(count: int) -> Iterator[None]:
    """Let everything inside this context use this many threads."""
    with executing(replace(current(), threads=max(1, count))):
        yield
