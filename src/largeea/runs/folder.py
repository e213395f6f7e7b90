"""`Run`: one alignment from start to answer, in a run folder that one process at a time may use."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from largeea.config import Config
from largeea.errors import InputError, ResourceError, UsageError
from largeea.execution.stages import Handle, Stages
from largeea.hashing import file_hash
from largeea.runs.artifacts import load_artifact
from largeea.runs.files import atomic_write, explaining, make_folder, remove_leftovers
from largeea.runs.jobs import remove_jobs
from largeea.runs.lock import hold, release
from largeea.runs.manifest import (
    CONFIG,
    MANIFEST,
    Manifest,
    read_manifest,
    records_of_answer,
    refuse_strange,
    stage_file,
    strike_answer,
    way_on,
)
from largeea.runs.store import FolderStore
from largeea.runs.upkeep import forget_damaged, record_results, remove, unknown_stage_files
from largeea.runs.writer import Writer
from largeea.version import __version__

__all__ = ["CONFIG", "MANIFEST", "Run", "load_stage", "read_manifest"]


class Run:
    """One alignment from start to answer. Without a folder, all results stay in memory.

    `request` holds the inputs and options as plain values, so that the run can be resumed from its folder
    alone. The `config` is recorded with it, so that no stored stage has one without the other. `subject`
    identifies the two graphs: a folder with a run on other graphs is refused, unless `overwrite` is set.

    Example: `names = run.stage("names", name_features, semantic, strings, 0.3, 50)`.
    """

    def __init__(
        self,
        folder: Path | None = None,
        request: dict[str, Any] | None = None,
        subject: list[str] | None = None,
        overwrite: bool = False,
        config: Config | None = None,
    ) -> None:
        self.folder = folder
        self.store = FolderStore(folder)
        self.stage = Stages(self.store)
        self._config: Config | None = None
        if folder is None:
            return
        refuse_strange(folder)
        is_new = not folder.exists()
        with explaining(folder):
            make_folder(folder)
        self._leave = weakref.finalize(self, _leave, self.store.writer, hold(folder), is_new)
        try:
            if (folder / MANIFEST).is_file():
                self._continue(subject, overwrite)
        except BaseException:
            self._leave()
            raise
        remove_leftovers(folder)
        self.manifest.pop("request", None)
        if request is not None:
            self.manifest["request"] = request
        if subject is not None:
            self.manifest["subject"] = subject
        if config is not None:
            self._record(config)

    def _continue(self, subject: list[str] | None, overwrite: bool) -> None:
        """Continue the run in the folder; raise `UsageError` if it aligns other graphs."""
        assert self.folder is not None
        found = read_manifest(self.folder)
        other = found.get("subject")
        if found["stages"] and other and subject and other != subject and not overwrite:
            raise UsageError(
                f"the folder {self.folder} holds a run on other graphs ({' and '.join(other)}); give another "
                "folder, or allow it to be overwritten (overwrite, --overwrite)"
            )
        self.store.manifest = found | {"version": __version__}

    @property
    def manifest(self) -> Manifest:
        """The manifest: the content of the folder and how it was computed."""
        return self.store.manifest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait for the last result to be written, and release the lock on the folder.

        A note on an error says how to resume the run.
        """
        if self.folder is None:
            return
        try:
            self._leave()
        except ResourceError as failed_write:
            if error is None:
                self._tell_how_to_resume(failed_write)
                raise
        if error is not None:
            self._tell_how_to_resume(error)

    def _tell_how_to_resume(self, error: BaseException) -> None:
        assert self.folder is not None
        if self._config is not None and not isinstance(error, UsageError | InputError):
            error.add_note(f"What was finished is kept; continue with: {way_on(self.folder)}")

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time of each stage in seconds, summed over its rounds; stored stages keep their time."""
        return {name: round(sum(one["seconds"] for one in of), 3) for name, of in self._timings()}

    @property
    def memory_mb(self) -> dict[str, dict[str, float]]:
        """Peak memory of each stage in MB: `host` and `gpu`."""
        return {
            name: {kind: max(one["memory_mb"][kind] for one in of) for kind in ("host", "gpu")}
            for name, of in self._timings()
        }

    def _timings(self) -> Iterable[tuple[str, list[dict[str, Any]]]]:
        for name, keys in self.stage.made.items():
            known = self.manifest["timings"].get(name, {})
            found = [known[key] for key in keys if key in known]
            if found:
                yield name, found

    def begin(self, config: Config) -> None:
        """Record the configuration of the run; invalidate an answer computed with another one."""
        self._config = config
        self._record(config)
        self.store.write_manifest()

    def _record(self, config: Config) -> None:
        """Note the configuration, to be written with the next change of the manifest."""
        settings = config.model_dump(mode="json")
        if self.manifest.get("config") != settings:
            strike_answer(self.manifest)
        self.manifest["config"] = settings

    # Finishing a run

    def finish(self, answer: Iterable[Handle[Any]]) -> None:
        """Record that these stages make up the answer, and remove stage and job files no longer needed.

        If a stage of an earlier round was repeated, it has replaced the result of the last one.
        """
        if self.folder is None or self._config is None:
            return
        parts = list(answer)
        self.store.writer.wait()
        while missing := [handle for handle in parts if not handle.is_there]:
            for handle in missing:
                handle.ensure()
            self.store.writer.wait()
        with atomic_write(self.folder / CONFIG) as file:
            file.write(self._config.to_toml().encode())
        timings = self.manifest["timings"]
        self.manifest["timings"] = {
            name: {key: timings[name][key] for key in keys if key in timings[name]}
            for name, keys in self.stage.made.items()
            if name in timings
        }
        self.manifest["answer"] = {
            "stages": list(dict.fromkeys(handle.name for handle in parts)),
            "config_sha256": file_hash(self.folder / CONFIG),
        }
        self.store.write_manifest()
        remove(unknown_stage_files(self.folder, self.manifest))
        remove_jobs(self.folder)

    def forget_damaged(self) -> None:
        """Remove the records of damaged or missing files from the manifest."""
        assert self.folder is not None
        forget_damaged(self.folder, self.manifest)
        self.store.write_manifest()

    def vouch_for(self, files: Iterable[str], **facts: Any) -> None:
        """Record the result files written from the answer, and remove outdated files of an earlier answer."""
        assert self.folder is not None
        outdated = record_results(self.folder, self.manifest, files)
        self.describe(**facts)
        remove(outdated)

    def describe(self, **facts: Any) -> None:
        """Add facts about the run to its manifest."""
        with self.store.changing() as manifest:
            manifest.update(facts)


def load_stage(folder: Path, name: str) -> Any:
    """Load the stored result of one stage of a finished run."""
    stages = records_of_answer(folder)
    if name not in stages:
        raise InputError(f"the run has no stage {name!r}; it has: {', '.join(stages)}", folder)
    return load_artifact(stage_file(folder, name), stages[name]["sha256"])


def _leave(writer: Writer, place: Path, is_new: bool) -> None:
    """Wait for the writer and release the lock on the folder; remove a new folder that is still empty."""
    try:
        writer.close()
    finally:
        release(place)
        if is_new:
            with suppress(OSError):
                place.rmdir()
