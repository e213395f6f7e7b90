"""Options that several commands share, and what they mean together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from largeea import config as configuration
from largeea.config import Config, Part
from largeea.errors import UsageError
from largeea.formats import ReadOptions
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES, Naming
from largeea.formats.tables import Columns

Preset = Annotated[str, typer.Option(help="Method to start from.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="One setting, key=value; repeatable.")]
Seed = Annotated[int | None, typer.Option(help="Root of all randomness.", min=0)]
Without = Annotated[
    list[str] | None, typer.Option(help="Switch a part off (" + ", ".join(get_args(Part)) + "); repeatable.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
MaxErrors = Annotated[
    int, typer.Option(help="Malformed lines to leave out (listed in rejects.tsv) before giving up.", min=0)
]
Format = Annotated[str | None, typer.Option(help="Format of graph files whose name does not tell.")]
ColumnMap = Annotated[
    str | None, typer.Option("--columns", help="Table columns: subject=id,object=parent,name=label")
]
Labels = Annotated[
    list[str] | None, typer.Option("--label", help="Predicate that gives names, best first; repeatable.")
]
Languages = Annotated[
    list[str] | None, typer.Option("--language", help="Preferred language of names, best first; repeatable.")
]
PairLanguage = Annotated[
    str | None, typer.Option(help="Which language of a folder with several (DBP1M).", metavar="CODE")
]


def make_config(
    preset: str,
    file: Path | None,
    settings: list[str] | None,
    seed: int | None,
    without: list[str] | None = None,
) -> Config:
    """The configuration that the options ask for."""
    parts = get_args(Part)
    for part in without or ():
        if part not in parts:
            raise UsageError(f"--without {part}: unknown part; known: {', '.join(parts)}")
    return configuration.load(
        preset, file, tuple(settings or ()), seed=seed, without=tuple(without) if without else None
    )


def also_named_by(labels: list[str] | None, config: Config) -> Config:
    """Where the names are that the user points to, there may be other names of an entity too."""
    if not labels or config.names.alias_predicates:
        return config
    names = config.names.model_copy(update={"alias_predicates": (*labels, *ALIAS_PREDICATES)})
    return config.model_copy(update={"names": names})


def make_read_options(
    format: str | None,
    columns: str | None,
    labels: list[str] | None,
    languages: list[str] | None,
    max_errors: int,
    pair_language: str | None = None,
) -> ReadOptions:
    """How to read, as the options ask for it."""
    naming = Naming(tuple(labels or LABEL_PREDICATES), tuple(languages or ()))
    parsed = None if columns is None else Columns.parse(columns)
    return ReadOptions(format, parsed, naming, max_errors, pair_language)
