"""`largeea schema`: which relations, attributes and classes of a finished run's graphs correspond."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.finished import FinishedRun
from largeea.formats.prefixes import Curies
from largeea.progress import step
from largeea.runs.files import atomic_write
from largeea.runs.manifest import check_output
from largeea.schema_mapping import MIN_CONFIDENCE, schema_mapping, write_sssom

EXAMPLES = """
**Examples**

`largeea schema run -o schema.sssom.tsv`

`largeea schema run -o schema.sssom.tsv --threshold 0.8 --json`
"""
_SHOWN = 20


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write, SSSOM as tab-separated text.")
    ],
    threshold: Annotated[
        float, typer.Option(help="Minimum confidence of a correspondence.", min=0, max=1)
    ] = MIN_CONFIDENCE,
    json: options.Json = False,
) -> None:
    """Write which relations, attributes and classes of both graphs correspond, by the accepted pairs."""
    finished = FinishedRun(run)
    check_output(run, output)
    with step("schema"):
        found = schema_mapping(finished, threshold)
    with atomic_write(output) as file:
        write_sssom(found, file, finished.target.prefixes | finished.source.prefixes)
    if json:
        screen.json({"output": str(output), "correspondences": [asdict(one) for one in found]})
        return
    short = Curies.of(finished.source, finished.target).shorten
    for one in found[:_SHOWN]:
        match = one.predicate.rpartition("#")[2]
        terms = f"{short(one.source)} {match} {short(one.target)}"
        screen.result(f"{one.confidence:.2f}  {terms} ({one.support:,})")
    if len(found) > _SHOWN:
        screen.result(f"and {len(found) - _SHOWN:,} more")
    screen.result(f"{len(found):,} correspondences written to {output}")
