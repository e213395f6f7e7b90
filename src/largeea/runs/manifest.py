"""The manifest: a JSON file with a checksum that records a run folder's content and how it was computed."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, TypeAlias

from largeea.errors import InputError, UsageError
from largeea.runs.files import atomic_write, is_leftover
from largeea.runs.lock import LOCK
from largeea.runs.manifest_shape import check_shape

MANIFEST, CONFIG, REVIEWS, STAGES = "manifest.json", "config.toml", "reviews.tsv", "stages"
FORMAT = 2
Manifest: TypeAlias = dict[str, Any]
"""Entries of the manifest:

- `request`: inputs and options of the run, needed to resume it; `config`: its settings.
- `inputs`: the input files, each with size, modification time and SHA-256.
- `subject`: the graphs that are aligned.
- `stages`: a record for each stored result: its `key`, the `function` and its `arguments`, the stages that
  its inputs come from (`after`), and additional `files` that the stage wrote.
- `timings`: seconds and peak memory of each computed result, by stage and key.
- `answer`: the stages that make up the answer. Absent until the run is finished.
- `results`: the files written from the answer; `outdated`: files of an earlier answer, not yet removed.
"""
_UNSAFE = re.compile(r"[^a-z0-9_.]+")
_LONGEST_NAME = 80


def check_output(folder: Path, output: Path) -> None:
    """Raise `UsageError` if a file made from the run would replace an input of it or a part of it."""
    run, place = folder.resolve(), output.resolve()
    manifest = read_manifest(folder)
    if place in {Path(record["path"]).resolve() for record in manifest.get("inputs", ())}:
        raise UsageError(f"{output} is an input of the run; write to another file")
    own = {run / name for name in (MANIFEST, CONFIG, LOCK, REVIEWS)}
    if place in own or run / STAGES in place.parents:
        raise UsageError(f"{output} is a part of the run; write to another file")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a run folder; raise `InputError` if it is missing or damaged."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"is not a run folder: it has no {MANIFEST}", folder)
    try:
        manifest: Manifest = json.loads(path.read_text("utf-8"))
        if manifest["format"] != FORMAT:
            raise InputError(
                f"was written by largeea {manifest.get('version', 'of another version')} (format "
                f"{manifest['format']}; this version reads {FORMAT}): read it with that version, or run the "
                "alignment again into another folder with -o",
                path,
            )
        if manifest.pop("checksum") != _checksum(manifest):
            raise ValueError("its content does not match its checksum")
        check_shape(manifest)
        written = [name for record in manifest["stages"].values() for name in record["files"]]
        for name in [*written, *manifest.get("results", {}), *manifest.get("outdated", [])]:
            if Path(name).name != name:
                raise ValueError(f"{name!r} is not a file of the run")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(
            f"is damaged: {reason}; without it no stored result can be trusted, so the run cannot go on: "
            f"move {folder} away and repeat the command that began it, or give it another folder with -o",
            path,
        ) from None
    return manifest


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest and its checksum."""
    with atomic_write(folder / MANIFEST) as file:
        file.write(_in_lines(manifest | {"checksum": _checksum(manifest)}).encode() + b"\n")


def _in_lines(value: Any, depth: int = 2) -> str:
    """JSON with a line for each entry of the outer dictionaries: indented JSON takes ten times as long."""
    if not isinstance(value, dict) or not value or not depth:
        return json.dumps(value)
    entries = (f"{json.dumps(name)}: {_in_lines(part, depth - 1)}" for name, part in value.items())
    return "{\n" + ",\n".join(entries) + "\n}"


def strike_answer(manifest: Manifest) -> None:
    """Invalidate the answer, because its stages have changed; its files are kept until new ones exist."""
    manifest.pop("answer", None)
    manifest.pop("summary", None)
    outdated = [*manifest.pop("outdated", ()), *manifest.pop("results", ())]
    if outdated:
        manifest["outdated"] = outdated


def records_of_answer(folder: Path) -> dict[str, Any]:
    """Return the records of the stages that make up the answer of a finished run."""
    manifest = read_manifest(folder)
    if "answer" not in manifest:
        raise InputError(f"the run is not finished; continue with: {way_on(folder)}", folder)
    known, needed = manifest["stages"], manifest["answer"]["stages"]
    lacking = [name for name in needed if name not in known]
    if lacking:
        raise InputError(
            f"the result of the stage {lacking[0]!r}, which its answer needs, is gone; "
            f"repair it with: {way_on(folder)}",
            folder,
        )
    return {name: known[name] for name in needed}


def way_on(folder: Path) -> str:
    """Return the command that continues or repairs a run: `largeea resume` if `largeea align` started it."""
    try:
        resumable = "request" in read_manifest(folder)
    except InputError:
        resumable = False
    return f"largeea resume {folder}" if resumable else "the command that began it"


def refuse_strange(folder: Path) -> None:
    """Raise `UsageError` unless the folder is new, empty or a run folder, to protect unrelated files."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give a folder for the run with -o")
    if folder.exists() and not (folder / MANIFEST).is_file():
        for path in folder.iterdir():
            if path.name != LOCK and not is_leftover(path):
                raise UsageError(f"the folder {folder} is not empty and holds no run; give a new one with -o")


def stage_file(folder: Path, name: str) -> Path:
    """Return the path of a stage's result; a name that is not a safe file name gets a hash appended."""
    safe = _UNSAFE.sub("-", name).strip("-.")[:_LONGEST_NAME]
    if safe != name or not safe:
        safe += "-" + hashlib.sha256(name.encode()).hexdigest()[:8]
    return folder / "stages" / f"{safe}.safetensors"


def _checksum(manifest: Manifest) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
