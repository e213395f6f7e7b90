"""Keeps a run folder and its manifest consistent. The caller writes the manifest."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from largeea.formats.streams import in_parallel
from largeea.hashing import file_hash
from largeea.progress import note
from largeea.runs.files import is_intact
from largeea.runs.manifest import Manifest, stage_file


def facts_of(path: Path) -> dict[str, Any]:
    """Return the record of a file: its SHA-256 and its size in bytes."""
    return {"sha256": file_hash(path), "bytes": path.stat().st_size}


def record_results(folder: Path, manifest: Manifest, files: Iterable[str]) -> list[Path]:
    """Record files written from the answer; return the files of an earlier answer that can be removed."""
    names = list(files)
    facts = in_parallel(facts_of, [folder / name for name in names])
    manifest["results"] = manifest.get("results", {}) | dict(zip(names, facts, strict=True))
    outdated = set(manifest.pop("outdated", ())) - set(manifest["results"])
    return [folder / name for name in sorted(outdated)]


def forget_damaged(folder: Path, manifest: Manifest) -> None:
    """Remove the records of stages and results whose files are damaged or missing."""
    stages, results = manifest["stages"], manifest.get("results", {})
    files = [(stages, name, stage_file(folder, name)) for name in stages]
    files += [(results, name, folder / name) for name in results]
    for records, name, path in files:
        if not is_intact(path, records[name]["sha256"]):
            note(f"{path}: is damaged or missing; it is made again when it is asked for")
            del records[name]


def unknown_stage_files(folder: Path, manifest: Manifest) -> list[Path]:
    """Return the stored stage results that are no longer in the manifest."""
    known = {stage_file(folder, name) for name in manifest["stages"]}
    return [path for path in (folder / "stages").glob("*.safetensors") if path not in known]


def remove(files: Iterable[Path]) -> None:
    """Remove files; errors are ignored, because a leftover file does no harm."""
    for path in files:
        with suppress(OSError):
            path.unlink()
