"""`FolderStore`: stores the results of stages in a run folder and records them in the manifest.

The manifest lists only files that are on disk: a record is removed before its file is replaced, and added
after the new file has been flushed to disk. Results are written by a background thread, so a killed run may
lose the results that wait to be written, and no other.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from largeea.errors import InputError
from largeea.execution.memory import PeakMemory
from largeea.execution.settings import current
from largeea.execution.stages import Handle, Missing, bytes_of
from largeea.progress import note
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.runs.files import is_intact
from largeea.runs.jobs import JobFolder, remove_jobs
from largeea.runs.lock import now
from largeea.runs.manifest import FORMAT, Manifest, stage_file, strike_answer, write_manifest
from largeea.runs.upkeep import facts_of
from largeea.runs.writer import Writer
from largeea.version import __version__

JOBS_AFTER = 15.0
"""Seconds that a stage runs before its finished jobs are stored: shorter stages are quicker to repeat."""

SHARE_UNWRITTEN = 0.1
"""Of the memory limit, what results may take up that wait to be written."""


class FolderStore:
    """Stores results in a folder; without a folder, keeps only the manifest, in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.keeps = folder is not None
        self.manifest: Manifest = {"format": FORMAT, "version": __version__, "stages": {}, "timings": {}}
        self.writer = Writer()
        self._lock = threading.RLock()
        self._unwritten: dict[str, Any] = {}
        self._verified: set[str] = set()
        self._attached: dict[str, dict[str, Any]] = {}

    def has(self, name: str, key: str) -> bool:
        """Return whether a result is stored or about to be, judged by its record and the size of its file."""
        if key in self._unwritten:
            return True
        record = self.manifest["stages"].get(name)
        if self.folder is None or record is None or record["key"] != key:
            return False
        path = stage_file(self.folder, name)
        return path.is_file() and path.stat().st_size == record["bytes"]

    def load(self, name: str, key: str) -> Any:
        """Load the stored result of a stage; raise `Missing` if there is none or it is damaged.

        A result that this process has written or verified is not checked again.
        """
        if self.folder is None:
            raise Missing(name)
        if (unwritten := self._unwritten.get(key)) is not None:
            return unwritten
        record = self.manifest["stages"].get(name)
        if record is None or record["key"] != key:
            raise Missing(name)
        try:
            for other, facts in record["files"].items():
                if not is_intact(self.folder / other, facts["sha256"]):
                    raise InputError("is damaged or missing", self.folder / other)
            path = stage_file(self.folder, name)
            if record["sha256"] in self._verified:
                return load_artifact(path, checked=False)
            value = load_artifact(path, record["sha256"])
        except InputError as error:
            note(f"{error}; it is made again")
            with self.changing() as manifest:
                del manifest["stages"][name]
                strike_answer(manifest)
            raise Missing(name) from None
        self._verified.add(record["sha256"])
        return value

    def save(self, handle: Handle[Any], value: Any, seconds: float, memory: PeakMemory) -> None:
        """Record the time and peak memory of a computed result, and store it in the background.

        An error of storing a result before it is raised here.
        """
        timing = {"seconds": round(seconds, 3), "memory_mb": asdict(memory)}
        with self._lock:
            self.manifest["timings"].setdefault(handle.name, {})[handle.key] = timing
        if self.folder is None:
            return
        record = {
            "key": handle.key,
            "function": handle.call.function,
            "code": handle.call.code,
            "after": handle.call.inputs,
            "arguments": handle.call.arguments,
            "files": self._attached.pop(handle.name, {}),
            "finished": now(),
        }
        self._unwritten[handle.key] = value
        write = partial(self._write, self.folder, handle.name, value, record)
        self.writer.submit(write, bytes_of(value), int(SHARE_UNWRITTEN * current().memory_bytes))

    def _write(self, folder: Path, name: str, value: Any, record: dict[str, Any]) -> None:
        """Write a result and then its record; the manifest on disk must not list the file meanwhile."""
        try:
            if name in self.manifest["stages"] or "answer" in self.manifest:
                with self.changing() as manifest:
                    manifest["stages"].pop(name, None)
                    strike_answer(manifest)
            path = stage_file(folder, name)
            sha256 = save_artifact(value, path)
            self._verified.add(sha256)
            with self.changing() as manifest:
                manifest["stages"][name] = record | {"sha256": sha256, "bytes": path.stat().st_size}
            remove_jobs(folder, record["key"])
        finally:
            del self._unwritten[record["key"]]

    def jobs(self, handle: Handle[Any]) -> JobFolder | None:
        """Return the store for finished jobs of a running stage; None without a folder."""
        return None if self.folder is None else JobFolder(self.folder, handle.key, JOBS_AFTER)

    def attach(self, stage: str, name: str) -> None:
        """Record an additional file that a stage wrote into the folder.

        It belongs to the stored result and, if the stage is computed again in this run, to the new one.
        """
        assert self.folder is not None
        self.writer.wait()
        facts = facts_of(self.folder / name)
        self._attached.setdefault(stage, {})[name] = facts
        if stage in self.manifest["stages"]:
            self.manifest["stages"][stage]["files"][name] = facts

    def detach(self, stage: str, name: str) -> None:
        """Remove an additional file of a stage and its record, if they exist."""
        assert self.folder is not None
        recorded = self.manifest["stages"].get(stage, {"files": {}})["files"]
        if name not in recorded and not (self.folder / name).exists():
            return
        self.writer.wait()
        self._attached.get(stage, {}).pop(name, None)
        self.manifest["stages"].get(stage, {"files": {}})["files"].pop(name, None)
        (self.folder / name).unlink(missing_ok=True)

    @contextmanager
    def changing(self) -> Iterator[Manifest]:
        """Change the manifest, and write it to disk at the end of the context."""
        with self._lock:
            yield self.manifest
            self.write_manifest()

    def write_manifest(self) -> None:
        """Write the manifest to disk; do nothing without a folder."""
        if self.folder is not None:
            with self._lock:
                write_manifest(self.folder, self.manifest)
