"""The front door: align two graphs, or the files of two graphs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from largeea.config import Config, as_config
from largeea.constraints import as_scope, scoped
from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.execution.engines import load_engine
from largeea.execution.memory import peak_rss_mb
from largeea.formats import ReadOptions, files_of, pair_folder
from largeea.formats.links import (
    CLUSTERS_FILE_NAME,
    DOUBTFUL_FILE_NAME,
    FORMATS,
    NOTHING,
    SAME_IRI_FILE_NAME,
    UNMATCHED_FILE_NAME,
    About,
    GivenPairs,
    checked_predicate,
    day_of,
    find_format,
    license_iri,
    predicate_iri,
    write_alignment,
    write_clusters,
    write_doubtful,
    write_same_iri,
    write_unmatched,
)
from largeea.formats.scope import NO_SCOPE, Match, Scope, in_scope
from largeea.formats.streams import in_parallel
from largeea.graph import KnowledgeGraph, Links
from largeea.inputs import Place, Seeds, file_inputs, given_inputs, given_pairs, graph_of
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.pipeline import cardinality_of, run_method
from largeea.progress import step
from largeea.report import write_report
from largeea.reviews import Reviews, read_reviews
from largeea.runs import Run
from largeea.runs.accounting import answers_add_up, counted_twice, linkable_entities
from largeea.runs.artifacts import content_hash
from largeea.runs.files import atomic_write
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
        Run(folder, request.to_plain(), subject=subject, overwrite=overwrite) as run,
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
            about = _about(request, run)
            files = write_results(alignment, folder, _formats(run, request.formats), request.predicate, about)
            files += [write_changes(changed.value, folder) for changed in changes]
            cluster = load_engine(execution.engine).report()
            facts = {"summary": alignment.summary, "peak_memory_mb": peak_rss_mb()}
            run.vouch_for(files, **facts, **({"cluster": cluster} if cluster else {}))
            files += [name for record in run.manifest["stages"].values() for name in record["files"]]
        with step("report"):
            files.append(write_report(folder, trusted=True).name)
    counts = {kind: number for changed in changes for kind, number in count_changes(changed.value).items()}
    return AlignedFiles(alignment, folder, tuple(files), counts)


def _about(request: Request, run: Run) -> About:
    """What link files say about the links: when they were found, their licence, and who confirmed them."""
    assert run.folder is not None
    reviews = read_reviews(run.folder) if request.with_reviews else Reviews()
    return About(
        date=day_of(request.date, run.manifest["stages"]["alignment"]["finished"]),
        license=request.license,
        with_doubtful=request.with_doubtful,
        reviewers={
            pair: tuple(sorted(author for author, said in reviews.of(pair).items() if said == "same"))
            for pair in reviews.confirmed
        },
    )


def _formats(run: Run, wanted: Sequence[str]) -> list[str]:
    """The formats asked for, and those that the folder has from before: none is left with an old answer."""
    written = [*run.manifest.get("results", ()), *run.manifest.get("outdated", ())]
    kept = [name for name, format in FORMATS.items() if format.file_name in written and name not in wanted]
    return [*wanted, *kept]


def write_results(
    alignment: Alignment,
    folder: Path,
    formats: Iterable[str],
    predicate: str | None = None,
    about: About = NOTHING,
) -> list[str]:
    """Write the alignment in each format, doubtful pairs, unmatched entities and, if any, equal IRIs.

    Where an entity may have several counterparts, clusters are written, too. Returns the names of the files.
    What was written is counted: every entity that can be linked has to be in an accepted pair, in a doubtful
    pair, unmatched, or the same by its IRI; in one pair at most, unless it may have several counterparts.
    """
    cardinality = alignment.cardinality
    linkable = linkable_entities(alignment.source, alignment.target)
    if cardinality is Cardinality.WITHIN:
        del linkable["target"]
    single = [side for side in linkable if cardinality.is_single(side)]
    writers: dict[str, Callable[[IO[bytes]], Any]] = {
        find_format(name).file_name: partial(
            write_alignment, alignment, format=name, predicate=predicate, about=about
        )
        for name in formats
    }
    links = list(writers)
    writers[DOUBTFUL_FILE_NAME] = partial(write_doubtful, alignment)
    writers[UNMATCHED_FILE_NAME] = partial(write_unmatched, alignment)
    if len(alignment.same):
        writers[SAME_IRI_FILE_NAME] = partial(write_same_iri, alignment)
    else:
        (folder / SAME_IRI_FILE_NAME).unlink(missing_ok=True)
    if cardinality is Cardinality.ONE_TO_ONE:
        (folder / CLUSTERS_FILE_NAME).unlink(missing_ok=True)
    else:
        writers[CLUSTERS_FILE_NAME] = partial(write_clusters, alignment)

    def written_to(name: str) -> Any:
        with atomic_write(folder / name) as file:
            return writers[name](file)

    written = dict(zip(writers, in_parallel(written_to, writers), strict=True))
    same = written.get(SAME_IRI_FILE_NAME, {"source": 0, "target": 0})
    for name in links:
        answers_add_up(
            linkable,
            written[name].pairs,
            written[name].linked,
            written[DOUBTFUL_FILE_NAME],
            written[UNMATCHED_FILE_NAME],
            same,
            counted_twice(alignment),
            single,
        )
    return list(writers)


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

    Without a `format`, the name tells: `.sssom.tsv`, `.nt`, `.rdf`, `.tsv` or `.parquet`. `predicate` is a
    CURIE or an IRI for all links; without one, it follows from what the entities are. SSSOM files have the
    `license` (an IRI), the `date` and, `with_doubtful`, the doubtful pairs.

    Example: `write(alignment, "links.sssom.tsv")`.
    """
    place = Path(path)
    endings = {each.file_name.partition(".")[2]: name for name, each in FORMATS.items()}
    fitting = [ending for ending in endings if place.name.endswith(f".{ending}")]
    if format is None and not fitting:
        raise UsageError(
            f"{place.name} does not tell its format; end it with one of {', '.join(endings)}, or name one"
        )
    name = find_format(format).name if format else endings[max(fitting, key=len)]
    about = About(None, day_of(date), license and license_iri(license), with_doubtful)
    with atomic_write(place) as file:
        write_alignment(alignment, file, name, predicate, about)


def paths(given: Place | Sequence[Place] | None) -> tuple[Path, ...]:
    """No path, one or several, as a tuple."""
    if given is None:
        return ()
    return (Path(given),) if isinstance(given, str | os.PathLike) else tuple(map(Path, given))
