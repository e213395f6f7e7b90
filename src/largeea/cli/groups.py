"""Groups of options that several commands take, and the object that each group describes.

A command names a group as one parameter: `limits: Limits`. `with_groups` spells it out for typer.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_type_hints

import typer

from largeea.cli import options
from largeea.config import Config
from largeea.errors import UsageError
from largeea.execution import Execution
from largeea.formats import ReadOptions
from largeea.formats.naming import LABEL_PREDICATES, Naming
from largeea.formats.scope import Match, Scope
from largeea.formats.tables import Columns

MatchRoles = Annotated[
    str,
    typer.Option(
        "--match",
        help="What to match: auto (what the graphs are about), " + ", ".join(get_args(Match)[1:]) + ".",
    ),
]


@dataclass(frozen=True)
class Graphs:
    """The two graphs of an alignment."""

    source: Annotated[Path, typer.Argument(help="Source graph: a file, folder or pattern; or a pair folder.")]
    target: Annotated[
        Path | None, typer.Argument(help="Target graph; omit it if SOURCE is a pair folder.")
    ] = None


@dataclass(frozen=True)
class Method:
    """The settings of the method."""

    preset: options.Preset = "default"
    config: options.ConfigFile = None
    set: options.Settings = None
    seed: options.Seed = None
    without: options.Without = None
    threshold: options.Threshold = None
    prefer: options.Prefer = None
    encoder: options.Encoder = None
    lexicon: options.Lexicon = None

    def make(self, cardinality: str | None = None) -> Config:
        """Return the configuration."""
        chosen = self.preset, self.config, self.set, self.seed, self.without, self.threshold, self.prefer
        return options.make_config(*chosen, self.encoder, self.lexicon, cardinality)


@dataclass(frozen=True)
class Reading:
    """How a graph is read, and which of its entities are matched."""

    format: options.Format = None
    columns: options.ColumnMap = None
    sheet: options.Sheet = None
    label: options.Labels = None
    language: options.Languages = None
    pair_language: options.PairLanguage = None
    match: MatchRoles = "auto"
    max_errors: options.MaxErrors = None

    def make(self) -> ReadOptions:
        """Return the reading options."""
        if self.match not in (roles := get_args(Match)):
            raise UsageError(f"--match {self.match}: allowed are {', '.join(roles)}")
        return ReadOptions(
            self.format,
            _columns(self.columns),
            Naming(tuple(self.label or LABEL_PREDICATES), tuple(self.language or ())),
            self.max_errors,
            self.pair_language,
            cast(Match, self.match),
            sheet=self.sheet,
        )


@dataclass(frozen=True)
class ReadingBoth(Reading):
    """How two graphs are read, and which of their entities are matched."""

    same_iri: options.SameIri = "on"
    source_columns: options.SourceColumns = None
    target_columns: options.TargetColumns = None

    def make(self) -> ReadOptions:
        """Return the reading options."""
        if self.same_iri not in ("on", "off"):
            raise UsageError(f"--same-iri {self.same_iri}: allowed are on, off")
        return replace(
            super().make(),
            same_iri=self.same_iri == "on",
            source_columns=_columns(self.source_columns),
            target_columns=_columns(self.target_columns),
        )


@dataclass(frozen=True)
class Scoping:
    """Which entities and pairs may be in the answer."""

    source_types: options.Types = None
    target_types: options.Types = None
    source_select: options.Select = None
    target_select: options.Select = None
    leave_out: options.LeaveOut = None
    compatible_types: options.CompatibleTypes = None
    block_by: options.BlockBy = None

    def make(self) -> Scope:
        """Return the scope."""
        return Scope(
            _split(self.source_types),
            _split(self.target_types),
            self.source_select,
            self.target_select,
            self.leave_out,
            self.compatible_types,
            tuple(self.block_by or ()),
        )


def _split(given: list[str] | None) -> tuple[str, ...]:
    return tuple(part.strip() for text in given or () for part in text.split(",") if part.strip())


def _columns(given: str | None) -> Columns | None:
    return None if given is None else Columns.parse(given)


@dataclass(frozen=True)
class Limits:
    """Where to compute, and within which limits."""

    memory: options.Memory = None
    gpu_memory: options.GpuMemory = None
    threads: options.Threads = None
    device: options.Device = "auto"
    engine: options.Engine = "local"
    address: options.Address = None

    def make(self) -> Execution:
        """Return the execution settings."""
        return Execution(**vars(self))


GROUPS = (Graphs, Method, Reading, ReadingBoth, Scoping, Limits)


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose signature has the options of each group in place of the group."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if kind in GROUPS}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        own = [parameter.replace(annotation=hints[name])]
        parameters += parameters_of(groups[name]) if name in groups else own

    @wraps(command)
    def spelt_out(**given: Any) -> None:
        filled = {
            name: kind(**{field.name: given.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**filled, **given)

    spelt_out.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    spelt_out.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    return spelt_out


def parameters_of(group: type[Any]) -> list[inspect.Parameter]:
    """Return the parameters of a group, with the annotations that typer reads."""
    hints = get_type_hints(group, include_extras=True)
    return [
        parameter.replace(annotation=hints[name])
        for name, parameter in inspect.signature(group).parameters.items()
    ]
