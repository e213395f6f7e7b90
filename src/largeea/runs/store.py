"""`FolderStore`: stores the results of stages in a run folder and records them in the manifest.

The manifest lists only files that are on disk: a record is removed before its file is replaced, and added
after the new file has been flushed to disk.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from largeea.errors import InputError
from largeea.execution.memory import PeakMemory
from largeea.execution.stages import Handle, Missing
from largeea.progress import note
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.runs.files import is_intact
from largeea.runs.jobs import JobFolder, remove_jobs
from largeea.runs.lock import now
from largeea.runs.manifest import FORMAT, Manifest, stage_file, strike_answer, write_manifest
from largeea.runs.upkeep import facts_of
from largeea.version import __version__


class FolderStore:
    """Stores results in a folder; without a folder, keeps only the manifest, in memory."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.keeps = folder is not None
        self.manifest: Manifest = {"format": FORMAT, "version": __version__, "stages": {}, "timings": {}}
        self._verified: set[str] = set()
        self._attached: dict[str, dict[str, Any]] = {}

    def has(self, name: str, key: str) -> bool:
        """Return whether a result is stored, judged by its record and the size of its file."""
        record = self.manifest["stages"].get(name)
        if self.folder is None or record is None or record["key"] != key:
            return False
        path = stage_file(self.folder, name)
        return path.is_file() and path.stat().st_size == record["bytes"]

    def load(self, name: str, key: str) -> Any:
        """Load the stored result of a stage; raise `Missing` if there is none or it is damaged."""
        record = self.manifest["stages"].get(name)
        if self.folder is None or record is None or record["key"] != key:
            raise Missing(name)
        seen = record["sha256"] in self._verified
        try:
            for other, facts in record["files"].items():
                if not is_intact(self.folder / other, facts["sha256"]):
                    raise InputError("is damaged or missing", self.folder / other)
            value = load_artifact(stage_file(self.folder, name), None if seen else record["sha256"])
        except InputError as error:
            note(f"{error}; it is made again")
            del self.manifest["stages"][name]
            strike_answer(self.manifest)
            self.write_manifest()
            raise Missing(name) from None
        self._verified.add(record["sha256"])
        return value

    def save(self, handle: Handle[Any], value: Any, seconds: float, memory: PeakMemory) -> None:
        """Store a computed result, its time and its peak memory."""
        timing = {"seconds": round(seconds, 3), "memory_mb": asdict(memory)}
        self.manifest["timings"].setdefault(handle.name, {})[handle.key] = timing
        if self.folder is None:
            return
        if self.manifest["stages"].pop(handle.name, None) or "answer" in self.manifest:
            strike_answer(self.manifest)
            self.write_manifest()
        path = stage_file(self.folder, handle.name)
        sha256 = save_artifact(value, path)
        self._verified.add(sha256)
        self.manifest["stages"][handle.name] = {
            "key": handle.key,
            "function": handle.call.function,
            "code": handle.call.code,
            "after": handle.call.inputs,
            "arguments": handle.call.arguments,
            "files": self._attached.pop(handle.name, {}),
            "finished": now(),
            "sha256": sha256,
            "bytes": path.stat().st_size,
        }
        self.write_manifest()
        remove_jobs(self.folder, handle.key)

    def jobs(self, handle: Handle[Any]) -> JobFolder | None:
        """Return the store for finished jobs of a running stage; None without a folder."""
        return None if self.folder is None else JobFolder(self.folder, handle.key)

    def attach(self, stage: str, name: str) -> None:
        """Record an additional file that a stage wrote into the folder.

        It belongs to the stored result and, if the stage is computed again in this run, to the new one.
        """
        assert self.folder is not None
        facts = facts_of(self.folder / name)
        self._attached.setdefault(stage, {})[name] = facts
        if stage in self.manifest["stages"]:
            self.manifest["stages"][stage]["files"][name] = facts

    def detach(self, stage: str, name: str) -> None:
        """Remove an additional file of a stage and its record, if they exist."""
        assert self.folder is not None
        self._attached.get(stage, {}).pop(name, None)
        self.manifest["stages"].get(stage, {"files": {}})["files"].pop(name, None)
        (self.folder / name).unlink(missing_ok=True)

    def write_manifest(self) -> None:
        """Write the manifest to disk; do nothing without a folder."""
        if self.folder is not None:
            write_manifest(self.folder, self.manifest)
