"""The manifest: what a run folder holds, and how it was made. JSON that carries its own checksum."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from largeea.errors import InputError, UsageError
from largeea.runs.files import atomic_write, is_leftover
from largeea.runs.lock import LOCK

MANIFEST, CONFIG = "manifest.json", "config.toml"
FORMAT = 1
Manifest: TypeAlias = dict[str, Any]
"""Its parts:

- `request`: how the run was asked for, so that it can go on by itself; `config`: with which settings.
- `inputs`: the files read, each with size, time and SHA-256.
- `stages`: a record for each stored result; `after` names the stages it was built on, `within` the stage that
  went through it, `files` what it wrote besides.
- `answer`: the stages that make up the finished answer. Absent as long as the run is not finished.
- `results`: the files written from that answer; `outdated`: files of an earlier answer that still lie about.
"""
_RECORD: dict[str, type | tuple[type, ...]] = {
    "fingerprint": str,
    "seconds": (int, float),
    "sha256": str,
    "bytes": int,
    "after": list,
    "files": dict,
}
_UNSAFE = re.compile(r"[^a-z0-9_.]+")
_LONGEST_NAME = 80


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run folder; an error if there is none, or not all of it is as it was written."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"is no run folder: it has no {MANIFEST}", folder)
    try:
        manifest: Manifest = json.loads(path.read_text("utf-8"))
        if manifest["format"] != FORMAT:
            raise InputError(
                f"was written by another release (format {manifest['format']}; this one reads {FORMAT}): "
                "use that release, or begin anew in another folder with -o",
                path,
            )
        if manifest.pop("checksum") != _checksum(manifest):
            raise ValueError("its content does not match its checksum")
        for name, record in manifest["stages"].items():
            if not all(isinstance(record.get(key), kind) for key, kind in _RECORD.items()):
                raise ValueError(f"its record of stage {name!r} lacks a part")
        written = [name for record in manifest["stages"].values() for name in record["files"]]
        for name in [*written, *manifest.get("results", {}), *manifest.get("outdated", [])]:
            if Path(name).name != name:
                raise ValueError(f"{name!r} is no file of the run")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"is damaged: {reason}; without it no stored result can be trusted, so the run cannot go on: "
            f"move {folder} away and repeat the command that began it, or give it another folder with -o",
            path,
        ) from None
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, with its checksum."""
    with atomic_write(folder / MANIFEST) as file:
        file.write(json.dumps(manifest | {"checksum": _checksum(manifest)}, indent=2).encode() + b"\n")


def forget_stage(manifest: Manifest, name: str) -> None:
    """Strike a stage out, and every stage built on it: their results no longer go together."""
    stages = manifest["stages"]
    stages.pop(name, None)
    for other in [other for other in stages if name in stages[other]["after"]]:
        forget_stage(manifest, other)


def strike_answer(manifest: Manifest) -> None:
    """What was concluded no longer follows from the stages; its files stay until there are new ones."""
    manifest.pop("answer", None)
    manifest.pop("summary", None)
    outdated = [*manifest.pop("outdated", ()), *manifest.pop("results", ())]
    if outdated:
        manifest["outdated"] = outdated


def stages_of_answer(manifest: Manifest, gone_through: Iterable[str]) -> list[str]:
    """The stages that a run went through, and the stages within those."""
    found, stages = list(gone_through), manifest["stages"]
    for name in reversed(stages):
        if name not in found and stages[name]["within"] in found:
            found.append(name)
    return found


def records_of_answer(folder: Path) -> dict[str, Any]:
    """The records of the stages that make up the answer of a finished run."""
    manifest = read_manifest(folder)
    if "answer" not in manifest:
        raise InputError(f"the run is not finished; go on with: {way_on(folder)}", folder)
    return {name: manifest["stages"][name] for name in manifest["answer"]["stages"]}


def way_on(folder: Path) -> str:
    """What goes on with a run or mends it: only one that `largeea align` began can be resumed."""
    try:
        resumable = "request" in read_manifest(folder)
    except InputError:
        resumable = False
    return f"largeea resume {folder}" if resumable else "the command that began it"


def refuse_strange(folder: Path) -> None:
    """A run begins in a folder that is new, empty, or a run already: other people's files stay alone."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give a folder for the run with -o")
    if folder.exists() and not (folder / MANIFEST).is_file():
        for path in folder.iterdir():
            if path.name != LOCK and not is_leftover(path):
                raise UsageError(f"the folder {folder} is not empty and holds no run; give a new one with -o")


def stage_file(folder: Path, name: str) -> Path:
    """Where the result of a stage lies. Names that are no plain file names are told apart by a hash."""
    safe = _UNSAFE.sub("-", name).strip("-.")[:_LONGEST_NAME]
    if safe != name or not safe:
        safe += "-" + hashlib.sha256(name.encode()).hexdigest()[:8]
    return folder / "stages" / f"{safe}.safetensors"


def _checksum(manifest: Manifest) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
