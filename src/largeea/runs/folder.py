"""`Run`: carries the method's stages out, keeps their results in a folder and loads them again.

A stage is known by what it depends on: its name, its configuration and the stages before it. A result whose
fingerprint still holds is loaded instead of computed. The manifest never speaks of what is not on disk: a
record is struck out before its file is replaced, and written after the new file is safe.
"""

from __future__ import annotations

import hashlib
import json
import time
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pydantic import BaseModel

from largeea import __version__
from largeea.config import Config
from largeea.errors import InputError, UsageError
from largeea.progress import note, step
from largeea.runs.artifacts import load_artifact, save_artifact
from largeea.runs.files import (
    atomic_write,
    explaining,
    is_intact,
    make_folder,
    remove_leftovers,
    sha256_of,
)
from largeea.runs.inputs import identity, record_inputs
from largeea.runs.lock import hold, now, release
from largeea.runs.manifest import (
    CONFIG,
    FORMAT,
    MANIFEST,
    Manifest,
    forget_stage,
    read_manifest,
    records_of_answer,
    refuse_strange,
    stage_file,
    stages_of_answer,
    strike_answer,
    way_on,
    write_manifest,
)
from largeea.runs.memory import PeakMemory, peak_memory
from largeea.runs.upkeep import facts_of, forget_damaged, record_results, remove, unknown_stage_files

__all__ = ["CHANNELS", "CONFIG", "MANIFEST", "Run", "load_evidence", "load_stage", "read_manifest"]

T = TypeVar("T")
CHANNELS = {kind: kind for kind in ("structure", "neighbours", "surroundings")} | {"name": "names"}
"""The channels and the stages that hold what they found."""
FEATURES = ("semantic", "strings")
"""Stages that hold what the name channel is made of."""


class Run:
    """One alignment from start to end; without a folder, everything stays in memory.

    `request` is what the run is asked for, in plain values, so that it can go on from its folder alone.

    Example: `names = run.stage("names", lambda: name_channel(task, config.names), config.names, "task")`.
    """

    def __init__(self, folder: Path | None = None, request: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.manifest: Manifest = {"format": FORMAT, "version": __version__, "stages": {}}
        self._config: Config | None = None
        self._fingerprints: dict[str, str] = {}
        self._under_way: list[str] = []
        self._attached: dict[str, dict[str, Any]] = {}
        if folder is None:
            return
        refuse_strange(folder)
        is_new = not folder.exists()
        with explaining(folder):
            make_folder(folder)
        self._leave = weakref.finalize(self, _leave, hold(folder), is_new)
        try:
            if (folder / MANIFEST).is_file():
                self.manifest = read_manifest(folder) | {"version": __version__}
        except BaseException:
            self._leave()
            raise
        remove_leftovers(folder)
        self.manifest.pop("request", None)
        if request is not None:
            self.manifest["request"] = request

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let others work on the folder; whoever is told of a failure is told how to go on."""
        if self.folder is None:
            return
        self._leave()
        begun = self._config is not None
        if error is not None and begun and not isinstance(error, UsageError | InputError):
            error.add_note(f"What was finished is kept; go on with: {way_on(self.folder)}")

    @property
    def stages(self) -> list[str]:
        """The stages gone through so far."""
        return list(self._fingerprints)

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time of each stage done or loaded."""
        stages = self.manifest["stages"]
        return {name: stages[name]["seconds"] for name in self._fingerprints if name in stages}

    @property
    def memory_mb(self) -> dict[str, dict[str, float]]:
        """Peak memory while each stage was computed: of the host, and of the GPU."""
        stages = self.manifest["stages"]
        return {name: stages[name]["memory_mb"] for name in self._fingerprints if name in stages}

    def identify_inputs(self, files: list[Path], how: str) -> str:
        """Tell this input, read in this way, from any other; the files are remembered."""
        self.manifest["inputs"] = record_inputs(files, self.manifest.get("inputs", ()))
        return identity(self.manifest["inputs"], how)

    def begin(self, config: Config) -> None:
        """From here on the run is made with this configuration; an answer to another one no longer counts."""
        self._config = config
        settings = config.model_dump(mode="json")
        if self.manifest.get("config") != settings:
            strike_answer(self.manifest)
        self.manifest["config"] = settings
        self._save()

    def stage(self, name: str, compute: Callable[[], T], *depends: Any) -> T:
        """The result of a stage: loaded if it is there and still holds, else computed and stored.

        `depends` are configuration sections, plain values, and names of earlier stages.
        A stage may go through stages of its own while it computes.
        """
        after = [value for value in depends if isinstance(value, str) and value in self._fingerprints]
        settings = [_plain(value) for value in depends if value not in after]
        fingerprint = self._fingerprints[name] = self._fingerprint(name, depends)
        stages = self.manifest["stages"]
        before = stages.get(name)
        if before and self.folder is not None:
            if before["fingerprint"] == fingerprint:
                try:
                    for other, facts in before["files"].items():
                        if not is_intact(self.folder / other, facts["sha256"]):
                            raise InputError("is damaged or missing", self.folder / other)
                    return load_artifact(stage_file(self.folder, name), before["sha256"])  # type: ignore[no-any-return]
                except InputError as error:
                    note(f"{error}; it is made again")
                    del stages[name]
            else:
                forget_stage(self.manifest, name)
            strike_answer(self.manifest)
            self._save()
        started = time.perf_counter()
        result, memory = self._computed(name, compute)
        record = {
            "fingerprint": fingerprint,
            "after": after,
            "within": self._under_way[-1] if self._under_way else None,
            "files": self._attached.pop(name, {}),
            "settings": settings,
            "seed": None if self._config is None else self._config.seed,
            "code": __version__,
            "finished": now(),
            "seconds": round(time.perf_counter() - started, 3),
            "memory_mb": asdict(memory),
        }
        if self.folder is not None:
            path = stage_file(self.folder, name)
            record |= {"sha256": save_artifact(result, path), "bytes": path.stat().st_size}
            if before and before["sha256"] != record["sha256"]:
                forget_stage(self.manifest, name)
        stages[name] = record
        strike_answer(self.manifest)
        self._save()
        return result

    def attach(self, name: str) -> None:
        """Remember a file that the stage under way has written into the folder besides its result."""
        assert self.folder is not None
        self._attached.setdefault(self._under_way[-1], {})[name] = facts_of(self.folder / name)

    def finish(self) -> None:
        """All stages are through: the folder holds an answer, and nothing that is not part of any."""
        if self.folder is None or self._config is None:
            return
        with atomic_write(self.folder / CONFIG) as file:
            file.write(self._config.to_toml().encode())
        self.manifest["answer"] = {
            "stages": stages_of_answer(self.manifest, self.stages),
            "config_sha256": sha256_of(self.folder / CONFIG),
        }
        self._save()
        remove(unknown_stage_files(self.folder, self.manifest))

    def forget_damaged(self) -> None:
        """Strike out damaged files that this run, as it had no need of them, has not looked at."""
        assert self.folder is not None
        forget_damaged(self.folder, self.manifest, self._fingerprints)
        self.manifest["answer"]["stages"] = stages_of_answer(self.manifest, self.stages)
        self._save()

    def vouch_for(self, files: Iterable[str], **facts: Any) -> None:
        """Remember files written from the answer; those of an earlier answer that are left over go."""
        assert self.folder is not None
        outdated = record_results(self.folder, self.manifest, files)
        self.describe(**facts)
        remove(outdated)

    def describe(self, **facts: Any) -> None:
        """Put facts about the run into its manifest."""
        self.manifest |= facts
        self._save()

    def _computed(self, name: str, compute: Callable[[], T]) -> tuple[T, PeakMemory]:
        """Compute a stage. Stages of its own that it did not need this time are of no more use."""
        self._under_way.append(name)
        try:
            with peak_memory() as memory, step(name):
                result = compute()
        finally:
            self._under_way.pop()
        stages = self.manifest["stages"]
        for other in [other for other in stages if stages[other]["within"] == name]:
            if other not in self._fingerprints:
                forget_stage(self.manifest, other)
        return result, memory

    def _save(self) -> None:
        if self.folder is not None:
            write_manifest(self.folder, self.manifest)

    def _fingerprint(self, name: str, depends: tuple[Any, ...]) -> str:
        parts = [name, __version__]
        for value in depends:
            earlier = self._fingerprints.get(value) if isinstance(value, str) else None
            parts.append(earlier or json.dumps(_plain(value), sort_keys=True))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def load_evidence(folder: Path) -> dict[str, Any]:
    """What each channel of a finished run found, and each feature of names, by its name."""
    stages = records_of_answer(folder)
    kinds = CHANNELS | {feature: feature for feature in FEATURES}
    return {kind: load_stage(folder, stage) for kind, stage in kinds.items() if stage in stages}


def load_stage(folder: Path, name: str) -> Any:
    """The stored result of one stage of a finished run."""
    stages = records_of_answer(folder)
    if name not in stages:
        raise InputError(
            f"the run has no stage {name!r}; it has: {', '.join(stages)}. If an earlier release made it, go "
            f"on with: {way_on(folder)}",
            folder,
        )
    return load_artifact(stage_file(folder, name), stages[name]["sha256"])


def _leave(place: Path, is_new: bool) -> None:
    """Let others work on the folder; one that was made for nothing goes."""
    release(place)
    if is_new:
        with suppress(OSError):
            place.rmdir()


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value
