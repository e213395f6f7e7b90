"""Duplicates: entities of one graph that are the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from largeea.api import AlignedFiles, Graph, align_graphs, carry_out, paths
from largeea.config import Config, as_config
from largeea.errors import UsageError
from largeea.execution import Execution
from largeea.formats import ReadOptions, files_of, pair_folder
from largeea.formats.links import find_format
from largeea.formats.scope import Match, in_scope
from largeea.inputs import Place, Seeds, given_pairs, graph_of
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.runs.request import Request


def dedupe(
    graph: Graph,
    *,
    seeds: Seeds | None = None,
    forbidden: Seeds | None = None,
    config: Config | dict[str, Any] | str | None = None,
    execution: Execution | dict[str, Any] | None = None,
    match: Match = "auto",
    folder: Place | None = None,
    overwrite: bool = False,
) -> Alignment:
    """Find the entities of one graph that are the same thing.

    The method of `align`, with the graph as source and as target. No entity is paired with itself, and every
    pair is there once. `Alignment.clusters` tells which entities belong together. Arguments as for `align`;
    the graph may be a table.

    Example: `dedupe(pandas.read_csv("customers.csv")).to_pandas()`.
    """
    read = graph_of("graph", graph, same_iri=False)
    both = in_scope(read, read, match)
    given = given_pairs(seeds, forbidden, *both, Cardinality.WITHIN)
    return align_graphs(both, given, config, execution, folder, overwrite, within=True)


def dedupe_files(
    graph: Place,
    output: Place,
    *,
    seeds: Place | Sequence[Place] | None = None,
    forbidden: Place | Sequence[Place] | None = None,
    config: Config | dict[str, Any] | str | None = None,
    execution: Execution | dict[str, Any] | None = None,
    reading: ReadOptions | None = None,
    formats: Sequence[str] = ("sssom",),
    overwrite: bool = False,
) -> AlignedFiles:
    """Read a graph, find its duplicates and write them into the run folder `output`.

    The files are those of `align_files`, and `clusters.tsv`. Arguments as for `align_files`.

    Example: `dedupe_files("customers.csv", "run", formats=["tsv"])`.
    """
    place = Path(graph)
    if pair_folder(place):
        raise UsageError(f"{place} holds two graphs; give the files of one")
    files_of(place)
    reading = replace(reading or ReadOptions(), same_iri=False)
    names = tuple(find_format(name).name for name in formats)
    request = Request(place, place, paths(seeds), reading, names, None, paths(forbidden), within=True)
    return carry_out(request, as_config(config), Execution.of(execution), Path(output), overwrite=overwrite)
