"""`Writer`: writes results in a background thread, in order, while the next stages are computed.

The thread gives way to them: on a cluster, nodes wait for what the driver computes.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from largeea.execution.machine import give_way


class Writer:
    """What waits to be written is bounded by its size, so memory is too.

    The error of a failed write is raised by the next `submit` or `wait`; what waited behind it is dropped, so
    that no result is kept without those before it. A closed writer takes nothing more.
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._pending: deque[tuple[Future[None], int]] = deque()
        self._lock = threading.RLock()
        self._closed = self._failed = False

    def submit(self, write: Callable[[], None], size: int, room: int) -> None:
        """Queue a write of `size` bytes; wait while those before it leave less of `room` than that."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the run has ended")
            while self._pending and (
                self._pending[0][0].done() or sum(waiting for _, waiting in self._pending) + size > room
            ):
                self._finish_one()
            self._pool = self._pool or ThreadPoolExecutor(1, "largeea-writer", give_way)
            self._pending.append((self._pool.submit(self._carry_out, write), size))

    def wait(self) -> None:
        """Wait until everything is written."""
        with self._lock:
            while self._pending:
                self._finish_one()

    def close(self) -> None:
        """Wait until everything is written and end the thread."""
        with self._lock:
            self._closed = True
            try:
                self.wait()
            finally:
                if self._pool is not None:
                    self._pool.shutdown()

    def _carry_out(self, write: Callable[[], None]) -> None:
        """Write, unless a write before has failed; in the background thread."""
        if self._failed:
            return
        try:
            write()
        except BaseException:
            self._failed = True
            raise

    def _finish_one(self) -> None:
        """Wait for the oldest write and forget it; if it failed, forget all others too."""
        written, _ = self._pending.popleft()
        try:
            written.result()
        except BaseException:
            wait(following for following, _ in self._pending)
            self._pending.clear()
            self._failed = False
            raise
