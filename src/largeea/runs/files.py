"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from largeea.errors import ResourceError

_TEMPORARY = ".tmp"


@contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Write a file under a temporary name beside its place, flush it to disk, then rename it.

    Folders on the way are made.
    Readers see the old content or the new, never half of it; on any failure the old content stays.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_TEMPORARY}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise ResourceError(_explain(error, path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of a process that was killed."""
    for temporary in folder.rglob(f".*{_TEMPORARY}"):
        with suppress(OSError):
            temporary.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _explain(error: OSError, path: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left to write {path}; free some space or choose another folder with -o"
    return f"cannot write {path}: {error.strerror or error}"
