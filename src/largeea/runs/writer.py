"""`Writer`: writes results in a background thread, one at a time, while the next stage is computed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class Writer:
    """At most one write is pending, so memory stays bounded.

    The error of a failed write is raised by the next `submit` or `wait`.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._pending: Future[None] | None = None

    def submit(self, write: Callable[[], None]) -> None:
        """Start a write, after the one before it has ended."""
        self.wait()
        self._pool = self._pool or ThreadPoolExecutor(1, "largeea-writer")
        self._pending = self._pool.submit(write)

    def wait(self) -> None:
        """Wait until everything is written."""
        if self._pending is not None:
            pending, self._pending = self._pending, None
            pending.result()

    def close(self) -> None:
        """Wait until everything is written and end the thread."""
        try:
            self.wait()
        finally:
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None
