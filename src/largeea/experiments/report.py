"""Carrying out an experiment and writing it down: table, CSV, JSON, plot, and a page of all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from largeea.errors import UsageError
from largeea.experiments.catalogue import CATALOGUE, Experiment
from largeea.experiments.cells import Cell, Store, write_json
from largeea.experiments.machine import in_words
from largeea.experiments.measure import Figures
from largeea.experiments.paper import PaperTable
from largeea.experiments.plots import draw, require
from largeea.experiments.scope import Scope
from largeea.experiments.tables import Row, comma_separated, markdown, plain_markdown, without_empty
from largeea.progress import note
from largeea.runs.files import atomic_write

FIGURES = "figures.json"
Report = dict[str, Any]
"""What `figures.json` holds: the table as rows, how to print it, and where and how it was measured."""


def carry_out(experiment: Experiment, scope: Scope, folder: Path, command: str) -> Report:
    """Measure what is not measured yet and write `folder/NAME/`; `command` is what the user typed.

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
    write_page(folder)
    return report


def write_page(folder: Path) -> Path:
    """The page of all experiments that have been carried out into this folder."""
    parts = [
        "# Results of experiments",
        "Each section names the command that made it; its folder has the raw figures.",
    ]
    done = []
    for experiment in CATALOGUE:
        path = folder / experiment.name / FIGURES
        if path.is_file():
            done.append(f"- [{experiment.title}](#{_anchor(experiment.title)})")
            report = json.loads(path.read_text("utf-8"))
            parts += [f"## {experiment.title}", *_body(experiment, report, f"{experiment.name}/")]
    parts.insert(2, "\n".join(done))
    _write_text(folder / "README.md", "\n\n".join(parts))
    return folder / "README.md"


def _write(experiment: Experiment, report: Report, folder: Path) -> None:
    for kind, picture in draw(experiment.panels(report["rows"])).items():
        with atomic_write(folder / f"plot.{kind}") as file:
            file.write(picture)
    with atomic_write(folder / "table.csv") as file:
        file.write(comma_separated(report["rows"]).encode())
    text = [f"# {experiment.title}", *_body(experiment, report, "")]
    if experiment.paper_table is not None:
        text += [*_paper(experiment.paper_table)]
    _write_text(folder / "README.md", "\n\n".join(text))
    write_json(folder / FIGURES, report)


def _body(experiment: Experiment, report: Report, place: str) -> list[str]:
    """Text, table and plot; `place` leads to the experiment's folder."""
    missing = [f"- {what}: {why}" for what, why in report["failures"].items()]
    files = {"all figures": FIGURES, "CSV": "table.csv", "plot as PNG": "plot.png"}
    if place:
        files = {"more": "README.md", **files}
    links = ", ".join(f"[{title}]({place}{name})" for title, name in files.items())
    return [
        experiment.about,
        markdown(report["rows"], report["forms"]),
        *(["Not measured:\n\n" + "\n".join(missing)] if missing else []),
        f"![{experiment.title}]({place}plot.svg)",
        f"{links}. Made by `{report['command']}`. {report['machine']}",
    ]


def _paper(table: PaperTable) -> list[str]:
    return [
        "## The paper's figures",
        f"{table.source[0].upper()}{table.source[1:]}.",
        plain_markdown(table.header, table.rows),
    ]


def _measured(store: Store, name: str, cells: Sequence[Cell], number: int) -> Figures:
    note(f"{name} {number + 1} of {len(cells)}: {_words(cells[number])}")
    return store.figures(cells[number])


def _words(cell: Cell) -> str:
    return ", ".join(str(value) for value in cell.labels.values())


def _row(experiment: Experiment, cell: Cell, figures: Figures) -> Row:
    measured = {column.title: column.of(figures) for column in experiment.columns}
    return {**cell.labels, **measured, **experiment.paper(cell)}


def _forms(experiment: Experiment, rows: Sequence[Row]) -> dict[str, str]:
    """How to print each column of figures; the paper's like ours."""
    own = {column.title: column.form for column in experiment.columns}
    numbers = {title for row in rows for title, value in row.items() if isinstance(value, int | float)}
    fallback = {title: ",.0f" if title.endswith("(s)") else ".3f" for title in numbers if "paper" in title}
    labels = dict.fromkeys(numbers, "")
    return {title: (labels | fallback | own)[title] for title in rows[0] if title in numbers}


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode() + b"\n")
