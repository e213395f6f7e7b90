"""Locks a run folder, so that only one process at a time uses it.

The operating system releases the lock when the process ends for any reason, so a killed process leaves no
stale lock. The same process may open a folder several times.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from largeea.errors import ResourceError
from largeea.progress import note
from largeea.runs.files import explaining

LOCK = ".lock"
_NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_held: dict[Path, list[int]] = {}
"""Folders locked by this process: the file descriptor, once for each time the folder was opened."""


def hold(folder: Path) -> Path:
    """Lock a folder and return the path to pass to `release`; an error names the process that holds it."""
    place = folder.resolve()
    if place in _held:
        _held[place].append(_held[place][0])
        return place
    with explaining(folder / LOCK):
        descriptor = _locked(folder)
        _held[place] = [descriptor]
        try:
            worker = {"pid": os.getpid(), "host": platform.node(), "since": now()}
            os.ftruncate(descriptor, 0)
            os.write(descriptor, json.dumps(worker).encode())
        except BaseException:
            release(place)
            raise
    return place


def release(place: Path) -> None:
    """Release a folder; the last release removes the lock file."""
    descriptors = _held[place]
    descriptor = descriptors.pop()
    if not descriptors:
        del _held[place]
        with suppress(OSError):
            (place / LOCK).unlink()
        os.close(descriptor)


def held() -> list[Path]:
    """Return the folders locked by this process."""
    return list(_held)


def worker_on(folder: Path) -> dict[str, Any] | None:
    """Return `pid`, `host` and `since` of the process that holds the lock.

    None if the folder is not locked; an empty dictionary if the process is unknown.
    """
    try:
        with (folder / LOCK).open("rb") as file:
            if folder.resolve() not in _held:
                try:
                    fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                    return None
                except BlockingIOError:
                    pass
            worker = json.loads(file.read())
            return {name: worker[name] for name in ("pid", "host", "since")}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def now() -> str:
    """Return the current time in UTC in ISO 8601 format, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _locked(folder: Path) -> int:
    """Return a descriptor that holds the lock; retry if the previous owner just removed the lock file."""
    path = folder / LOCK
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            worker = worker_on(folder)
            if worker is None:
                continue
            raise ResourceError(_busy(folder, worker)) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS_HERE:
                os.close(descriptor)
                raise
            note(f"the file system of {folder} has no locks: see that no other process works on this run")
            return descriptor
        with suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == path.stat().st_ino:
                return descriptor
        os.close(descriptor)


def _busy(folder: Path, worker: dict[str, Any]) -> str:
    who = "another process"
    if worker:
        who = f"process {worker['pid']} on {worker['host']} (since {worker['since']})"
    return f"{who} is working on the run {folder}; wait for it to end, or give another folder with -o"
