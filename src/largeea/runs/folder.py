"""`Run`: carries the method's stages out, keeps their results in a folder and loads them again.

A stage is known by what it depends on: its name, its configuration and the stages before it. A result whose
fingerprint still holds is loaded instead of computed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel

from largeea import __version__
from largeea.errors import InputError, UsageError
from largeea.progress import note, step
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.runs.files import atomic_write, remove_leftovers
from largeea.runs.memory import peak_rss_mb

T = TypeVar("T")
MANIFEST, CONFIG = "manifest.json", "config.toml"
_RECORD: dict[str, type | tuple[type, ...]] = {
    "fingerprint": str,
    "seconds": (int, float),
    "sha256": str,
    "after": list,
}
"""What the manifest says of a stage at least; `after` names the stages it was built on."""


class Run:
    """One alignment from start to end; without a folder, everything stays in memory.

    Example: `names = run.stage("names", lambda: name_channel(task, config.names), config.names, "task")`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._fingerprints: dict[str, str] = {}
        self.manifest: dict[str, Any] = {"format": 1, "version": __version__, "stages": {}}
        if folder is None:
            return
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder} is a file; give a folder for the run with -o")
        if (folder / MANIFEST).is_file():
            self.manifest["stages"] = read_manifest(folder)["stages"]
            remove_leftovers(folder)
        elif folder.exists() and any(folder.iterdir()):
            raise UsageError(f"the folder {folder} is not empty and holds no run; give a new one with -o")

    @property
    def stages(self) -> list[str]:
        """The stages gone through so far."""
        return list(self._fingerprints)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time of each stage done or loaded."""
        stages = self.manifest["stages"]
        return {name: stages[name]["seconds"] for name in self._fingerprints if name in stages}

    def stage(self, name: str, compute: Callable[[], T], *depends: Any) -> T:
        """The result of a stage: loaded if it is there and still holds, else computed and stored.

        `depends` are configuration sections, plain values, and names of earlier stages.
        """
        after = [value for value in depends if isinstance(value, str) and value in self._fingerprints]
        fingerprint = self._fingerprints[name] = self._fingerprint(name, depends)
        record = self.manifest["stages"].get(name)
        if record and record["fingerprint"] != fingerprint:
            self._forget(name)
        elif record and self.folder is not None:
            try:
                return load_artifact(_stage_file(self.folder, name), record["sha256"])  # type: ignore[no-any-return]
            except InputError as error:
                note(f"{error}; it is made again")
        started = time.perf_counter()
        with step(name):
            result = compute()
        record = {
            "fingerprint": fingerprint,
            "after": after,
            "seconds": round(time.perf_counter() - started, 3),
            "peak_rss_mb": peak_rss_mb(),
        }
        if self.folder is not None:
            path = _stage_file(self.folder, name)
            record |= {"file": f"stages/{path.name}", "sha256": save_artifact(result, path)}
        self.manifest["stages"][name] = record
        self._save_manifest()
        return result

    def keep_config(self, toml: str) -> None:
        """Write down the configuration, in the form that `--config` takes."""
        self._save_manifest()
        if self.folder is not None:
            with atomic_write(self.folder / CONFIG) as file:
                file.write(toml.encode())

    def describe(self, **facts: Any) -> None:
        """Put facts about the run into its manifest."""
        self.manifest |= facts
        self._save_manifest()

    def _forget(self, name: str) -> None:
        """Strike a stage out, and every stage built on it: their results no longer go together."""
        stages = self.manifest["stages"]
        stages.pop(name, None)
        for other in [other for other in stages if name in stages[other]["after"]]:
            self._forget(other)

    def _save_manifest(self) -> None:
        if self.folder is None:
            return
        with atomic_write(self.folder / MANIFEST) as file:
            file.write(json.dumps(self.manifest, indent=2, sort_keys=True).encode() + b"\n")

    def _fingerprint(self, name: str, depends: tuple[Any, ...]) -> str:
        parts = [name, __version__]
        for value in depends:
            if isinstance(value, BaseModel):
                parts.append(value.model_dump_json())
            elif isinstance(value, str) and value in self._fingerprints:
                parts.append(self._fingerprints[value])
            else:
                parts.append(json.dumps(value))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder."""
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(f"is no run folder: it has no {MANIFEST}", folder)
    try:
        manifest = json.loads(path.read_text("utf-8"))
        if manifest["format"] != 1:
            raise InputError(f"was written by another release (format {manifest['format']})", path)
        for name, record in manifest["stages"].items():
            if not all(isinstance(record.get(key), kind) for key, kind in _RECORD.items()):
                raise ValueError(f"its record of stage {name!r} lacks a part")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is damaged: {error}", path) from None
    return dict(manifest)


def load_channels(folder: Path) -> dict[str, Any]:
    """What each channel of a finished run found, by the channel's name."""
    stages = read_manifest(folder)["stages"]
    return {
        channel: load_stage(folder, stage)
        for channel, stage in (("name", "names"), ("structure", "structure"))
        if stage in stages
    }


def load_stage(folder: Path, name: str) -> Any:
    """The stored result of one stage of a finished run."""
    record = read_manifest(folder)["stages"].get(name)
    if record is None:
        raise InputError(f"the run has no stage {name!r}; was it interrupted?", folder)
    return load_artifact(_stage_file(folder, name), record["sha256"])


def _stage_file(folder: Path, name: str) -> Path:
    return folder / "stages" / f"{name}.safetensors"
