"""Files that a child process decodes, as its memory and time are limited: batches of rows."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa

from largeea.child import MISUSED, REFUSED, TOO_MUCH_TEXT
from largeea.errors import InputError, LargeEAError, ResourceError, UsageError
from largeea.execution import current
from largeea.formats.guard import growth_allowed
from largeea.formats.programs import Ending, running
from largeea.formats.streams import EXPANSION_COUNTS_FROM, MAX_EXPANSION, is_compressed, open_bytes

_ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
"""Memory is taken as it is needed, so that a limit on it means what it says."""


@dataclass(frozen=True)
class Decoder:
    """A program that reads a file of some format and writes an Arrow IPC stream.

    Its arguments are the limits, in bytes of memory, bytes of text and seconds, and further ones.
    """

    program: str
    format: str
    seconds: int
    """Computing time for a file of any size."""
    seconds_per_mb: int

    def batches(self, path: Path, *arguments: str) -> Iterator[pa.RecordBatch]:
        """An empty batch that shows the columns, and then the rows, as the child writes them."""
        with _seekable(path) as source:
            size = os.fstat(source.fileno()).st_size
            limits = (
                min(growth_allowed(size), current().memory_bytes),
                growth_limit(size),
                self.seconds + self.seconds_per_mb * (size >> 20),
            )
            with running(
                self.program,
                *map(str, limits),
                *arguments,
                purpose=f"to read {path}",
                source=source,
                variables=_ENVIRONMENT,
            ) as child:
                broken = yield from _received(child.output)
                ending = child.wait()
        if ending.code:
            raise self._failure(ending, path, size)
        if broken:
            raise broken

    def _failure(self, ending: Ending, path: Path, size: int) -> LargeEAError:
        """The error for a child that failed."""
        if ending.code == MISUSED:
            return UsageError(f"{path} {ending.refusal[0]}")
        if ending.code == REFUSED:
            message, line = ending.refusal
            return InputError(message, path, line)
        if ending.code == TOO_MUCH_TEXT:
            return bomb(path)
        most = current().memory_bytes
        if ending.out_of_memory and growth_allowed(size) > most:
            return ResourceError(
                f"{path}: reading it takes more than {most / 1e9:.1f} GB, the memory that this run may use. "
                "Allow more memory, or give the file as TSV"
            )
        if ending.out_of_memory or ending.code == -signal.SIGXCPU:
            return bomb(path)
        return InputError(
            f"crashes the {self.format} reader ({ending.in_words}); is it damaged? Write it again, or as TSV",
            path,
        )


@contextmanager
def _seekable(path: Path) -> Iterator[IO[bytes]]:
    """The file, or what is decompressed from it."""
    with open_bytes(path) as stream:
        if not is_compressed(path):
            with path.open("rb") as file:
                yield file
            return
        with tempfile.TemporaryFile() as whole:
            shutil.copyfileobj(stream, whole, 1 << 20)
            whole.seek(0)
            yield whole


def _received(pipe: IO[bytes]) -> Generator[pa.RecordBatch, None, Exception | None]:
    """Yield batches until the child ends; return what cut them short, if anything."""
    try:
        stream = pa.ipc.open_stream(pipe)
        yield pa.RecordBatch.from_pylist([], stream.schema)
        yield from stream
    except (pa.ArrowException, OSError) as error:
        pipe.read()
        return error
    return None


def growth_limit(size: int) -> int:
    """The number of bytes that may come out of a file of this size."""
    return max(EXPANSION_COUNTS_FROM, size * MAX_EXPANSION)


def bomb(path: Path) -> InputError:
    """The error for a file whose content is far larger than the file."""
    return InputError(
        "holds far more text than its size explains, like a decompression bomb; "
        "if the file is genuine, give it as TSV",
        path,
    )
