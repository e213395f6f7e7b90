"""`largeea plan`: estimate the memory, disk and time of an alignment."""

from __future__ import annotations

from largeea.cli import options
from largeea.cli.groups import Graphs, Limits, Method, ReadingBoth, with_groups
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.execution import executing
from largeea.execution.planner import Plan
from largeea.formats import pair_folder, read_both
from largeea.planning import Sizes, make_plan
from largeea.progress import step
from largeea.runs.accounting import linkable_entities

EXAMPLES = """
**Examples**

`largeea plan wikidata.nt.bz2 dbpedia.ttl`

`largeea plan wikidata.nt.bz2 dbpedia.ttl --memory 12GB --json`

`largeea plan dbp15k/fr_en --preset largeea-r`
"""


@with_groups
def command(
    graphs: Graphs, *, method: Method, reading: ReadingBoth, limits: Limits, json: options.Json = False
) -> None:
    """Estimate the memory, disk space and time that each stage of an alignment needs.

    Takes the options of `largeea align` that decide what is read and computed. Reads the graphs but does not
    align them. The exit code is 4 if a stage exceeds the memory limit.
    """
    config, how_to_read = method.make(), reading.make()
    if graphs.target is None and not pair_folder(graphs.source):
        raise UsageError(f"{graphs.source}: give two graphs, or one folder that holds a pair")
    with executing(limits.make()):
        rejects = how_to_read.new_rejects(graphs.source)
        with step("read"):
            both = read_both(graphs.source, graphs.target, how_to_read, rejects)
        rejects.tell()
        plan, _ = make_plan(Sizes.of(*both), config)
    matched = linkable_entities(*both)
    if json:
        screen.json(plan.to_plain() | {"matched": matched})
    else:
        show(plan, matched)
    plan.check()


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
