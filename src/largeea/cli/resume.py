"""`largeea resume`: resume a run from its folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from largeea.api import carry_out
from largeea.cli import align, options
from largeea.cli.groups import Limits, with_groups
from largeea.formats.links import predicate_iri
from largeea.runs.request import read_request

EXAMPLES = """
**Examples**

`largeea resume run`

`largeea resume run --json`
"""


@with_groups
def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run that `largeea align` started.")],
    *,
    predicate: options.Predicate = None,
    limits: Limits,
    json: options.Json = False,
) -> None:
    """Resume an interrupted run or repair a damaged one, with the same input and settings."""
    request, config = read_request(run)
    if predicate is not None:
        request = replace(request, predicate=predicate_iri(predicate))
    align.tell(carry_out(request, config, limits.make(), run, mend=True), json)
