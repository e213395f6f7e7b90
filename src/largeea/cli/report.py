"""`largeea report`: write the report of a finished run, or the comparison of two."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.evaluation import evaluate, known_links, without_known
from largeea.finished import FinishedRun
from largeea.formats.links import read_links, resolve
from largeea.report import Reliability, write_comparison, write_report

EXAMPLES = """
**Examples**

`largeea report run`

`largeea report run --links true_links.tsv`

`largeea report run other_run -o comparison.html`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    other: Annotated[
        Path | None, typer.Argument(help="Another run on the same graphs, to compare with.")
    ] = None,
    links: Annotated[
        Path | None, typer.Option(help="True links, to show how well confidence is calibrated.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write; default: report.html or comparison.html in RUN."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Write the report of a finished run as one HTML file, or what changed between two runs."""
    if other is not None and links is not None:
        raise UsageError("--links belongs to the report of one run; leave it out to compare two runs")
    if other is None:
        path = write_report(run, None if links is None else reliability(run, links), output)
        figures: dict[str, Any] = {}
    else:
        path, figures = write_comparison(run, other, output)
    if json:
        screen.json({"report": str(path), **figures})
        return
    screen.result(str(path))


def reliability(run: Path, links: Path) -> Reliability:
    """Return how many pairs are right by bins of confidence, of pairs with an entity in a known link."""
    finished = FinishedRun(run)
    truth = resolve(read_links(links), finished.source, finished.target)
    test = without_known(truth, known_links(finished.alignment, finished.seeds))
    bins: Reliability = evaluate(finished.alignment, test, finished.seeds)["reliability"]["linked_ends"]
    return bins
