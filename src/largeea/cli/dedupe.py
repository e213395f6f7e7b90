"""`largeea dedupe`: find duplicates within one graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from largeea.api import AlignedFiles
from largeea.cli import options
from largeea.cli.grouping import with_groups
from largeea.cli.groups import Limits, Method, Reading
from largeea.cli.screen import screen
from largeea.deduplication import dedupe_files

EXAMPLES = """
**Examples**

`largeea dedupe customers.csv -o run`

`largeea dedupe people.parquet --columns subject=id,name=name,attributes=born+street+city -o run`

`largeea dedupe dump.nt.gz --match individuals --prefer precision -o run`
"""
SHOWN = 5
"""Clusters that are printed."""


@with_groups
def command(
    graph: Annotated[Path, typer.Argument(help="The graph: a file, folder or pattern.")],
    *,
    output: options.RunFolder,
    seeds: Annotated[
        list[Path] | None,
        typer.Option("--links", "--seeds", help="Link file of known duplicates. Repeatable."),
    ] = None,
    forbidden: Annotated[
        list[Path] | None,
        typer.Option("--not-links", help="Link file of pairs that are not duplicates. Repeatable."),
    ] = None,
    method: Method,
    write: options.LinkFormats = None,
    reading: Reading,
    limits: Limits,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Find duplicates: the entities of one GRAPH that are the same thing.

    Writes the files of `largeea align`, and clusters.tsv with the entities that belong together.
    """
    answer = dedupe_files(
        graph,
        output,
        seeds=seeds,
        forbidden=forbidden,
        config=method.make(),
        execution=limits.make(),
        reading=reading.make(),
        formats=write or ["sssom"],
        overwrite=overwrite,
    )
    tell(answer, json)


def tell(answer: AlignedFiles, json: bool) -> None:
    """Print the numbers of pairs and clusters, some clusters and the paths of the result files."""
    alignment, graph = answer.alignment, answer.alignment.source
    clusters = alignment.clusters
    numbers = {
        "accepted": len(alignment),
        "doubtful": int((~alignment.accepted).sum()),
        "clusters": int(clusters.max(initial=-1)) + 1,
        "without_duplicates": len(alignment.unmatched_source_ids),
    }
    if json:
        screen.json({"run": str(answer.folder), **numbers, "files": list(answer.files)})
        return
    rows: list[tuple[str, ...]] = []
    for cluster in range(min(SHOWN, numbers["clusters"])):
        for entity in np.flatnonzero(clusters == cluster).tolist():
            rows.append((str(cluster + 1), graph.entities[entity].as_py(), graph.names[entity].as_py() or ""))
    if rows:
        screen.table("Some of the clusters", rows, ("cluster", "entity", "name"))
    counts: list[tuple[str, ...]] = [
        (name.replace("_", " "), f"{number:,}") for name, number in numbers.items()
    ]
    screen.table("Duplicates", counts, ("", "number"))
    screen.result("Written to " + ", ".join(str(answer.folder / file) for file in answer.files))
