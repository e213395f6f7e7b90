"""Progress, notes and warnings, without knowing who listens.

The command line sets a listener that draws bars and writes lines. Python users get notes through `logging`
and warnings through `warnings`.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol, TypeVar

from largeea.errors import LargeEAWarning

T = TypeVar("T")


class Listener(Protocol):
    """Whoever shows progress to the user."""

    def step(self, title: str) -> AbstractContextManager[None]:
        """A step begins; it is over when the context ends."""

    def advance(self, done: int, total: int) -> None:
        """The current step has done this much of its whole."""

    def note(self, message: str) -> None:
        """Something the user may want to know."""

    def warn(self, message: str) -> None:
        """Something the user should look into: the answer may be worse than expected."""


class _Logging:
    """Without a listener: notes go to the log "largeea", warnings are Python warnings."""

    def step(self, title: str) -> AbstractContextManager[None]:
        _log.debug("%s", title)
        return nullcontext()

    def advance(self, done: int, total: int) -> None:
        pass

    def note(self, message: str) -> None:
        _log.info("%s", message)

    def warn(self, message: str) -> None:
        warnings.warn(message, LargeEAWarning, stacklevel=4)


_log = logging.getLogger("largeea")
_listener: ContextVar[Listener] = ContextVar("progress listener", default=_Logging())  # noqa: B039


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
    """Tell the user something that may be of interest."""
    _listener.get().note(message)


def warn(message: str) -> None:
    """Tell the user of something that may make the answer worse."""
    _listener.get().warn(message)


def advance(done: int, total: int) -> None:
    """Report how much of the current step is done."""
    _listener.get().advance(done, total)


def track(items: Iterable[T], total: int) -> Iterator[T]:
    """Pass items on, reporting how many of `total` are done."""
    for done, item in enumerate(items):
        _listener.get().advance(done, total)
        yield item
    _listener.get().advance(total, total)
