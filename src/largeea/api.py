"""The front door: align two graphs, or the files of two graphs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from largeea.config import Config, as_config
from largeea.constraints import as_scope, scoped
from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.execution.engines import load_engine
from largeea.execution.memory import peak_rss_mb
from largeea.formats import ReadOptions, files_of, pair_folder
from largeea.formats.links import (
    FORMATS,
    About,
    GivenPairs,
    checked_predicate,
    day_of,
    find_format,
    license_iri,
    predicate_iri,
    write_alignment,
)
from largeea.formats.scope import NO_SCOPE, Match, Scope, in_scope
from largeea.graph import KnowledgeGraph, Links
from largeea.inputs import Place, Seeds, file_inputs, given_inputs, given_pairs, graph_of
from largeea.matching.alignment import Alignment
from largeea.pipeline import cardinality_of, run_method
from largeea.progress import step
from largeea.report import write_report
from largeea.results import about_links, formats_of, write_results
from largeea.runs.artifacts import content_hash
from largeea.runs.files import atomic_write
from largeea.runs.folder import Run
from largeea.runs.request import Request
from largeea.updating import begin_update, count_changes, finish_update, updated_request, write_changes

Graph: TypeAlias = KnowledgeGraph | Place | Any
"""A graph, a path to read it from, or a table: a data frame, an Arrow table or a dict of columns."""


@dataclass(frozen=True)
class AlignedFiles:
    """What `align_files` has done: the answer, and the files that hold it."""

    alignment: Alignment
    folder: Path
    files: tuple[str, ...]
    """Names of the files written into the folder."""
    changes: dict[str, int] = field(default_factory=dict)
    """After an update, the numbers of links that are new, changed, gone and held."""

    @property
    def summary(self) -> dict[str, int]:
        """The answer in numbers."""
        return self.alignment.summary


def align(
    source: Graph,
    target: Graph,
    *,
    seeds: Seeds | None = None,
    forbidden: Seeds | None = None,
    config: Config | dict[str, Any] | str | None = None,
    execution: Execution | dict[str, Any] | None = None,
    match: Match = "auto",
    same_iri: bool = True,
    scope: Scope | dict[str, Any] | None = None,
    folder: Place | None = None,
    overwrite: bool = False,
) -> Alignment:
    """Find the entities of two graphs that are the same thing. Seeds help but are not needed.

    Graphs are `KnowledgeGraph`s, paths to read them from, or tables (data frames, Arrow tables, dicts of
    columns) whose columns can be guessed; else use `graph_of_table`. Seeds are `Links`, the path of a link
    file, or pairs of IRIs; so are forbidden pairs, which are never in the answer. `config` is a `Config`, a
    dictionary of settings or the name of a preset. `match` says which entities are matched: individuals,
    classes, properties, all, or (auto) what the graphs are about. Entities that two RDF graphs have under the
    same IRI are the same, unless `same_iri` is False: they are in `Alignment.same`. `scope` restricts which
    entities and pairs are in the answer: a `Scope`, or a dictionary of its fields. With a `folder`, every
    stage's result is kept there and a later call continues from them; to write the answer to files as well,
    use `align_files`.

    Example: `align("a.nt", "b.ttl", seeds="known.tsv", config={"names": {"top_k": 20}}).to_table()`.
    """
    graphs = in_scope(graph_of("source", source, same_iri), graph_of("target", target, same_iri), match)
    config, restricted = as_config(config), as_scope(scope)
    given = given_pairs(seeds, forbidden, *graphs, cardinality_of(config))
    files = [files_of(Path(one)) if isinstance(one, str | os.PathLike) else [] for one in (source, target)]
    known = Links(np.concatenate([given.seeds.pairs, given.further.pairs]))
    graphs = scoped(*graphs, restricted, ReadOptions(match=match), files, known)
    return align_graphs(graphs, given, config, execution, folder, overwrite, scope=restricted)


def align_graphs(
    graphs: tuple[KnowledgeGraph, KnowledgeGraph],
    given: GivenPairs,
    config: Config | dict[str, Any] | str | None,
    execution: Execution | dict[str, Any] | None,
    folder: Place | None,
    overwrite: bool,
    within: bool = False,
    scope: Scope = NO_SCOPE,
) -> Alignment:
    """Align two graphs in memory, or search duplicates `within` the graph that both are."""
    settings, place = as_config(config), None if folder is None else Path(folder)
    hashes = [content_hash(graph) for graph in graphs]
    with executing(Execution.of(execution)), Run(place, subject=hashes, overwrite=overwrite) as run:
        outcome = run_method(given_inputs(run, *graphs, given, hashes, within, scope), settings, run)
        alignment = outcome.alignment
        run.finish(outcome.parts)
    return alignment


def align_files(
    source: Place,
    target: Place | None = None,
    output: Place | None = None,
    *,
    seeds: Place | Sequence[Place] | None = None,
    forbidden: Place | Sequence[Place] | None = None,
    config: Config | dict[str, Any] | str | None = None,
    execution: Execution | dict[str, Any] | None = None,
    reading: ReadOptions | None = None,
    formats: Sequence[str] = ("sssom",),
    predicate: str | None = None,
    scope: Scope | dict[str, Any] | None = None,
    license: str | None = None,
    date: str | None = None,
    with_doubtful: bool = False,
    overwrite: bool = False,
) -> AlignedFiles:
    """Read two graphs, align them and write the answer into the run folder `output`.

    `source` may be a benchmark folder that holds a pair; then there is no target. `seeds` and `forbidden` are
    link files, one or several: pairs that are right, and pairs that are never in the answer. Called again
    with the same folder, it repeats only what depends on what has changed since. A folder that holds a run on
    other graphs is refused unless `overwrite` is set. `predicate` is a CURIE or an IRI for all links; without
    one, it follows from what the entities are: individuals, classes, properties or SKOS concepts. `scope`
    restricts which entities and pairs are in the answer: a `Scope`, or a dictionary of its fields. In SSSOM
    files are the `license` (an IRI), the `date` (by default the day on which the links were found) and,
    `with_doubtful`, the doubtful pairs.

    Example: `align_files("wikidata.nt.bz2", "dbpedia.ttl", "run", formats=["sssom", "tsv"])`.
    """
    if output is None:
        raise UsageError("align_files needs an output folder; to align without files, use align")
    source, target = Path(source), None if target is None else Path(target)
    if target is None and not pair_folder(source):
        files_of(source)
        raise UsageError(f"{source} is one graph; give the other one too, or a folder that holds a pair")
    names = tuple(find_format(name).name for name in formats)
    iri = None if predicate is None else checked_predicate(predicate)
    known, wrong = paths(seeds), paths(forbidden)
    request = Request(
        source, target, known, reading or ReadOptions(), names, iri, wrong, scope=as_scope(scope),
        license=license and license_iri(license), date=date and day_of(date), with_doubtful=with_doubtful,
    )  # fmt: skip
    return carry_out(request, as_config(config), Execution.of(execution), Path(output), overwrite=overwrite)


def update(
    run: Place,
    output: Place,
    *,
    source: Place | None = None,
    target: Place | None = None,
    execution: Execution | dict[str, Any] | None = None,
    overwrite: bool = False,
) -> AlignedFiles:
    """Align new versions of the graphs of a finished run, starting from its results.

    `run` is the folder of a run that `align_files` or `largeea align` made; its settings and known links
    count. A graph that is not given is that of the run. Entities are the same if their IRIs are. Only what
    changed, and what it touches, is compared again. The folder `output` then holds a run like any other, and
    `changes.tsv`: which links are new, changed or gone, and the earlier confidence of those that hold.

    Example: `update("run", "run2", source="wikidata-new.nt.bz2")`.
    """
    places = (None if place is None else Path(place) for place in (source, target))
    request, config = updated_request(Path(run), Path(output), *places)
    return carry_out(request, config, Execution.of(execution), Path(output), overwrite=overwrite)


def carry_out(
    request: Request,
    config: Config,
    execution: Execution,
    folder: Path,
    *,
    overwrite: bool = False,
    mend: bool = False,
) -> AlignedFiles:
    """Do what a request asks for, or what is left of it. To `mend`, every stored file is checked first."""
    subject = request.subject()
    with (
        executing(execution),
        Run(folder, request.to_plain(), subject=subject, overwrite=overwrite, config=config) as run,
    ):
        if mend:
            run.forget_damaged()
        begin = begin_update if request.earlier else file_inputs
        inputs = begin(request, run, cardinality_of(config, request.within))
        if request.predicate is not None:
            predicate_iri(request.predicate, inputs.source.value, inputs.target.value)
        outcome = run_method(inputs, config, run)
        alignment = outcome.alignment
        changes = [finish_update(run, outcome)] if request.earlier else []
        run.finish([*outcome.parts, *changes])
        with step("write"):
            formats, about = formats_of(run, request.formats), about_links(request, run)
            files = write_results(alignment, folder, formats, request.predicate, about)
            files += [write_changes(changed.value, folder) for changed in changes]
            cluster = load_engine(execution.engine).report()
            facts = {"summary": alignment.summary, "peak_memory_mb": peak_rss_mb()}
            run.vouch_for(files, **facts, **({"cluster": cluster} if cluster else {}))
            files += [name for record in run.manifest["stages"].values() for name in record["files"]]
        with step("report"):
            files.append(write_report(folder, trusted=True).name)
    counts = {kind: number for changed in changes for kind, number in count_changes(changed.value).items()}
    return AlignedFiles(alignment, folder, tuple(files), counts)


def write(
    alignment: Alignment,
    path: Place,
    format: str | None = None,
    *,
    predicate: str | None = None,
    license: str | None = None,
    date: str | None = None,
    with_doubtful: bool = False,
) -> None:
    """Write an alignment to one file: SSSOM, N-Triples, Alignment API, TSV or Parquet.

    Without a `format`, the ending of the path decides: `.sssom.tsv`, `.nt`, `.rdf`, `.tsv` or `.parquet`.
    `predicate` is a CURIE or an IRI for all links; without one, it follows from what the entities are. SSSOM
    files have the `license` (an IRI), the `date` and, `with_doubtful`, the doubtful pairs.

    Example: `write(alignment, "links.sssom.tsv")`.
    """
    place = Path(path)
    endings = {each.file_name.partition(".")[2]: name for name, each in FORMATS.items()}
    fitting = [ending for ending in endings if place.name.endswith(f".{ending}")]
    if format is None and not fitting:
        raise UsageError(
            f"{place.name} has no known ending; use one of {', '.join(endings)}, or give `format`"
        )
    name = find_format(format).name if format else endings[max(fitting, key=len)]
    about = About(None, day_of(date), license and license_iri(license), with_doubtful)
    with atomic_write(place) as file:
        write_alignment(alignment, file, name, predicate, about)


def paths(given: Place | Sequence[Place] | None) -> tuple[Path, ...]:
    """Return no path, one or several as a tuple."""
    if given is None:
        return ()
    return (Path(given),) if isinstance(given, str | os.PathLike) else tuple(map(Path, given))
