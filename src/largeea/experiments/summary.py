"""All folders of results on one page: a table for each experiment, with the rows of every folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from largeea.errors import InputError
from largeea.experiments.catalogue import CATALOGUE, Experiment
from largeea.experiments.pages import FIGURES, PAGE, Report, anchor, origin, write_pages, write_text
from largeea.experiments.tables import Row, markdown, without_empty

QUICK = "quick"
"""The folder of `largeea experiment all --quick`, which is only linked: its data is too small."""

INTRODUCTION = """\
Written by `make results` from the folders that `largeea experiment` has left beside it: do not edit. How to
measure more: [experiments](experiments.md). Speed, scale and single findings: [benchmarks](benchmarks.md).

- *Protocols.* Hits and MRR are those of the paper's protocol, which ranks test sources against test targets
  only; the *open* one ranks them against all targets that are not seeds. A tie takes the mean of the best and
  the worst rank, so it is no hit; a true target that was not kept is a miss. Columns that start with *paper*
  have what the paper reports.
- *Seeds (%)* is the share of the links that was given; the others are the test links.
- *Development sets.* Defaults were chosen on the benchmark folders and the demo, one default for all.
- *Machines.* "2 cores" is a virtual machine with 2 CPU cores and 24 GB of memory, no GPU. Times are noisy.
- *A dash* stands for what the paper does not have, for a decision nobody has to make ("unmatched" where every
  entity has a counterpart), or for what could not be measured; then the folder's page says why.
- *Plots* are on the folders' pages."""


def write_summary(folders: Path) -> Path:
    """Regenerate the pages of all folders and, beside them, the page of all results: `docs/results.md`.

    Example: `write_summary(Path("docs/results"))`.
    """
    if not folders.is_dir():
        raise InputError(
            "is not a folder; it should hold those that `largeea experiment -o` has written", folders
        )
    measured = sorted({path.parents[1] for path in folders.glob(f"*/*/{FIGURES}")})
    found = {folder.name: write_pages(folder) for folder in measured}
    page = folders.parent / f"{folders.name}.md"
    write_text(page, ["# Results", INTRODUCTION, *_sections(found, folders.name)])
    return page


def _sections(found: Mapping[str, Mapping[str, Report]], place: str) -> list[str]:
    """Content of the page below the introduction; `place` is the link prefix of the folders."""
    parts = []
    for experiment in CATALOGUE:
        reports = {
            name: done[experiment.name]
            for name, done in found.items()
            if name != QUICK and experiment.name in done
        }
        if reports:
            sources = [
                f"- [{name}]({place}/{name}/{PAGE}#{anchor(experiment)}): {origin(report)}"
                for name, report in reports.items()
            ]
            table = markdown(*together(experiment, reports))
            parts += [f"## {experiment.title}", experiment.about, table, "\n".join(sources)]
    if QUICK in found:
        parts += ["## All experiments in a few minutes", _QUICKLY.format(page=f"{place}/{QUICK}/{PAGE}")]
    return parts


_QUICKLY = """\
`largeea experiment all --quick` goes through all of them with few epochs on the demo and a synthetic twin:
[tables and plots]({page}). They show that everything works, not how well."""


def together(experiment: Experiment, reports: Mapping[str, Report]) -> tuple[list[Row], dict[str, str]]:
    """The rows of an experiment from several folders, with the same columns, and the columns' formats.

    Labels come first, then figures in the order of the catalogue, then the paper's. If there are several
    folders, each row names its folder; if a folder has settings of its own, its rows state them.
    """
    rows: list[Row] = [
        {
            "folder": name if len(reports) > 1 else None,
            **row,
            "settings": ", ".join(report["settings"]) or None,
        }
        for name, report in reports.items()
        for row in report["rows"]
    ]
    own = [column.title for column in experiment.columns]

    def place(title: str) -> int:
        return own.index(title) if title in own else len(own) if title.startswith("paper") else -1

    titles = sorted(dict.fromkeys(title for row in rows for title in row), key=place)
    forms = {title: form for report in reports.values() for title, form in report["forms"].items()}
    return without_empty([{title: row.get(title) for title in titles} for row in rows]), forms
