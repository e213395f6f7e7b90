"""Reading Parquet: batches of rows, decoded in a child process whose memory and time are limited."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError, LargeEAError, ResourceError
from largeea.execution import current
from largeea.formats import parquet_program
from largeea.formats.guard import growth_allowed
from largeea.formats.streams import EXPANSION_COUNTS_FROM, MAX_EXPANSION, is_compressed, open_bytes
from largeea.graph import Strings

HARMLESS_SECONDS = 10
"""Computing time for a file of any size; one second more is allowed for each MB."""
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
"""Memory is taken as it is needed, so that a limit on it means what it says."""


def read_parquet(path: Path) -> tuple[list[str], Iterator[pa.RecordBatch]]:
    """The names of the columns, and the rows; see `text_column`."""
    batches = _decoded(path)
    return list(next(batches).schema.names), batches


def _decoded(path: Path) -> Iterator[pa.RecordBatch]:
    """An empty batch that shows the columns, and then the rows, as the child writes them."""
    with _seekable(path) as source, tempfile.TemporaryFile() as complaints:
        size = os.fstat(source.fileno()).st_size
        limits = (
            min(growth_allowed(size), current().memory_bytes),
            growth_limit(size),
            HARMLESS_SECONDS + (size >> 20),
        )
        command = [sys.executable, "-P", parquet_program.__file__, *map(str, limits)]
        try:
            child = subprocess.Popen(
                command,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=complaints,
                env=os.environ | _ENVIRONMENT,
            )
        except OSError as error:
            raise ResourceError(f"{path}: cannot start a process to read it: {error.strerror}") from None
        assert child.stdout is not None
        try:
            broken = yield from _received(child.stdout)
            code = child.wait()
        finally:
            child.kill()
            child.stdout.close()
            child.wait()
        if code:
            complaints.seek(0)
            raise _failure(code, complaints.read().decode("utf-8", "replace"), path, size)
        if broken:
            raise broken


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


def _failure(code: int, complaint: str, path: Path, size: int) -> LargeEAError:
    """The error for a child that ended with this exit code, or minus the number of a signal."""
    last_line = complaint.rstrip().rpartition("\n")[2]
    if code == parquet_program.REFUSED:
        return InputError(json.loads(last_line), path)
    if code == parquet_program.TOO_MUCH_TEXT:
        return bomb(path)
    out_of_memory = code in (parquet_program.OUT_OF_MEMORY, -signal.SIGKILL) or "bad_alloc" in complaint
    most = current().memory_bytes
    if out_of_memory and growth_allowed(size) > most:
        return ResourceError(
            f"{path}: reading it takes more than {most / 1e9:.1f} GB, the memory that this run may use. "
            "Allow more memory, or give the file as TSV"
        )
    if out_of_memory or code == -signal.SIGXCPU:
        return bomb(path)
    how = signal.Signals(-code).name if code < 0 else f"exit code {code}, {last_line}"
    return InputError(f"crashes the Parquet reader ({how}); is it damaged? Write it again, or as TSV", path)


def validated(column: pa.Array, title: str, path: Path) -> pa.Array:
    """The column, after its offsets, its UTF-8 and its dictionary indices have been checked."""
    try:
        column.validate(full=True)
    except pa.ArrowException as error:
        raise InputError(f"column {title!r} is damaged: {error}", path) from None
    return column


def text_column(column: pa.Array, title: str, path: Path) -> Strings:
    """A column as text, null where a cell is empty."""
    validated(column, title, path)
    try:
        text = column.cast(pa.large_string())
    except pa.ArrowException:
        raise InputError(f"column {title!r} is of type {column.type}, which is not text", path) from None
    return pc.if_else(pc.equal(text, ""), None, text)


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
