"""Knowing input files again by their content, without reading them each time."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from largeea.errors import InputError
from largeea.formats.streams import digest
from largeea.progress import note

InputRecord: TypeAlias = dict[str, Any]
"""An input file as a run saw it: `path`, `bytes`, `modified` (ns), `seen` (ns), `sha256`."""
_CLOCK_TICK = 2 * 10**9
"""A file changed this shortly (ns) before it was looked at may have changed again under the same time."""


def record_inputs(files: Sequence[Path], known: Iterable[InputRecord]) -> list[InputRecord]:
    """A record for each file; the content of known files is read only if their size or time differs."""
    before = {record["path"]: record for record in known}
    return [_record(file, before.get(os.path.abspath(file))) for file in files]  # noqa: PTH100


def identity(records: Iterable[InputRecord], how: str) -> str:
    """A hash of what was read and how: names and contents of all files in their order."""
    found = hashlib.sha256(how.encode("utf-8", "surrogateescape"))
    for record in records:
        name = Path(record["path"]).name.encode("utf-8", "surrogateescape")
        found.update(name + b"\0" + bytes.fromhex(record["sha256"]))
    return found.hexdigest()


def check_unchanged(records: Iterable[InputRecord]) -> None:
    """Whoever writes to the input while it is read gets an error instead of half of each."""
    for record in records:
        if _size_and_time(Path(record["path"])) != (record["bytes"], record["modified"]):
            raise InputError(
                "changed while it was being read; start again when it is complete", record["path"]
            )


def _record(file: Path, known: InputRecord | None) -> InputRecord:
    seen, now = _size_and_time(file), time.time_ns()
    if (
        known
        and (known["bytes"], known["modified"]) == seen
        and known["modified"] < known["seen"] - _CLOCK_TICK
    ):
        return known
    sha256 = digest(file).hex()
    if known and known["sha256"] != sha256:
        note(f"{file} has changed since it was read; what depends on it is made again")
    place = os.path.abspath(file)  # noqa: PTH100
    return {"path": place, "bytes": seen[0], "modified": seen[1], "seen": now, "sha256": sha256}


def _size_and_time(file: Path) -> tuple[int, int]:
    """Zeros if there is none: whoever opens it next explains."""
    facts = file.stat() if file.exists() else None
    return (0, 0) if facts is None else (facts.st_size, facts.st_mtime_ns)
