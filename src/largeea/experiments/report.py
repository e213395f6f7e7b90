"""Runs an experiment and writes its table, CSV, JSON, plot and pages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from largeea.errors import UsageError
from largeea.experiments.catalogue import Experiment
from largeea.experiments.cells import Cell, Store, write_json
from largeea.experiments.columns import SHARE
from largeea.experiments.machine import in_words
from largeea.experiments.measure import Figures
from largeea.experiments.pages import FIGURES, Report, write_pages
from largeea.experiments.plots import draw, require
from largeea.experiments.scope import Scope
from largeea.experiments.tables import Row, comma_separated, without_empty
from largeea.progress import note
from largeea.runs.files import atomic_write


def carry_out(experiment: Experiment, scope: Scope, folder: Path, command: str) -> Report:
    """Measure the missing cells and write `folder/NAME/`; `command` is what the user typed.

    Example: `carry_out(EXPERIMENTS["ablation"], make_scope(quick=True), Path("results"), "...")`.
    """
    require()
    cells = list(experiment.cells(scope))
    with Store(folder) as store:
        results = [_measured(store, experiment.name, cells, number) for number in range(len(cells))]
        store.clear_work()
    failures = {
        _words(cell): str(found["error"])
        for cell, found in zip(cells, results, strict=True)
        if "error" in found
    }
    if len(failures) == len(cells):
        raise UsageError(f"no cell of {experiment.name} could be measured: {next(iter(failures.values()))}")
    rows = without_empty([_row(experiment, cell, found) for cell, found in zip(cells, results, strict=True)])
    report: Report = {
        "experiment": experiment.name,
        "command": command,
        "machine": in_words([found["machine"] for found in results if "machine" in found]),
        "settings": list(scope.settings),
        "rows": rows,
        "forms": _forms(experiment, rows),
        "failures": failures,
        "cells": [cell.key for cell in cells],
    }
    _write(experiment, report, folder / experiment.name)
    write_pages(folder)
    return report


def _write(experiment: Experiment, report: Report, folder: Path) -> None:
    for kind, picture in draw(experiment.panels(report["rows"])).items():
        with atomic_write(folder / f"plot.{kind}") as file:
            file.write(picture)
    with atomic_write(folder / "table.csv") as file:
        file.write(comma_separated(report["rows"]).encode())
    write_json(folder / FIGURES, report)


def _measured(store: Store, name: str, cells: Sequence[Cell], number: int) -> Figures:
    note(f"{name} {number + 1} of {len(cells)}: {_words(cells[number])}")
    return store.figures(cells[number])


def _words(cell: Cell) -> str:
    return ", ".join(str(value) for value in (*cell.labels.values(), f"{_percent(cell.train):g} % seeds"))


def _row(experiment: Experiment, cell: Cell, figures: Figures) -> Row:
    measured = {column.title: column.of(figures) for column in experiment.columns}
    return {**cell.labels, SHARE: _percent(cell.train), **measured, **experiment.paper(cell)}


def _percent(share: float) -> float:
    return round(100 * share, 4)


def _forms(experiment: Experiment, rows: Sequence[Row]) -> dict[str, str]:
    """Format of each column of figures; the paper's columns have the format of ours."""
    own = {SHARE: "g"} | {column.title: column.form for column in experiment.columns}
    numbers = {title for row in rows for title, value in row.items() if isinstance(value, int | float)}
    fallback = {title: ",.0f" if title.endswith("(s)") else ".3f" for title in numbers if "paper" in title}
    labels = dict.fromkeys(numbers, "")
    return {title: (labels | fallback | own)[title] for title in rows[0] if title in numbers}
