"""The request of a run, stored in its folder so that the run can be resumed from there alone."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from largeea.config import Config
from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions, files_of
from largeea.formats.scope import NO_SCOPE, Scope
from largeea.runs.manifest import MANIFEST, read_manifest


def _as_tuple(given: Any) -> Any:
    """One path, or none, as earlier versions stored it, as a tuple."""
    return () if given is None else (given,) if isinstance(given, str | Path) else given


Paths = Annotated[tuple[Path, ...], BeforeValidator(_as_tuple)]


@dataclass(frozen=True)
class Request:
    """Which graphs to align, how to read them, and in which formats to write the answer.

    `predicate` is the IRI or CURIE of the predicate of all links; None if it follows from what they link.
    """

    source: Path
    target: Path | None
    seeds: Paths
    """Link files: known links and, where a format can negate them, forbidden pairs."""
    reading: ReadOptions
    formats: tuple[str, ...]
    predicate: str | None = None
    forbidden: Paths = ()
    """Files of pairs that are wrong."""
    with_reviews: bool = False
    """Whether the reviews in the run folder count: confirmed pairs as seeds, rejected ones as forbidden."""
    scope: Scope = NO_SCOPE
    """Which entities and pairs may be in the answer."""
    license: str | None = None
    """The IRI of the licence of the links."""
    date: str | None = None
    """The day that the links are dated, YYYY-MM-DD; None for the day on which they were found."""
    with_doubtful: bool = False
    """Whether SSSOM files have the doubtful pairs, too."""
    within: bool = False
    """Whether source and target are the same graph, in which duplicates are searched."""
    earlier: Path | None = None
    """The folder of the run that this one updates."""

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for the manifest: paths as given, and the working directory."""
        return {
            "working_directory": str(Path.cwd()),
            **{name: _plain(value) for name, value in asdict(self).items()},
        }

    def seen_from_here(self, working_directory: Path) -> Request:
        """Return the request with its paths resolved against `working_directory`, unless that is current."""
        if working_directory == Path.cwd():
            return self
        return replace(
            self,
            source=working_directory / self.source,
            target=self.target and working_directory / self.target,
            seeds=tuple(working_directory / place for place in self.seeds),
            forbidden=tuple(working_directory / place for place in self.forbidden),
            earlier=self.earlier and working_directory / self.earlier,
            scope=replace(
                self.scope,
                leave_out=self.scope.leave_out and working_directory / self.scope.leave_out,
                compatible_types=(
                    self.scope.compatible_types and working_directory / self.scope.compatible_types
                ),
            ),
        )

    def files(self) -> dict[str, list[Path]]:
        """Return all input files by what they are for, each in a fixed order."""
        return {
            "source": files_of(self.source),
            "target": files_of(self.source if self.target is None else self.target),
            "seeds": list(self.seeds),
            "forbidden": list(self.forbidden),
            "left_out": [self.scope.leave_out] if self.scope.leave_out else [],
            "compatible": [self.scope.compatible_types] if self.scope.compatible_types else [],
        }

    def subject(self) -> list[str]:
        """Return the absolute paths of the graphs that are aligned."""
        return [os.path.abspath(place) for place in (self.source, self.target) if place is not None]  # noqa: PTH100


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return str(value) if isinstance(value, Path) else value


def read_request(folder: Path) -> tuple[Request, Config]:
    """Return the request and the configuration of the run in this folder."""
    manifest = read_manifest(folder)
    if "request" not in manifest:
        raise UsageError(
            f"the run {folder} was not started by `largeea align`; repeat the command that started it"
        )
    try:
        request = TypeAdapter(Request).validate_python(manifest["request"])
        config = Config.model_validate(manifest["config"])
        return request.seen_from_here(Path(manifest["request"]["working_directory"])), config
    except (ValidationError, KeyError) as error:
        problems = error.errors() if isinstance(error, ValidationError) else [{"loc": error.args}]
        places = ", ".join(".".join(map(str, problem["loc"])) for problem in problems)
        raise InputError(
            f"was written by another version: {places}; run `largeea align` again",
            folder / MANIFEST,
        ) from None
