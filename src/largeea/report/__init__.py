"""The report of a run: one HTML file that needs nothing else, and a comparison of two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from largeea.report import background, examples, sections
from largeea.report.comparison import compare_runs
from largeea.report.page import page, section
from largeea.report.sections import Reliability
from largeea.report.stored import StoredRun
from largeea.runs.files import atomic_write
from largeea.runs.manifest import check_output

__all__ = ["COMPARISON", "REPORT", "Reliability", "render", "write_comparison", "write_report"]

REPORT, COMPARISON = "report.html", "comparison.html"


def render(folder: Path, reliability: Reliability | None = None, *, trusted: bool = False) -> str:
    """Return the report of the finished run in a folder as HTML.

    `reliability` are bins of confidence with the share that is right, for runs whose true links are known.
    With `trusted`, stored results are not checked against their hashes.
    """
    run = StoredRun(folder, trusted)
    body = (
        sections.summary(run),
        sections.confidence(run, reliability),
        sections.evidence(run),
        sections.rounds(run),
        background.graphs(run),
        background.batches(run),
        background.costs(run),
        _examples(run),
        sections.unmatched(run),
        background.settings(run),
    )
    named = "request" in run.manifest and run.names_of_graphs[0] not in ("the source graph", "the graph")
    title = " and ".join(run.graphs) if named else folder.resolve().name
    return page(title, "Duplicates" if run.is_within else "Entity alignment", "".join(body))


def write_report(
    folder: Path,
    reliability: Reliability | None = None,
    output: Path | None = None,
    *,
    trusted: bool = False,
) -> Path:
    """Write the report of a run and return its path: `output`, or `report.html` in the folder.

    See `render` for the other arguments.
    """
    if output is not None:
        check_output(folder, output)
    return _write(output or folder / REPORT, render(folder, reliability, trusted=trusted))


def write_comparison(folder: Path, other: Path, output: Path | None = None) -> tuple[Path, dict[str, Any]]:
    """Write what changed from the run in `folder` to the run in `other`; return path and figures.

    Without `output`, the page is `comparison.html` in `folder`.
    """
    for run in (folder, other):
        if output is not None:
            check_output(run, output)
    html, figures = compare_runs(StoredRun(folder), StoredRun(other))
    return _write(output or folder / COMPARISON, html), figures


def _write(path: Path, text: str) -> Path:
    with atomic_write(path) as file:
        file.write(text.encode("utf-8", "replace"))
    return path


def _examples(run: StoredRun) -> str:
    return section(
        "Examples",
        examples.cards(
            run,
            "sure pairs",
            "Accepted, spread over the more confident half.",
            examples.sure_sources(run),
        ),
        examples.cards(
            run,
            "doubtful pairs",
            "The best that was found, below the threshold: for a person to check.",
            examples.doubtful_sources(run),
        ),
        examples.cards(
            run,
            "rejected pairs",
            "The best candidate of entities without counterpart; those that come nearest.",
            examples.rejected_sources(run),
        ),
        identifier="examples",
    )
