"""`largeea status`: show the progress of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.runs.inspection import status

EXAMPLES = """
**Examples**

`largeea status run`

`largeea status run --json`
"""


def command(
    run: Annotated[Path, typer.Argument(help="Folder of a run.")],
    json: options.Json = False,
) -> None:
    """Show the state, time and size of each stage of a run."""
    facts = status(run)
    if json:
        screen.json(facts)
        return
    rows = [_row(stage) for stage in facts["stages"]]
    screen.table(f"{run}: {facts['state']}", rows, ("stage", "state", "seconds", "MB", "made from"))
    if facts["results"]:
        rows = [(file["name"], file["state"], _megabytes(file["bytes"])) for file in facts["results"]]
        screen.table("Results", rows, ("file", "state", "MB"))
    screen.result(_next_step(run, facts))


def _row(stage: dict[str, Any]) -> tuple[str, ...]:
    made_from = ", ".join(stage["after"]) or "input"
    return stage["name"], stage["state"], f"{stage['seconds']:.1f}", _megabytes(stage["bytes"]), made_from


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f}"


def _next_step(run: Path, facts: dict[str, Any]) -> str:
    if worker := facts["worker"]:
        return f"Process {worker['pid']} on {worker['host']} has been at work since {worker['since']}."
    if facts["state"] == "running":
        return "Another process is at work on this run."
    damaged = any(part["state"] != "stored" for part in (*facts["stages"], *facts["results"]))
    if facts["state"] == "finished" and not damaged:
        return "The run is finished."
    if facts["request"] is None:
        return "To go on, repeat the command that began it."
    return f"Go on with: largeea resume {run}"
