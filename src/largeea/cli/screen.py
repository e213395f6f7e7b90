"""Terminal output: results on standard output, everything else on standard error.

On a terminal, a running step has a progress bar; elsewhere, a line is printed when it ends.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from largeea import progress

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Screen:
    """Writes to the terminal; all output of the command line passes through it."""

    def __init__(self) -> None:
        self.quiet = False
        self.debug = False
        self._bars: Progress | None = None
        self._task: TaskID | None = None
        self._free = threading.Lock()
        """Held by the step that has the one progress bar."""

    @property
    def _out(self) -> Console:
        return Console(highlight=False, soft_wrap=True, emoji=False)

    @property
    def _err(self) -> Console:
        return Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

    def listening(self) -> AbstractContextManager[None]:
        """Show the progress of everything inside this context."""
        return progress.listening(self)

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Show a running step, then the time it took."""
        started = time.perf_counter()
        if self.quiet:
            yield
        elif self._err.is_terminal and self._free.acquire(blocking=False):
            try:
                with _bar(self._err) as self._bars:
                    self._task = self._bars.add_task(printable(title), total=None)
                    yield
            finally:
                self._bars, self._task = None, None
                self._free.release()
            self.note(f"{title:<12} {time.perf_counter() - started:7.1f} s")
        else:
            yield
            self.note(f"{title:<12} {time.perf_counter() - started:7.1f} s")

    def advance(self, done: int, total: int) -> None:
        """Update the progress bar of the running step."""
        if self._bars is not None and self._task is not None:
            self._bars.update(self._task, completed=done, total=total)

    def note(self, message: str) -> None:
        """Print a line on standard error, unless `quiet` is set."""
        if not self.quiet:
            self._err.print(escape(printable(message)), style="dim")

    def warn(self, message: str) -> None:
        """Print a warning: something may make the answer worse."""
        self.note(f"warning: {message}")

    def error(self, message: str) -> None:
        """Print an error message."""
        self._err.print(f"[bold red]error:[/] {escape(printable(message))}")

    def result(self, text: str) -> None:
        """Print a line of the result."""
        self._out.print(escape(printable(text)))

    def json(self, value: Any) -> None:
        """Print the result as JSON."""
        self._out.print(json.dumps(value), markup=False)

    def table(self, title: str, rows: list[tuple[str, ...]], header: tuple[str, ...]) -> None:
        """Print a result table; all columns but the first are right-aligned figures."""
        table = Table(title=escape(printable(title)), title_justify="left", title_style="bold")
        for position, column in enumerate(header):
            table.add_column(escape(printable(column)), justify="right" if position else "left")
        for row in rows:
            table.add_row(*(escape(printable(cell)) for cell in row))
        self._out.print(table)


def _bar(console: Console) -> Progress:
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    title = TextColumn("{task.description}", markup=False)
    return Progress(SpinnerColumn(), title, BarColumn(), TimeElapsedColumn(), console=console, transient=True)


def printable(text: str) -> str:
    """Return the text with control characters escaped, so that it cannot control the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)


screen = Screen()
