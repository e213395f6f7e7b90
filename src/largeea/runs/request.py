"""What a run was asked for: kept in its folder, so that it can go on from there alone."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from largeea.config import Config
from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions, files_of
from largeea.runs.manifest import MANIFEST, read_manifest


@dataclass(frozen=True)
class Request:
    """Which graphs to align, how to read them, and in which formats to write the answer."""

    source: Path
    target: Path | None
    seeds: Path | None
    reading: ReadOptions
    formats: tuple[str, ...]

    def to_plain(self) -> dict[str, Any]:
        """For the manifest: places as they were given, and from where."""
        return {
            "working_directory": str(Path.cwd()),
            **{
                name: str(value) if isinstance(value, Path) else value for name, value in asdict(self).items()
            },
        }

    def seen_from_here(self, working_directory: Path) -> Request:
        """The same request, whoever stands elsewhere than where it was made."""
        if working_directory == Path.cwd():
            return self
        return replace(
            self,
            source=working_directory / self.source,
            target=self.target and working_directory / self.target,
            seeds=self.seeds and working_directory / self.seeds,
        )

    def files(self) -> list[Path]:
        """All input files, in a fixed order."""
        graphs = [self.source] if self.target is None else [self.source, self.target]
        return files_of(graphs) + ([] if self.seeds is None else [self.seeds])


def read_request(folder: Path) -> tuple[Request, Config]:
    """What the run in this folder was asked for, and with which settings."""
    manifest = read_manifest(folder)
    if "request" not in manifest:
        raise UsageError(
            f"the run {folder} was not begun by largeea align; repeat the command that began it to go on"
        )
    try:
        request = TypeAdapter(Request).validate_python(manifest["request"])
        config = Config.model_validate(manifest["config"])
        return request.seen_from_here(Path(manifest["request"]["working_directory"])), config
    except (ValidationError, KeyError) as error:
        problems = error.errors() if isinstance(error, ValidationError) else [{"loc": error.args}]
        places = ", ".join(".".join(map(str, problem["loc"])) for problem in problems)
        raise InputError(
            f"does not ask in the way of this release: {places}; repeat the command that began the run",
            folder / MANIFEST,
        ) from None
