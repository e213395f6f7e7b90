"""Programs of this package that run as processes of their own, as their memory and time are limited."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, NamedTuple

from largeea.child import OUT_OF_MEMORY
from largeea.errors import ResourceError

_PACKAGE_PARENT = str(Path(__file__).parents[2])
_RUN = (
    "import runpy, sys; sys.path.insert(0, sys.argv[1]); import largeea; del sys.path[0], sys.argv[:2]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
"""Imports this very package, even if only a changed `sys.path` leads to it, and runs a file."""
_SIGNS_OF_LITTLE_MEMORY = ("memory allocation", "bad_alloc")
"""What Rust and C++ say before they abort."""
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


class Ending(NamedTuple):
    """The exit code of a program, or minus the number of a signal, and what it wrote to standard error."""

    code: int
    complaint: str

    @property
    def refusal(self) -> tuple[str, int | None]:
        """The message and the line that `child.refuse` has written."""
        message, line = json.loads(self._last_line)
        return message, line

    @property
    def out_of_memory(self) -> bool:
        """Whether it, or a library that ended it, was refused memory."""
        killed = self.code in (OUT_OF_MEMORY, -signal.SIGKILL)
        return killed or any(sign in self.complaint for sign in _SIGNS_OF_LITTLE_MEMORY)

    @property
    def in_words(self) -> str:
        """The signal, or the exit code and the last line."""
        if self.code < 0:
            return signal.Signals(-self.code).name
        return f"exit code {self.code}, {self._last_line}"

    @property
    def _last_line(self) -> str:
        return self.complaint.rstrip().rpartition("\n")[2]


@dataclass(frozen=True, eq=False)
class Child:
    """A running program; `output` is what it writes."""

    output: IO[bytes]
    _process: subprocess.Popen[bytes]
    _complaints: IO[bytes]
    _feeder: _Feeder | None

    def wait(self) -> Ending:
        """Wait for the end; what its input raised is raised here."""
        code = self._process.wait()
        if self._feeder is not None:
            self._feeder.join()
            if self._feeder.error is not None:
                raise self._feeder.error
        self._complaints.seek(0)
        return Ending(code, self._complaints.read().decode("utf-8", "replace"))


@contextmanager
def running(
    program: str,
    *arguments: str,
    purpose: str,
    source: IO[bytes] | Callable[[IO[bytes]], None],
    variables: Mapping[str, str] = _NO_VARIABLES,
) -> Iterator[Child]:
    """Run a program, a Python file, until the end of the context.

    Its input is an open file, or what a function writes to the pipe that it is given, in a thread. `purpose`
    is what an error says that the process was for; `variables` are added to the environment.
    """
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _RUN, _PACKAGE_PARENT, program, *arguments],
                stdin=subprocess.PIPE if callable(source) else source,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=os.environ | variables,
            )
        except OSError as error:
            raise ResourceError(
                f"cannot start a process {purpose}: {error.strerror}; are there too many, or is memory full?"
            ) from None
        assert process.stdout is not None
        feeder = None
        if callable(source):
            assert process.stdin is not None
            feeder = _Feeder(source, process.stdin)
            feeder.start()
        try:
            yield Child(process.stdout, process, complaints, feeder)
        finally:
            process.kill()
            if feeder is not None:
                feeder.join()
            process.stdout.close()
            process.wait()


class _Feeder(threading.Thread):
    """Writes into a pipe and closes it; `error` is what went wrong, other than the end of the child."""

    def __init__(self, feed: Callable[[IO[bytes]], None], pipe: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._feed, self._pipe = feed, pipe
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._feed(self._pipe)
        except BrokenPipeError:
            pass  # the child has ended; its exit code says why
        except Exception as error:
            self.error = error
        finally:
            with suppress(BrokenPipeError):
                self._pipe.close()
