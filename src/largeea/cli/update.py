"""`largeea update`: align new versions of the graphs of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea import api
from largeea.cli import align, options
from largeea.cli.grouping import with_groups
from largeea.cli.groups import Limits

EXAMPLES = """
**Examples**

`largeea update run --source wikidata-new.nt.bz2 -o run2`

`largeea update run --source a-new.nt --target b-new.nt -o run2 --json`
"""


@with_groups
def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run that `largeea align` started.")],
    *,
    source: Annotated[
        Path | None, typer.Option(help="New source graph, or pair folder; default: that of the run.")
    ] = None,
    target: Annotated[Path | None, typer.Option(help="New target graph; default: that of the run.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Run folder of the update.")],
    limits: Limits,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Align new versions of the graphs of a run: only what changed is computed again.

    changes.tsv in the folder says which links are new, changed, gone or held, with their earlier confidence.
    """
    answer = api.update(
        run, output, source=source, target=target, execution=limits.make(), overwrite=overwrite
    )
    align.tell(answer, json)
