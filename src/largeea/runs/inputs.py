"""Detection of changed input files by content hash, without reading unchanged files again."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from largeea.errors import InputError
from largeea.formats.streams import digest, in_parallel
from largeea.progress import note

InputRecord: TypeAlias = dict[str, Any]
"""An input file as a run saw it: `path`, `bytes`, `modified` (ns), `seen` (ns), `sha256`."""
_CLOCK_TICK = 2 * 10**9
"""Nanoseconds within which a file may change again without a new modification time."""


def record_inputs(files: Sequence[Path], known: Iterable[InputRecord]) -> list[InputRecord]:
    """Return a record for each file; a known file is hashed again only if its size or time has changed.

    Files are hashed on all threads.
    """
    before = {record["path"]: record for record in known}
    places = [os.path.abspath(file) for file in files]  # noqa: PTH100
    records = list(
        in_parallel(_record, [(file, before.get(place)) for file, place in zip(files, places, strict=True)])
    )
    for file, place, record in zip(files, places, records, strict=True):
        if place in before and before[place]["sha256"] != record["sha256"]:
            note(f"{file} has changed since it was read; what depends on it is made again")
    return records


def identity(records: Iterable[InputRecord], how: str) -> str:
    """Return a hash of the reading options `how` and of the names and contents of all files, in order."""
    found = hashlib.sha256(how.encode("utf-8", "surrogateescape"))
    for record in records:
        name = Path(record["path"]).name.encode("utf-8", "surrogateescape")
        found.update(name + b"\0" + bytes.fromhex(record["sha256"]))
    return found.hexdigest()


def check_unchanged(records: Iterable[InputRecord]) -> None:
    """Raise `InputError` if an input file changed while it was being read."""
    for record in records:
        if _size_and_time(Path(record["path"])) != (record["bytes"], record["modified"]):
            raise InputError(
                "changed while it was being read; start again when it is complete", record["path"]
            )


def _record(file_and_known: tuple[Path, InputRecord | None]) -> InputRecord:
    file, known = file_and_known
    seen, now = _size_and_time(file), time.time_ns()
    if (
        known
        and (known["bytes"], known["modified"]) == seen
        and known["modified"] < known["seen"] - _CLOCK_TICK
    ):
        return known
    place = os.path.abspath(file)  # noqa: PTH100
    return {
        "path": place,
        "bytes": seen[0],
        "modified": seen[1],
        "seen": now,
        "sha256": digest(file).hex(),
    }


def _size_and_time(file: Path) -> tuple[int, int]:
    """Return size and modification time; zeros if the file is missing, which the reader reports later."""
    facts = file.stat() if file.exists() else None
    return (0, 0) if facts is None else (facts.st_size, facts.st_mtime_ns)
