"""Keeping a run folder and its manifest true to each other. The caller saves the manifest."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from largeea.progress import note
from largeea.runs.files import is_intact, sha256_of
from largeea.runs.manifest import Manifest, stage_file


def facts_of(path: Path) -> dict[str, Any]:
    """What is remembered of a file: its SHA-256 and its size."""
    return {"sha256": sha256_of(path), "bytes": path.stat().st_size}


def record_results(folder: Path, manifest: Manifest, files: Iterable[str]) -> list[Path]:
    """Vouch for files written from the answer; those of an earlier answer that may now go come back."""
    manifest["results"] = manifest.get("results", {}) | {name: facts_of(folder / name) for name in files}
    outdated = set(manifest.pop("outdated", ())) - set(manifest["results"])
    return [folder / name for name in sorted(outdated)]


def forget_damaged(folder: Path, manifest: Manifest, looked_at: Collection[str]) -> None:
    """Strike out stages (but for those looked at already) and results that are not as they were written."""
    stages, results = manifest["stages"], manifest.get("results", {})
    files = [(stages, name, stage_file(folder, name)) for name in stages if name not in looked_at]
    files += [(results, name, folder / name) for name in results]
    for records, name, path in files:
        if not is_intact(path, records[name]["sha256"]):
            note(f"{path}: is damaged or missing; it is made again when it is asked for")
            del records[name]


def unknown_stage_files(folder: Path, manifest: Manifest) -> list[Path]:
    """Stored results that no record speaks of any more."""
    known = {stage_file(folder, name) for name in manifest["stages"]}
    return [path for path in (folder / "stages").glob("*.safetensors") if path not in known]


def remove(files: Iterable[Path]) -> None:
    """Remove what is of no use; where that fails, it does no harm either."""
    for path in files:
        with suppress(OSError):
            path.unlink()
