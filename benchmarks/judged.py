"""Aligns two files and judges the answer; shared by `taxonomy.py` and `real_rdf.py`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import largeea
from largeea.evaluation import evaluate, known_links, protocols, without_known
from largeea.finished import FinishedRun
from largeea.formats.links import read_links, resolve
from largeea.graph import Links

COLUMNS = ("links", "entities", "Hits@1", "P", "R", "F1", "ECE", "P ends", "F1 ends", "ECE ends", "ECE none")
COUNTS = ("accepted", "doubtful", "seconds")
EXPLANATION = """\
P, R and F1 judge all accepted pairs: a pair that is not in the reference is wrong. "ends" judges only pairs
with an entity in the reference. ECE counts accepted and doubtful pairs; "none" judges the claim that an
entity has no counterpart, with 1 minus the confidence of its best pair."""


def align_and_judge(
    source: Path,
    target: Path,
    truth: Path,
    run: Path,
    *,
    seeds: Path | None = None,
    seeds_are_true: bool = True,
    without: Sequence[str] = (),
) -> tuple[dict[str, Any], FinishedRun]:
    """Align from scratch; the figures and the finished run.

    Seeds that are true links are left out of what is judged; other seeds are judged like every pair.
    """
    shutil.rmtree(run, ignore_errors=True)
    started = time.perf_counter()
    config = {"without": tuple(without)} if without else None
    largeea.align_files(source, target, run, seeds=seeds, config=config, formats=["tsv"])
    seconds = time.perf_counter() - started
    finished = FinishedRun(run)
    links = resolve(read_links(truth), finished.source, finished.target)
    seeds_given = finished.seeds if seeds_are_true else Links.none()
    known = known_links(finished.alignment, seeds_given)
    test = without_known(links, known)
    figures = {
        "links": len(test),
        "entities": [int(graph.linkable.sum()) for graph in (finished.source, finished.target)],
        "hits@1": protocols(finished.fused, test, known, finished.target.linkable)["open"]["hits@1"],
        **evaluate(finished.alignment, test, seeds_given),
        **finished.alignment.summary,
        "seconds": round(seconds, 1),
    }
    return figures, finished


def row(figures: dict[str, Any]) -> list[str]:
    """The figures as cells below `COLUMNS` and `COUNTS`."""
    every, ends = figures["alignment"], figures["linked_ends"]
    shares = [
        figures["hits@1"],
        *(every[name] for name in ("precision", "recall", "f1", "ece")),
        *(ends[name] for name in ("precision", "f1", "ece")),
        figures["no_counterpart"]["ece"],
    ]
    sizes = " / ".join(f"{size:,}" for size in figures["entities"])
    counts = [f"{figures[name]:,}" for name in ("accepted", "doubtful")]
    return [
        f"{figures['links']:,}",
        sizes,
        *(f"{share:.3f}" for share in shares),
        *counts,
        f"{figures['seconds']:.1f}",
    ]


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows as a Markdown table."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for line in (header, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + " |")
    print()
