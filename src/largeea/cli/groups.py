"""Groups of options that several commands take, and the object that each group describes.

A command names a group as one parameter: `limits: Limits`; see `with_groups`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from largeea import config as configuration
from largeea.cli import options
from largeea.cli.grouping import Group
from largeea.config import Config, Part
from largeea.errors import UsageError
from largeea.execution import Execution
from largeea.formats import ReadOptions, read
from largeea.formats.links import checked_predicate, day_of, license_iri
from largeea.formats.naming import LABEL_PREDICATES, Naming
from largeea.formats.scope import Match, Scope
from largeea.formats.tables import Columns
from largeea.graph import Pair
from largeea.progress import step
from largeea.runs.request import Request

PREFERENCES = {"precision": 0.9, "balanced": 0.0, "recall": 0.2}
"""What a user may prefer, as a threshold; 0 means that the highest expected F1 decides."""
MatchRoles = Annotated[
    str,
    typer.Option(
        "--match",
        help="What to match: auto (what the graphs are about), " + ", ".join(get_args(Match)[1:]) + ".",
    ),
]


@dataclass(frozen=True)
class Graphs(Group):
    """The two graphs of an alignment."""

    source: Annotated[Path, typer.Argument(help="Source graph: a file, folder or pattern; or a pair folder.")]
    target: Annotated[
        Path | None, typer.Argument(help="Target graph; omit it if SOURCE is a pair folder.")
    ] = None


@dataclass(frozen=True)
class Method(Group):
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
        parts = get_args(Part)
        for part in self.without or ():
            if part not in parts:
                raise UsageError(f"--without {part}: unknown part; known: {', '.join(parts)}")
        return configuration.load(
            self.preset,
            self.config,
            tuple(self.set or ()),
            seed=self.seed,
            without=tuple(self.without) if self.without else None,
            decision=_given(threshold=self._least_confidence(), cardinality=cardinality),
            names=_given(encoder=self.encoder, lexicon=self.lexicon and str(self.lexicon.absolute())),
        )

    def _least_confidence(self) -> float | None:
        if self.prefer is None:
            return self.threshold
        if self.prefer not in PREFERENCES:
            raise UsageError(f"--prefer {self.prefer}: unknown; choose one of {', '.join(PREFERENCES)}")
        if self.threshold is not None:
            raise UsageError("--prefer sets the threshold, so give --prefer or --threshold, not both")
        return PREFERENCES[self.prefer]


def _given(**settings: Any) -> dict[str, Any]:
    return {setting: value for setting, value in settings.items() if value is not None}


@dataclass(frozen=True)
class AboutLinks(Group):
    """What link files say about the links."""

    predicate: options.Predicate = None
    license: options.License = None
    date: options.Date = None
    with_doubtful: options.WithDoubtful = False

    def changed(self, request: Request) -> Request:
        """Return the request with what is given; the rest stays."""
        if self.predicate is not None:
            request = replace(request, predicate=checked_predicate(self.predicate))
        if self.license is not None:
            request = replace(request, license=license_iri(self.license))
        if self.date is not None:
            request = replace(request, date=day_of(self.date))
        return replace(request, with_doubtful=True) if self.with_doubtful else request


@dataclass(frozen=True)
class Reading(Group):
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
class Scoping(Group):
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
class Benchmark(Group):
    """A pair folder, and how its links are divided into seeds and test links."""

    folder: Annotated[Path, typer.Argument(help="Pair folder: OpenEA, DBP15K or DBP1M layout.")]
    train: options.Train = 0.2
    fold: options.Fold = None
    seed: Annotated[int, typer.Option(help="Random seed, also of the split.", min=0)] = 0
    reverse: options.Reverse = False
    pair_language: options.PairLanguage = None

    @property
    def name(self) -> str:
        """The name of the folder, which is that of the benchmark."""
        return self.folder.resolve().name

    def read(self) -> Pair:
        """Read the folder; nothing in it may be malformed."""
        with step("read"):
            pair = read(self.folder, ReadOptions(max_errors=0, pair_language=self.pair_language))
        if not isinstance(pair, Pair):
            raise UsageError(
                f"{self.folder} is a single graph; give a folder with two graphs and their links"
            )
        return pair.reversed() if self.reverse else pair


@dataclass(frozen=True)
class Limits(Group):
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
