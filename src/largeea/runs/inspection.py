"""The state of a run folder: `status` reads the manifest, `verify` checks every file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from largeea.progress import track
from largeea.runs.files import is_intact
from largeea.runs.lock import worker_on
from largeea.runs.manifest import CONFIG, Manifest, read_manifest, stage_file

State = Literal["finished", "running", "interrupted"]


@dataclass(frozen=True)
class KeptFile:
    """A file recorded in the manifest; `stage` names the stage that wrote it, None for other files."""

    path: Path
    sha256: str
    stage: str | None = None

    def problem(self) -> Literal["missing", "damaged"] | None:
        """Check the file against its SHA-256; None if it is intact."""
        if is_intact(self.path, self.sha256):
            return None
        return "damaged" if self.path.is_file() else "missing"


def verify(folder: Path) -> tuple[int, list[tuple[KeptFile, str]]]:
    """Check every file of a run; return their number, and the damaged or missing ones with their problem."""
    files = list(_kept_files(folder, read_manifest(folder)))
    found = [(file, file.problem()) for file in track(files, len(files))]
    return len(files), [(file, problem) for file, problem in found if problem]


def status(folder: Path) -> dict[str, Any]:
    """Return the state, stages and results of a run from its manifest; files are checked by size only."""
    manifest = read_manifest(folder)
    worker = worker_on(folder)
    answer = manifest.get("answer", {"stages": []})["stages"]
    stages = [
        {
            "name": name,
            "state": "stored" if _has_size(stage_file(folder, name), record) else "damaged",
            "in_answer": name in answer,
            **{key: record[key] for key in ("after", "finished", "bytes", "function")},
            "seconds": round(sum(one["seconds"] for one in manifest["timings"].get(name, {}).values()), 3),
        }
        for name, record in manifest["stages"].items()
    ]
    results = [
        {
            "name": name,
            "state": "stored" if _has_size(folder / name, record) else "damaged",
            "bytes": record["bytes"],
        }
        for name, record in manifest.get("results", {}).items()
    ]
    return {
        "run": str(folder),
        "state": _state(manifest, worker),
        "worker": worker,
        "request": manifest.get("request"),
        "stages": stages,
        "results": results,
        "read": manifest.get("read"),
        "summary": manifest.get("summary"),
    }


def _state(manifest: Manifest, worker: dict[str, Any] | None) -> State:
    if worker is not None:
        return "running"
    finished = "answer" in manifest and ("results" in manifest or "request" not in manifest)
    return "finished" if finished else "interrupted"


def _kept_files(folder: Path, manifest: Manifest) -> Iterator[KeptFile]:
    for name, record in manifest["stages"].items():
        yield KeptFile(stage_file(folder, name), record["sha256"], name)
        for other, facts in record["files"].items():
            yield KeptFile(folder / other, facts["sha256"], name)
    if "answer" in manifest:
        yield KeptFile(folder / CONFIG, manifest["answer"]["config_sha256"])
    for name, record in manifest.get("results", {}).items():
        yield KeptFile(folder / name, record["sha256"])


def _has_size(path: Path, record: dict[str, Any]) -> bool:
    return path.is_file() and path.stat().st_size == record["bytes"]
