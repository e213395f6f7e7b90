"""Files appear whole or not at all, and whoever damages one is found out."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from largeea.errors import ResourceError

_LEFTOVER = re.compile(r"\..+\.[0-9]+\.tmp")


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name beside its place, flush it to disk, then rename it.

    Folders on the way are made.
    Readers see the old content or the new, never half of it; on any failure the old content stays.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with explaining(path):
            make_folder(path.parent)
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)  # noqa: PTH105
            _sync_folder(path.parent)
    finally:
        with suppress(OSError):
            temporary.unlink()


@contextmanager
def explaining(path: Path) -> Iterator[None]:
    """Say what to do when the system refuses to write."""
    try:
        yield
    except OSError as error:
        raise ResourceError(_explain(error, path)) from error


def make_folder(folder: Path) -> None:
    """Make a folder that a power cut does not take away again."""
    if not folder.exists():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file as it lies on the disk."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_intact(path: Path, sha256: str) -> bool:
    """Whether a file is there and not a bit of it has changed."""
    return path.is_file() and sha256_of(path) == sha256


def is_leftover(path: Path) -> bool:
    """Whether this is an unfinished file of `atomic_write`."""
    return _LEFTOVER.fullmatch(path.name) is not None


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of a process that was killed."""
    for path in folder.rglob(".*.tmp"):
        if is_leftover(path):
            with suppress(OSError):
                path.unlink()


def _sync_folder(folder: Path) -> None:
    """Put a new name on disk; file systems that cannot do that for folders say EINVAL."""
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
