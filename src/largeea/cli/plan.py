"""`largeea plan`: estimate the memory, disk and time of an alignment, on one machine or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from largeea.cli import options
from largeea.cli.cluster_plan import Nodes, show_cluster
from largeea.cli.grouping import with_groups
from largeea.cli.groups import Limits, Method, ReadingBoth
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.execution import executing
from largeea.execution.planner import Plan
from largeea.formats import ReadOptions, pair_folder, read_both
from largeea.planning import Sizes, check_cluster, make_plan, plan_cluster
from largeea.progress import step

EXAMPLES = """
**Examples**

`largeea plan wikidata.nt.bz2 dbpedia.ttl`

`largeea plan wikidata.nt.bz2 dbpedia.ttl --memory 12GB --json`

`largeea plan dbp15k/fr_en --preset largeea-r`

`largeea plan wikidata.nt.bz2 dbpedia.ttl --nodes 8 --memory-per-node 64GB`

`largeea plan --entities 10000000,10000000 --nodes 16 --memory-per-node 64GB --driver-memory 128GB`
"""
Source = Annotated[
    Path | None, typer.Argument(help="Source graph: a file, folder or pattern; or a pair folder.")
]
Target = Annotated[Path | None, typer.Argument(help="Target graph; omit it if SOURCE is a pair folder.")]
Entities = Annotated[
    str | None,
    typer.Option(help="Numbers of source and target entities, instead of graphs.", metavar="N,N"),
]
Triples = Annotated[
    str | None,
    typer.Option(
        help="Numbers of triples, with --entities; default: 3.1 for each entity, as in DBP1M.", metavar="N,N"
    ),
]
Literals = Annotated[
    str | None,
    typer.Option(help="Numbers of literals, with --entities; default: one for each entity.", metavar="N,N"),
]


@with_groups
def command(
    source: Source = None,
    target: Target = None,
    *,
    entities: Entities = None,
    triples: Triples = None,
    literals: Literals = None,
    method: Method,
    reading: ReadingBoth,
    limits: Limits,
    nodes: Nodes,
    json: options.Json = False,
) -> None:
    """Estimate the memory, disk space and time that each stage of an alignment needs.

    Takes the options of `largeea align` that decide what is read and computed. Reads the graphs but does not
    align them; with `--entities`, no graphs are needed. `--nodes` plans for a cluster. The exit code is 4 if
    a stage exceeds the memory.
    """
    config, cluster = method.make(), nodes.make()
    with executing(limits.make()):
        if entities is None:
            sizes = sizes_of(source, target, reading.make())
        elif source is None:
            sizes = assumed_sizes(entities, triples, literals)
        else:
            raise UsageError("--entities takes the place of the graphs: give one or the other")
        matched = dict(zip(("source", "target"), sizes.matched, strict=True))
        if cluster is not None:
            divided = plan_cluster(sizes, config, cluster)
            if json:
                screen.json(divided.to_plain() | {"matched": matched})
            else:
                show_cluster(divided)
            check_cluster(divided, sizes, config)
            return
        plan, _ = make_plan(sizes, config)
    if json:
        screen.json(plan.to_plain() | {"matched": matched})
    else:
        show(plan, matched)
    plan.check()


def sizes_of(source: Path | None, target: Path | None, reading: ReadOptions) -> Sizes:
    """The sizes of two graphs, which are read."""
    if source is None:
        raise UsageError("give two graphs, one folder that holds a pair, or --entities N,N")
    if target is None and not pair_folder(source):
        raise UsageError(f"{source}: give two graphs, or one folder that holds a pair")
    rejects = reading.new_rejects(source)
    with step("read"):
        both = read_both(source, target, reading, rejects)
    rejects.tell()
    return Sizes.of(*both)


def assumed_sizes(entities: str, triples: str | None, literals: str | None) -> Sizes:
    """The sizes of graphs with these numbers of entities, triples and literals."""
    return Sizes.assumed(
        _two(entities, "--entities"),
        None if triples is None else _two(triples, "--triples"),
        None if literals is None else _two(literals, "--literals", least=0),
    )


def _two(text: str, option: str, least: int = 1) -> tuple[int, int]:
    """Two whole numbers, for source and target; one number stands for both."""
    numbers = [number.strip().replace("_", "") for number in text.split(",")]
    if len(numbers) > 2 or not all(number.isdecimal() and int(number) >= least for number in numbers):
        raise UsageError(f"{option} {text}: give two whole numbers from {least} on, such as 5000000,4000000")
    return int(numbers[0]), int(numbers[-1])


def show(plan: Plan, matched: dict[str, int]) -> None:
    """Print the plan as a table, and for how many entities of each side it is."""
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
    screen.result(f"Entities that are matched: {matched['source']:,} and {matched['target']:,}")
    for adjustment in plan.adjustments:
        screen.result(f"Note: {adjustment}")
