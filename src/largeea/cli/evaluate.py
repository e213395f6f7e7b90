"""`largeea evaluate`: measure the accuracy of a finished run, given the true links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.evaluation import (
    evaluate,
    known_links,
    protocols,
    ranked_links,
    true_pairs,
    without_known,
)
from largeea.finished import FinishedRun
from largeea.formats.links import read_links, resolve

EXAMPLES = """
**Examples**

`largeea evaluate run --links true_links.tsv`

`largeea evaluate run --links true_links.tsv --reliability`

`largeea evaluate run --links true_links.tsv --json`
"""

JUDGED = {
    "alignment": "all pairs",
    "linked_ends": "linked ends",
    "no_counterpart": "no counterpart",
}
MEANING = (
    "all pairs: a pair that is not among the links is wrong. Use it where the links are complete.",
    "linked ends: only pairs with an entity in a link are judged. Use it where the links cover only "
    "a part of the graphs.",
    "no counterpart: entities in no accepted pair. They are right if they are in no link.",
    "Precision, recall and F1 are those of accepted pairs. ECE is the expected calibration error: the gap "
    "between confidence and the share of right pairs, doubtful pairs included.",
)


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    links: Annotated[Path, typer.Option(help="The true links: TSV, SSSOM, owl:sameAs or Alignment XML.")],
    reliability: Annotated[
        bool, typer.Option("--reliability", help="Show the share of right pairs by bins of confidence.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Measure the accuracy of a finished run against the true links."""
    finished = FinishedRun(run)
    truth = resolve(read_links(links), finished.source, finished.target)
    alignment = finished.alignment
    known = known_links(alignment, finished.seeds)
    test = without_known(true_pairs(alignment, truth), known)
    figures = {
        "links": len(truth),
        "seeds": len(finished.seeds),
        "same_iri": len(alignment.same),
        "protocols": protocols(
            finished.fused, ranked_links(alignment, test), known, finished.target.linkable
        ),
        **evaluate(alignment, test, finished.seeds),
    }
    if json:
        screen.json(figures)
        return
    show_figures(f"{run} against {len(test):,} links", figures)
    if reliability:
        show_reliability(figures["reliability"])


def show_figures(title: str, figures: dict[str, Any]) -> None:
    """Print ranking and alignment figures as tables."""
    ranking = figures["protocols"]
    header = ("protocol", *next(iter(ranking.values())))
    rows = [(name, *(f"{value:.3f}" for value in values.values())) for name, values in ranking.items()]
    screen.table(title, rows, header)
    rows = [(name, *(f"{value:.3f}" for value in figures[key].values())) for key, name in JUDGED.items()]
    screen.table("Answer", rows, ("", "precision", "recall", "F1", "ECE"))
    if clusters := figures.get("clusters"):
        rows = [
            (name.replace("_", "-"), *(f"{value:.3f}" for value in shares.values()))
            for name, shares in clusters.items()
        ]
        screen.table("Clusters", rows, ("", "precision", "recall", "F1"))
    for line in MEANING:
        screen.result(line)


def show_reliability(bins: dict[str, list[dict[str, float]]]) -> None:
    """Print mean confidence and share right by bins of confidence; `bins` is that of `evaluate`."""
    rows: list[tuple[str, ...]] = [
        (
            f"{name}, {row['from']:.1f} - {row['to']:.1f}",
            f"{row['count']:,}",
            f"{row['confidence']:.3f}",
            f"{row['right']:.3f}",
        )
        for key, name in JUDGED.items()
        for row in bins[key]
    ]
    screen.table("Reliability", rows, ("judged, confidence", "number", "mean confidence", "share right"))
