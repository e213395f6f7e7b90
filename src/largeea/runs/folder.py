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
from largeea.progress import step
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.runs.files import atomic_write
from largeea.runs.memory import peak_rss_mb

T = TypeVar("T")
MANIFEST, CONFIG = "manifest.json", "config.toml"


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
        elif folder.exists() and any(folder.iterdir()):
            raise UsageError(f"the folder {folder} is not empty and holds no run; give a new one with -o")

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time of each stage done or loaded."""
        stages = self.manifest["stages"]
        return {name: stages[name]["seconds"] for name in self._fingerprints if name in stages}

    def stage(self, name: str, compute: Callable[[], T], *depends: Any) -> T:
        """The result of a stage: loaded if it is there and still holds, else computed and stored.

        `depends` are configuration sections, plain values, and names of earlier stages.
        """
        fingerprint = self._fingerprint(name, depends)
        self._fingerprints[name] = fingerprint
        record = self.manifest["stages"].get(name)
        path = None if self.folder is None else self.folder / "stages" / f"{name}.safetensors"
        if path is not None and record and record["fingerprint"] == fingerprint and path.is_file():
            return load_artifact(path)  # type: ignore[no-any-return]
        started = time.perf_counter()
        with step(name):
            result = compute()
        record = {
            "fingerprint": fingerprint,
            "seconds": round(time.perf_counter() - started, 3),
            "peak_rss_mb": peak_rss_mb(),
        }
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            record |= {"file": f"stages/{path.name}", "sha256": save_artifact(result, path)}
        self.manifest["stages"][name] = record
        self._save_manifest()
        return result

    def keep_config(self, toml: str) -> None:
        """Write down the configuration, in the form that `--config` takes."""
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(self.folder / CONFIG) as file:
                file.write(toml.encode())

    def describe(self, **facts: Any) -> None:
        """Put facts about the run into its manifest."""
        self.manifest |= facts
        self._save_manifest()

    def _save_manifest(self) -> None:
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
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
        if manifest["format"] != 1 or not isinstance(manifest["stages"], dict):
            raise InputError(f"was written by another release (format {manifest['format']})", path)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is damaged: {error}", path) from None
    return dict(manifest)


def load_stage(folder: Path, name: str) -> Any:
    """The stored result of one stage of a finished run."""
    if name not in read_manifest(folder)["stages"]:
        raise InputError(f"the run has no stage {name!r}; was it interrupted?", folder)
    return load_artifact(folder / "stages" / f"{name}.safetensors")
