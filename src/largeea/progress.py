"""Telling how far the work is, without knowing who listens.

Steps report through `step` and `track`; the command line sets a listener that draws bars or writes log lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Listener(Protocol):
    """Whoever shows progress to the user."""

    def step(self, title: str) -> AbstractContextManager[None]:
        """A step begins; it is over when the context ends."""

    def advance(self, done: int, total: int) -> None:
        """The current step has done this much of its whole."""

    def note(self, message: str) -> None:
        """Something the user should know but need not act on."""


class _Silence:
    def step(self, title: str) -> AbstractContextManager[None]:
        return nullcontext()

    def advance(self, done: int, total: int) -> None:
        pass

    def note(self, message: str) -> None:
        pass


_listener: ContextVar[Listener] = ContextVar("progress listener", default=_Silence())  # noqa: B039


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send all progress inside this context to a listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def step(title: str) -> AbstractContextManager[None]:
    """A named piece of work."""
    return _listener.get().step(title)


def note(message: str) -> None:
    """Tell the user something that need not be acted on."""
    _listener.get().note(message)


def track(items: Iterable[T], total: int) -> Iterator[T]:
    """Pass items on, reporting how many of `total` are done."""
    for done, item in enumerate(items):
        _listener.get().advance(done, total)
        yield item
    _listener.get().advance(total, total)
