"""`largeea resume`: resume a run from its folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from largeea.api import carry_out
from largeea.cli import align, options
from largeea.cli.grouping import with_groups
from largeea.cli.groups import AboutLinks, Limits
from largeea.runs.request import read_request

EXAMPLES = """
**Examples**

`largeea resume run`

`largeea resume run --json`

`largeea resume run --with-reviews`
"""


@with_groups
def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run that `largeea align` started.")],
    *,
    with_reviews: Annotated[
        bool,
        typer.Option(
            "--with-reviews",
            help="Use the reviews in the folder, now and whenever the run is resumed: confirmed pairs are "
            "known links, rejected ones are never in the answer.",
        ),
    ] = False,
    about: AboutLinks,
    limits: Limits,
    json: options.Json = False,
) -> None:
    """Resume an interrupted run or repair a damaged one, with the same input and settings."""
    request, config = read_request(run)
    if with_reviews:
        request = replace(request, with_reviews=True)
    align.tell(carry_out(about.changed(request), config, limits.make(), run, mend=True), json)
