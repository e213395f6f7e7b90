"""The sections of a report about what the answer was made from: graphs, mini-batches, time, settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from largeea.report import charts, figures
from largeea.report.page import (
    counted,
    escaped,
    number,
    paragraph,
    section,
    share,
    shown,
    side_by_side,
    table,
)
from largeea.report.settings import changed_settings, command
from largeea.report.stored import StoredRun

_STAGES = 12
"""Stages that are shown by name."""
_MOST_BATCHES = 20
_LONGEST_COMMAND = 4000


def graphs(run: StoredRun) -> str:
    """Return degrees, names and sizes of both graphs."""
    title = "Entities by number of triples"
    series = {name: figures.degree_shares(graph) for name, graph in run.graphs.items()}
    last = max(
        (place for values in series.values() for place, value in enumerate(values) if value), default=0
    )
    labels = figures.DEGREES[: last + 1]
    series = {name: values[: last + 1] for name, values in series.items()}
    drawn = charts.columns(title, labels, series, percent=True, below="triples of an entity")
    caption = "Share of the entities of each graph. Entities with few triples have little structure to go by."
    degrees = charts.figure(title, caption, drawn, [*series])
    coverage = [(name, figures.named_share(graph)) for name, graph in run.graphs.items()]
    title = "Entities with a name"
    caption = "Share of the entities to be matched."
    rows = [(name, value, share(value)) for name, value in coverage]
    named = charts.figure(title, caption, charts.bars(title, rows, whole=1.0))
    counted_columns: list[tuple[str, Callable[[Any], int]]] = [
        ("entities", lambda graph: graph.size),
        ("to be matched", lambda graph: int(graph.linkable.sum())),
        ("relations", lambda graph: len(graph.relations)),
        ("triples", lambda graph: len(graph.triples)),
        ("literals", lambda graph: len(graph.attributes)),
    ]
    lines = [
        [escaped(title), *(number(count(graph)) for graph in run.graphs.values())]
        for title, count in counted_columns
    ]
    sizes = table("Sizes", ["", *run.graphs], lines)
    return section("Graphs", side_by_side(degrees, f"<div>{named}{sizes}</div>"), identifier="graphs")


def batches(run: StoredRun) -> str:
    """Return the sizes of mini-batches and the triples that they keep."""
    found = figures.batch_figures(run)
    if found is None:
        return ""
    number_of, title = len(found.sizes[0]), "Entities in each mini-batch"
    places = figures.spread(number_of, _MOST_BATCHES).tolist()
    series = {
        name: [sizes[place] for place in places]
        for name, sizes in zip(run.names_of_graphs, found.sizes, strict=True)
    }
    drawn = charts.columns(title, [str(place + 1) for place in places], series, below="mini-batch")
    caption = f"{counted(number_of, 'mini-batch', 'mini-batches')} in all"
    caption += f", {len(places)} of them shown." if len(places) < number_of else "."
    sizes = charts.figure(title, caption, drawn, [*series])
    title = "Triples kept inside mini-batches"
    rows = [(name, kept, share(kept)) for name, kept in zip(run.names_of_graphs, found.kept, strict=True)]
    caption = "Triples between entities of different mini-batches are lost to the structure channel."
    kept = charts.figure(title, caption, charts.bars(title, rows, whole=1.0))
    return section("Mini-batches", side_by_side(sizes, kept), identifier="batches")


def costs(run: StoredRun) -> str:
    """Return time and peak memory of the stages that took longest."""
    found = figures.stage_costs(run.manifest)
    if not found:
        return ""
    seconds = sum(second for _, second, _ in found)
    memory = float(run.manifest.get("peak_memory_mb") or max(megabytes for *_, megabytes in found))
    longest, rest = found[:_STAGES], found[_STAGES:]
    time_rows = [(stage, second, _seconds(second)) for stage, second, _ in longest]
    if rest:
        others = sum(second for _, second, _ in rest)
        time_rows.append((counted(len(rest), "other"), others, _seconds(others)))
    by_time = charts.figure(
        "Time by stage",
        f"All stages together: {_seconds(seconds)}.",
        charts.bars("Time by stage", time_rows),
    )
    memory_rows = [(stage, megabytes, _megabytes(megabytes)) for stage, _, megabytes in longest]
    by_memory = charts.figure(
        "Peak memory by stage",
        f"Memory of the whole process while the stage ran; highest: {_megabytes(memory)}.",
        charts.bars("Peak memory by stage", memory_rows),
    )
    return section("Time and memory", side_by_side(by_time, by_memory), identifier="costs")


def settings(run: StoredRun) -> str:
    """Return the settings that are not the default, and the command that repeats the run."""
    changed = changed_settings(run.manifest)
    rows = [[shown(name), _value(default), _value(value)] for name, (default, value) in changed.items()]
    content = (
        table("Settings that differ from the defaults", ["setting", "default", "this run"], rows)
        if rows
        else paragraph("All settings are the defaults.")
    )
    for adjustment in (run.manifest.get("plan") or {}).get("adjustments", ()):
        content += paragraph(f"To stay within memory: {shown(str(adjustment), 400)}")
    again = command(run.manifest, "NEW_FOLDER")
    if again is None:
        content += paragraph("The run was not started by <code>largeea align</code>.", "quiet")
    else:
        content += paragraph("To repeat it:") + f"<pre><code>{shown(again, _LONGEST_COMMAND)}</code></pre>"
    return section("Settings", content, identifier="settings")


def _value(value: Any) -> str:
    return shown("" if value is None else str(value))


def _seconds(seconds: float) -> str:
    if seconds >= 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.1f} s"


def _megabytes(megabytes: float) -> str:
    return f"{megabytes / 1000:.1f} GB" if megabytes >= 1000 else f"{megabytes:.0f} MB"
