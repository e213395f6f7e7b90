"""`largeea experiment`: reproduce the paper's experiments, each with a table and a plot."""

from __future__ import annotations

import shlex
import shutil
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.experiments.catalogue import EXPERIMENTS
from largeea.experiments.pages import PAGE, Report
from largeea.experiments.report import carry_out
from largeea.experiments.scope import make_scope
from largeea.experiments.tables import printed

ALL = "all"
SEVERAL_VALUES = ("--data",)
_BORDER = 3
"""Characters between two columns of a table on the terminal."""
EXAMPLES = """
**Examples**

`largeea experiment all --quick`

`largeea experiment ablation --data ids15k_en_de_v1 dbp15k_fr_en -o results`

`largeea experiment seeds --data ids15k_en_de_v1 --set structure.epochs=50`
"""


def command(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help=f"{', '.join(EXPERIMENTS)}, or {ALL}.")],
    data: Annotated[
        list[Path] | None, typer.Option(help="Pair folders; default: the demo and a synthetic pair.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Few values, few epochs and n-gram names: takes minutes.")
    ] = False,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Results folder; an earlier run in it is resumed.")
    ] = Path("results"),
    preset: Annotated[
        list[str] | None, typer.Option(help="Run this method only, instead of all; repeatable.")
    ] = None,
    train: options.Train = 0.2,
    set: options.Settings = None,
    seed: Annotated[int, typer.Option(help="Random seed, also of the splits.", min=0)] = 0,
    pair_language: options.PairLanguage = None,
    json: options.Json = False,
) -> None:
    """Run an experiment of the paper, or all of them.

    Every measurement is stored at once: after an interruption, the same command resumes and repeats none.
    Each experiment has a folder with its table, CSV, JSON and plot; README.md in OUTPUT shows all of them.
    """
    if name not in (*EXPERIMENTS, ALL):
        raise UsageError(f"unknown experiment {name!r}; there are: {', '.join(EXPERIMENTS)}, {ALL}")
    scope = make_scope(data or (), quick, set or (), seed, pair_language, preset or (), train)
    chosen = EXPERIMENTS.values() if name == ALL else (EXPERIMENTS[name],)
    reports = {}
    for experiment in chosen:
        again = command_line(experiment.name, context.params)
        reports[experiment.name] = carry_out(experiment, scope, output, again)
    if json:
        screen.json(reports)
        return
    for experiment in chosen:
        _show(experiment.title, reports[experiment.name])
    screen.result(f"Tables and plots: {output / 'README.md'}")


def _show(title: str, report: Report) -> None:
    """Print as many columns as fit the terminal; the most informative come first."""
    rows = [[printed(row[name], report["forms"].get(name, "")) for name in row] for row in report["rows"]]
    columns = list(zip(report["rows"][0], *rows, strict=True))
    ends = accumulate(max(map(len, column)) + _BORDER for column in columns)
    shown = max(1, sum(end < shutil.get_terminal_size().columns for end in ends))
    header, *lines = zip(*columns[:shown], strict=True)
    left_out = f" ({len(columns) - shown} more columns in {PAGE})" if shown < len(columns) else ""
    screen.table(title + left_out, lines, header)


def command_line(name: str, given: dict[str, Any]) -> str:
    """Return the command that repeats the measurement, with folder names instead of paths."""
    words = ["largeea", "experiment", name]
    if given["data"]:
        words += ["--data", *(Path(folder).resolve().name for folder in given["data"])]
    words += ["--quick"] if given["quick"] else []
    for option in ("preset", "set"):
        for value in given[option] or ():
            words += [f"--{option}", value]
    for option, usual in (("train", 0.2), ("seed", 0), ("pair_language", None)):
        if given[option] != usual:
            words += [f"--{option.replace('_', '-')}", str(given[option])]
    return shlex.join(words)
