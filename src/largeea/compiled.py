"""Loops compiled by numba, which is imported when the first of them is called.

To import and start numba takes most of a second: commands that compile nothing do not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
prange = range
"""`numba.prange` in compiled code."""
_one_at_a_time = RLock()


def compiled(**options: Any) -> Callable[[Function], Function]:
    """`numba.njit` with a cache on disk: `@compiled(nogil=True)`."""

    def njit(function: Function) -> Any:
        import numba

        return numba.njit(cache=True, **options)(function)

    return lambda function: _Waiting(function, njit)  # type: ignore[return-value]


def intrinsic(function: Callable[..., Any]) -> Any:
    """`numba.extending.intrinsic`: machine code for use in compiled code."""

    def make(function: Callable[..., Any]) -> Any:
        from numba.extending import intrinsic

        return intrinsic(function)

    return _Waiting(function, make)


def thread_count() -> int:
    """How many threads compiled code may use."""
    import numba

    return int(numba.get_num_threads())


class _Waiting:
    """A function that is compiled when it is first called, with all that it calls in its module."""

    def __init__(self, function: Callable[..., Any], compile: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self._function, self._compile = function, compile
        self._ready: Any = None

    def __call__(self, *arguments: Any) -> Any:
        return self.ready()(*arguments)

    def ready(self) -> Any:
        """The compiled function. Others that its module knows are put in their places, too."""
        with _one_at_a_time:
            if self._ready is None:
                self._ready = self._compile(self._function)
                self._equip(self._function.__globals__)
            return self._ready

    def _equip(self, module: dict[str, Any]) -> None:
        import numba

        for name, value in list(module.items()):
            if isinstance(value, _Waiting):
                module[name] = value.ready()
            elif value is prange and name == "prange":
                module[name] = numba.prange
