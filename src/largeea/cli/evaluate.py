"""`largeea evaluate`: measure the accuracy of a finished run, given the true links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.evaluate import evaluate, protocols
from largeea.finished import FinishedRun
from largeea.formats.links import read_links, resolve
from largeea.graph import Links

EXAMPLES = """
**Examples**

`largeea evaluate run --links true_links.tsv`

`largeea evaluate run --links true_links.tsv --json`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    links: Annotated[Path, typer.Option(help="The true links: TSV, SSSOM, owl:sameAs or Alignment XML.")],
    json: options.Json = False,
) -> None:
    """Measure the accuracy of a finished run against the true links."""
    finished = FinishedRun(run)
    truth = resolve(read_links(links), finished.source, finished.target)
    test = without_seeds(truth, finished.seeds)
    figures = {
        "links": len(truth),
        "seeds": len(finished.seeds),
        "protocols": protocols(finished.fused, test, finished.seeds),
        **evaluate(finished.alignment, test, finished.seeds),
    }
    screen.json(figures) if json else show_figures(f"{run} against {len(test):,} links", figures)


def without_seeds(links: Links, seeds: Links) -> Links:
    """Return the links that are not seeds."""
    return links.take(~np.isin(_keys(links), _keys(seeds)))


def _keys(links: Links) -> npt.NDArray[np.int64]:
    return links.source.astype(np.int64) << 32 | links.target


def show_figures(title: str, figures: dict[str, Any]) -> None:
    """Print ranking and alignment figures as tables."""
    ranking = figures["protocols"]
    header = ("protocol", *next(iter(ranking.values())))
    rows = [(name, *(f"{value:.3f}" for value in values.values())) for name, values in ranking.items()]
    screen.table(title, rows, header)
    rows = [
        (name, *(f"{value:.3f}" for value in figures[key].values()))
        for key, name in (("alignment", "accepted pairs"), ("no_counterpart", "no counterpart"))
    ]
    screen.table("Answer", rows, ("", "precision", "recall", "F1", "ECE"))
