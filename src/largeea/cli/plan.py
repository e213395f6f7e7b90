"""`largeea plan`: estimate the memory, disk and time of an alignment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.execution import executing
from largeea.execution.planner import Plan
from largeea.formats import read
from largeea.graph import KnowledgeGraph, Pair
from largeea.planning import Sizes, make_plan
from largeea.progress import step

EXAMPLES = """
**Examples**

`largeea plan wikidata.nt.bz2 dbpedia.ttl`

`largeea plan wikidata.nt.bz2 dbpedia.ttl --memory 12GB --json`

`largeea plan dbp15k/fr_en --preset largeea-r`
"""


def command(
    source: Annotated[
        Path, typer.Argument(help="Source graph: a file, folder or pattern; or a pair folder.")
    ],
    target: Annotated[
        Path | None, typer.Argument(help="Target graph; omit it if SOURCE is a pair folder.")
    ] = None,
    preset: options.Preset = "default",
    config: options.ConfigFile = None,
    set: options.Settings = None,
    without: options.Without = None,
    format: options.Format = None,
    columns: options.ColumnMap = None,
    match: options.MatchRoles = "auto",
    max_errors: options.MaxErrors = None,
    memory: options.Memory = None,
    gpu_memory: options.GpuMemory = None,
    threads: options.Threads = None,
    device: options.Device = "auto",
    json: options.Json = False,
) -> None:
    """Estimate the memory, disk space and time that each stage of an alignment needs.

    Reads the graphs but does not align them. The exit code is 4 if a stage exceeds the memory limit.
    """
    settings = options.make_config(preset, config, set, None, without)
    reading = options.make_read_options(format, columns, None, None, max_errors, match=match)
    with executing(options.make_execution(memory, gpu_memory, threads, device)):
        with step("read"):
            found = [read(place, reading) for place in (source, target) if place is not None]
        plan, _ = make_plan(Sizes.of(*_graphs(source, found)), settings)
    if json:
        screen.json(plan.to_plain())
    else:
        show(plan)
    plan.check()


def show(plan: Plan) -> None:
    """Print the plan as a table."""
    rows = [
        (
            need.stage,
            *(f"{size / 1e6:,.0f}" for size in (need.host, need.gpu, need.disk)),
            f"{need.seconds:,.0f}",
        )
        for need in plan.needs
    ]
    screen.table("Plan", rows, ("stage", "memory MB", "GPU MB", "disk MB", "seconds"))
    screen.result(
        f"Peak {plan.peak.host / 1e9:.1f} GB of memory (in {plan.peak.stage}; the limit is "
        f"{plan.memory / 1e9:.1f} GB), {plan.disk / 1e9:.1f} GB of disk, "
        f"roughly {plan.seconds / 60:,.0f} minutes"
    )
    for adjustment in plan.adjustments:
        screen.result(f"Note: {adjustment}")


def _graphs(source: Path, found: list[KnowledgeGraph | Pair]) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    if len(found) == 1 and isinstance(found[0], Pair):
        return found[0].source, found[0].target
    if len(found) == 2 and isinstance(found[0], KnowledgeGraph) and isinstance(found[1], KnowledgeGraph):
        return found[0], found[1]
    raise UsageError(f"{source}: give two graphs, or one folder that holds a pair")
