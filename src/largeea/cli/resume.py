"""`largeea resume`: a run goes on from its own folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import align, options
from largeea.runs.request import read_request

EXAMPLES = """
**Examples**

`largeea resume run`

`largeea resume run --json`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run that `largeea align` began.")],
    json: options.Json = False,
) -> None:
    """Go on with a run that was interrupted, or mend one that was damaged: same input, same settings."""
    request, config = read_request(run)
    align.carry_out(request, config, run, json, mend=True)
