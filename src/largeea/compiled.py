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
    """A function that is compiled when it is first called, and with it all others that its module knows."""

    def __init__(self, function: Callable[..., Any], compile: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self._function, self._compile = function, compile
        self._ready: Any = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        with _one_at_a_time:
            ready = self.ready()
        return ready(*arguments, **named)

    def ready(self) -> Any:
        """The compiled function; its module is equipped before anybody can call it."""
        if self._ready is None:
            _equip(self._function.__globals__)
        if self._ready is None:  # no name in the module stands for it
            self._ready = self._compile(self._function)
        return self._ready

    def prepared(self, module: dict[str, Any]) -> Any:
        """The function for a module that is being equipped; one of another module brings that one along."""
        mine = self._function.__globals__ is module
        return self._compile(self._function) if mine else self.ready()


def _equip(module: dict[str, Any]) -> None:
    """Put compiled functions into their places, all at once: other threads must not see half of them."""
    import numba

    waiting = {name: value for name, value in module.items() if isinstance(value, _Waiting)}
    ready = {name: value.prepared(module) for name, value in waiting.items()}
    loop = {"prange": numba.prange} if module.get("prange") is prange else {}
    module.update(ready | loop)
    for name, value in waiting.items():
        value._ready = ready[name]
