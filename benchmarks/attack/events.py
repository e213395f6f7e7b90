"""File-system events of this process, counted by Python's audit hooks; the N-th one kills it or fails.

All files are opened, renamed and removed from Python, so that its hooks see all of it. Flushes have no hook
and are replaced. A file that is opened for writing is two events: before, and when it is there and empty.
"""

from __future__ import annotations

import builtins
import io
import mmap
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate")
_FOR_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


class Events:
    """A counter that the forked process and its parent share.

    With `reading`, files opened for reading are counted instead of changes.
    """

    def __init__(self, folder: Path, reading: bool = False) -> None:
        self._folder, self._reading = str(folder), reading
        self._shared = mmap.mmap(-1, 8)

    @property
    def count(self) -> int:
        return int.from_bytes(self._shared[:8], "little")

    def watch(self, at: int = 0, act: Callable[[], None] = lambda: None) -> None:
        """Count the events of this process from now on, and call `act` at number `at`."""

        def happens() -> None:
            number = self.count + 1
            self._shared[:8] = number.to_bytes(8, "little")
            if number == at:
                act()

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if self._concerns(event, arguments):
                happens()

        def two_events(real: Callable[..., Any]) -> Callable[..., Any]:
            def open_file(*given: Any, **named: Any) -> Any:
                before = self.count
                opened = real(*given, **named)
                if self.count > before:
                    happens()
                return opened

            return open_file

        sys.addaudithook(hook)
        if not self._reading:
            builtins.open = io.open = two_events(io.open)  # type: ignore[assignment]
            os.open = two_events(os.open)
        os.fsync = lambda descriptor: None if self._reading else happens()  # type: ignore[assignment]

    def _concerns(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
            for_writing = bool(arguments[2] & _FOR_WRITING)
            return for_writing != self._reading and self._is_inside(arguments[0])
        if event in CHANGES and not self._reading:
            return not isinstance(arguments[0], str | bytes | os.PathLike) or self._is_inside(arguments[0])
        return False

    def _is_inside(self, path: str | bytes | os.PathLike[Any]) -> bool:
        return os.path.abspath(os.fsdecode(path)).startswith(self._folder)  # noqa: PTH100


def kill_me() -> None:
    """End this process at once, as a power cut would."""
    os.kill(os.getpid(), signal.SIGKILL)


def failing(error: int) -> Callable[[], None]:
    """Return an action that raises the `OSError` with this number."""

    def fail() -> None:
        raise OSError(error, os.strerror(error))

    return fail
