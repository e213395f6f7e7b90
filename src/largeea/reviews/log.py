"""The log of decisions in a run folder: append-only, for several processes at once.

A line is never changed. Undoing appends lines that restate what held before. Lines are appended under a lock
and flushed to disk before anybody is told that they are stored.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from largeea.progress import warn
from largeea.reviews.decisions import Decision, Reviews
from largeea.reviews.lines import Lines, header, plain
from largeea.runs.files import explaining

FILE = "reviews.tsv"
_NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


def read_reviews(folder: Path) -> Reviews:
    """Return the decisions in a run folder; none if nobody has reviewed it.

    Example: `read_reviews(Path("run")).confirmed`.
    """
    reviews = ReviewLog(folder).reviews
    if reviews.ignored:
        warn(f"{folder / FILE}: {reviews.ignored:,} lines are not complete decisions and are ignored")
    return reviews


class ReviewLog:
    """The log of a run folder, for a process that adds to it and follows what others add.

    `namespaces` is called for the header of a new file: IRIs in these are written as CURIEs. `declared` are
    the prefixes of the graphs.
    """

    def __init__(
        self,
        folder: Path,
        namespaces: Callable[[], Iterable[str]] = tuple,
        declared: Mapping[str, str] | None = None,
    ) -> None:
        self.path = folder / FILE
        self._namespaces, self._declared = namespaces, declared or {}
        self._start_again()
        self.refresh()

    def _start_again(self) -> None:
        self.reviews = Reviews()
        self._lines = Lines(self.path)
        self._offset, self._inode = 0, 0

    def refresh(self) -> Reviews:
        """Read the complete lines that were added since, and return all decisions."""
        if not self.path.is_file():
            return self.reviews
        with self.path.open("rb") as file:
            facts = os.fstat(file.fileno())
            if self._offset and (facts.st_ino != self._inode or facts.st_size < self._offset):
                self._start_again()
            self._inode = facts.st_ino
            file.seek(self._offset)
            added = file.read()
        complete = added[: added.rfind(b"\n") + 1]
        self._offset += len(complete)
        for line in complete.decode("utf-8", errors="replace").split("\n")[:-1]:
            self._lines.take(line.rstrip("\r"), self.reviews)
        return self.reviews

    def append(self, decisions: Iterable[Decision]) -> Reviews:
        """Add decisions as one action, and return when they are on disk."""
        action, time = secrets.token_hex(8), datetime.now(UTC).isoformat(timespec="milliseconds")
        stated = [replace(one, action=action, time=time, author=plain(one.author)) for one in decisions]
        with explaining(self.path), self.path.open("a+b", buffering=0) as file:
            _lock(file)
            end = file.seek(0, os.SEEK_END)
            if end == 0:
                _write(file, header(self._namespaces(), self._declared))
            elif os.pread(file.fileno(), 1, end - 1) != b"\n":
                _write(file, "\n")
            self.refresh()
            _write(file, "".join(map(self._lines.line, stated)))
            os.fsync(file.fileno())
            if end == 0:
                _sync(self.path.parent)
        return self.refresh()

    def undo(self, author: str) -> list[Decision]:
        """Undo the author's last action that still stands, and return the decisions that hold again."""
        restored = self.refresh().last_action(plain(author))
        if restored:
            self.append(replace(one, undoes=one.action, comment="undone") for one in restored)
        return restored


def _lock(file: IO[bytes]) -> None:
    """Wait for the lock; file systems without locks still append whole lines."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in _NO_LOCKS_HERE:
            raise


def _write(file: IO[bytes], text: str) -> None:
    data = text.encode()
    if file.write(data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
