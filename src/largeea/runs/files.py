"""Atomic file writing, and detection of damaged files."""

from __future__ import annotations

import errno
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from largeea.errors import ResourceError
from largeea.hashing import file_hash

_LEFTOVER = re.compile(r"\..+\.[0-9]+(\.[0-9]+)?\.tmp")


@contextmanager
def atomic_write(path: Path, durable: bool = True) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name in the same folder, flush it to disk, then rename it.

    Missing folders are created. Readers see either the old or the new content; on any failure the old content
    is kept. Without `durable`, the file is not flushed, and a power cut may leave it empty.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with explaining(path):
            make_folder(path.parent)
            with temporary.open("wb") as file:
                yield file
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(temporary, path)  # noqa: PTH105
            if durable:
                _sync_folder(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Turn an `OSError` into a `ResourceError` that says what the user can do."""
    try:
        yield
    except OSError as error:
        raise ResourceError(_explain(error, path)) from error


def make_folder(folder: Path) -> None:
    """Create a folder and flush its entry to disk, so that it survives a power cut."""
    if not folder.exists():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def is_intact(path: Path, sha256: str) -> bool:
    """Return whether a file exists and has this SHA-256."""
    return path.is_file() and file_hash(path) == sha256


def is_leftover(path: Path) -> bool:
    """Return whether this is an unfinished temporary file of `atomic_write`."""
    return _LEFTOVER.fullmatch(path.name) is not None


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files that a killed process left behind."""
    for path in folder.rglob(".*.tmp"):
        if is_leftover(path):
            with suppress(OSError):
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk; file systems that do not support it return EINVAL."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def _explain(error: OSError, path: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left to write {path}; free some space or choose another folder with -o"
    reason = f"cannot write {path}: {error.strerror or error}"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{reason}; choose a folder with -o that you may write to"
    return f"{reason}; see to the disk, or choose another folder with -o"
