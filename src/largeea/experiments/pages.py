"""Pages of a results folder: one for each experiment, and one for all of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from largeea.errors import InputError
from largeea.experiments.catalogue import CATALOGUE, EXPERIMENTS, Experiment
from largeea.experiments.paper import PaperTable
from largeea.experiments.tables import markdown, plain_markdown
from largeea.runs.files import atomic_write

FIGURES, PAGE = "figures.json", "README.md"
Report = dict[str, Any]
"""Content of `figures.json`: the rows of the table, their formats, and where and how they were measured."""
_NEEDED = {"command", "machine", "settings", "rows", "forms", "failures"}


def read_reports(folder: Path) -> dict[str, Report]:
    """The reports of all experiments in a folder, in the order of the catalogue."""
    paths = {experiment.name: folder / experiment.name / FIGURES for experiment in CATALOGUE}
    return {name: _read(path) for name, path in paths.items() if path.is_file()}


def write_pages(folder: Path) -> dict[str, Report]:
    """Write the page of each experiment in the folder and the page of all; returns the reports."""
    reports = read_reports(folder)
    contents, sections = [], []
    for name, report in reports.items():
        experiment = EXPERIMENTS[name]
        paper = _paper(experiment.paper_table) if experiment.paper_table else []
        write_text(folder / name / PAGE, [f"# {experiment.title}", *_body(experiment, report), *paper])
        contents.append(f"- [{experiment.title}](#{anchor(experiment)})")
        sections += [f"## {experiment.title}", *_body(experiment, report, f"{name}/")]
    about = "Each section names the command that made it; its folder has the raw figures."
    write_text(folder / PAGE, ["# Results of experiments", about, "\n".join(contents), *sections])
    return reports


def origin(report: Report) -> str:
    """The command, machine and commit that produced the figures."""
    return f"`{report['command']}`. {report['machine']}"


def anchor(experiment: Experiment) -> str:
    """The anchor of an experiment on the page of a folder."""
    return experiment.title.lower().replace(" ", "-")


def write_text(path: Path, parts: list[str]) -> None:
    """Write paragraphs to a file."""
    with atomic_write(path) as file:
        file.write("\n\n".join(parts).encode() + b"\n")


def _read(path: Path) -> Report:
    try:
        report = json.loads(path.read_bytes())
    except ValueError as error:
        raise _unreadable(path, f"is not JSON ({error})") from error
    missing = _NEEDED - set(report if isinstance(report, dict) else ())
    if missing:
        raise _unreadable(path, f"has no figures of an experiment: it lacks {', '.join(sorted(missing))}")
    if not report["rows"]:
        raise _unreadable(path, "has no rows")
    return dict(report)


def _unreadable(path: Path, why: str) -> InputError:
    return InputError(f"{why}; carry out `largeea experiment {path.parent.name}` again, or delete it", path)


def _body(experiment: Experiment, report: Report, place: str = "") -> list[str]:
    """Text, table and plot; `place` is the link prefix of the experiment's folder."""
    missing = [f"- {what}: {why}" for what, why in report["failures"].items()]
    files = {"all figures": FIGURES, "CSV": "table.csv"}
    if place:
        files = {"more": PAGE, **files}
    links = ", ".join(f"[{title}]({place}{name})" for title, name in files.items())
    return [
        experiment.about,
        markdown(report["rows"], report["forms"]),
        *(["Not measured:\n\n" + "\n".join(missing)] if missing else []),
        f"![{experiment.title}]({place}plot.svg)",
        f"{links}. Made by {origin(report)}",
    ]


def _paper(table: PaperTable) -> list[str]:
    return [
        "## The paper's figures",
        f"{table.source[0].upper()}{table.source[1:]}.",
        plain_markdown(table.header, table.rows),
    ]
