"""`largeea export`: write what a finished run has found for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.exporting import KINDS, export

EXAMPLES = """
**Examples**

`largeea export run --what alignment -o alignment.parquet`

`largeea export run --what candidates -o candidates.parquet`

`largeea export run --what similarity -o similarity.npz`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .parquet or .npz.")],
    what: Annotated[str, typer.Option(help=f"What to write: {', '.join(KINDS)}.")] = "alignment",
    json: options.Json = False,
) -> None:
    """Write pairs, candidates with the scores of each channel, the similarity matrix, embeddings or names."""
    rows = export(run, what, output)
    screen.json({"file": str(output), "rows": rows}) if json else screen.result(f"{output}: {rows:,} rows")
