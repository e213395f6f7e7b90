"""`largeea align`: align two graphs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from largeea.api import AlignedFiles, align_files
from largeea.cli import options
from largeea.cli.grouping import with_groups
from largeea.cli.groups import AboutLinks, Graphs, Limits, Method, ReadingBoth, Scoping
from largeea.cli.screen import screen
from largeea.formats.links.text import part
from largeea.formats.prefixes import Curies
from largeea.matching.alignment import Alignment

EXAMPLES = """
**Examples**

`largeea align wikidata.nt.bz2 dbpedia.ttl -o run`

`largeea align museum.csv library.rdf --columns subject=id,relation=prop,object=value -o run`

`largeea align "dumps/a-*.nt.gz" dumps/b --links known.tsv --write same-as -o run`

`largeea align a.nt b.nt --links known.sssom.tsv --not-links wrong.tsv -o run`

`largeea align a.ttl b.ttl --source-types foaf:Person --target-types schema:Person -o run`

`largeea align dbp15k/fr_en -o run`
"""


@with_groups
def command(
    graphs: Graphs,
    *,
    output: options.RunFolder,
    seeds: Annotated[
        list[Path] | None,
        typer.Option(
            "--links",
            "--seeds",
            help="Known links: TSV, SSSOM, owl:sameAs or Alignment XML. SSSOM rows with the modifier Not are "
            "wrong pairs. Repeatable.",
        ),
    ] = None,
    forbidden: Annotated[
        list[Path] | None,
        typer.Option(
            "--not-links", help="Link file of wrong pairs, which are never in the answer. Repeatable."
        ),
    ] = None,
    cardinality: options.Cardinality = None,
    method: Method,
    write: options.LinkFormats = None,
    about: AboutLinks,
    reading: ReadingBoth,
    scope: Scoping,
    limits: Limits,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Align two graphs: find the entities of SOURCE and TARGET that are the same thing.

    In the folder of an earlier run, only stages that depend on changed inputs or settings are computed again.
    """
    answer = align_files(
        graphs.source,
        graphs.target,
        output,
        seeds=seeds,
        forbidden=forbidden,
        config=method.make(cardinality),
        execution=limits.make(),
        reading=reading.make(),
        formats=write or ["sssom"],
        scope=scope.make(),
        **vars(about),
        overwrite=overwrite,
    )
    tell(answer, json)


def tell(answer: AlignedFiles, json: bool) -> None:
    """Print the answer as JSON or as tables."""
    if json:
        changes = {"changes": answer.changes} if answer.changes else {}
        screen.json({"run": str(answer.folder), **answer.summary, **changes, "files": list(answer.files)})
        return
    if answer.changes:
        rows: list[tuple[str, ...]] = [(name, f"{number:,}") for name, number in answer.changes.items()]
        screen.table("Since the earlier run", rows, ("", "links"))
    show(answer.alignment, answer.folder, answer.files)


def show(alignment: Alignment, folder: Path, files: Sequence[str], examples: int = 5) -> None:
    """Print a few accepted pairs, the counts and the paths of the result files."""
    picked = np.unique(np.arange(examples) * len(alignment) // examples)[: len(alignment)]
    short = Curies.of(alignment.source, alignment.target).shorten
    rows: list[tuple[str, ...]] = [
        (
            row["source_name"] or short(row["source"]),
            row["target_name"] or short(row["target"]),
            f"{row['confidence']:.2f}",
        )
        for row in part(alignment, picked).to_table().to_pylist()
    ]
    if rows:
        screen.table("Some of the links", rows, ("source", "target", "confidence"))
    numbers = alignment.summary
    screen.table(
        "Alignment", [(name.replace("_", " "), f"{n:,}") for name, n in numbers.items()], ("", "entities")
    )
    screen.result("Written to " + ", ".join(str(folder / file) for file in files))
