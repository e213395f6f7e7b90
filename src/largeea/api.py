"""The front door: align two graphs, or the files of two graphs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from largeea.config import Config, as_config
from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.execution.engines import load_engine
from largeea.execution.memory import peak_rss_mb
from largeea.formats import ReadOptions, files_of, pair_folder, read_both, read_graph
from largeea.formats.links import (
    DOUBTFUL_FILE_NAME,
    FORMATS,
    SAME_IRI_FILE_NAME,
    UNMATCHED_FILE_NAME,
    find_format,
    predicate_iri,
    read_links,
    resolve,
    write_alignment,
    write_doubtful,
    write_same_iri,
    write_unmatched,
)
from largeea.formats.scope import Match, in_scope
from largeea.formats.streams import in_parallel
from largeea.graph import KnowledgeGraph, Links, Task, strings
from largeea.graph.same_iri import equal_iris
from largeea.matching.alignment import Alignment
from largeea.pipeline import Inputs, run_method
from largeea.progress import note, step
from largeea.runs import Run
from largeea.runs.accounting import account_in_words, account_of, answers_add_up, linkable_entities
from largeea.runs.artifacts import content_hash
from largeea.runs.files import atomic_write
from largeea.runs.inputs import check_unchanged, identity, record_inputs
from largeea.runs.request import Request

REJECTS = "rejects.tsv"
Place: TypeAlias = str | os.PathLike[str]
Graph: TypeAlias = KnowledgeGraph | Place
Seeds: TypeAlias = Links | Place | Iterable[tuple[str, str]]


@dataclass(frozen=True)
class AlignedFiles:
    """What `align_files` has done: the answer, and the files that hold it."""

    alignment: Alignment
    folder: Path
    files: tuple[str, ...]
    """Names of the files written into the folder."""

    @property
    def summary(self) -> dict[str, int]:
        """The answer in numbers."""
        return self.alignment.summary


def align(
    source: Graph,
    target: Graph,
    *,
    seeds: Seeds | None = None,
    config: Config | dict[str, Any] | str | None = None,
    execution: Execution | dict[str, Any] | None = None,
    match: Match = "auto",
    same_iri: bool = True,
    folder: Place | None = None,
    overwrite: bool = False,
) -> Alignment:
    """Find the entities of two graphs that are the same thing. Seeds help but are not needed.

    Graphs are `KnowledgeGraph`s or paths to read them from. Seeds are `Links`, the path of a link file, or
    pairs of IRIs. `config` is a `Config`, a dictionary of settings or the name of a preset. `match` says
    which entities are matched: individuals, classes, properties, all, or (auto) what the graphs are about.
    Entities that two RDF graphs have under the same IRI are the same, unless `same_iri` is False: they are
    in `Alignment.same`. With a `folder`, every stage's result is kept there and a later call continues from
    them; to write the answer to files as well, use `align_files`.

    Example: `align("a.nt", "b.ttl", seeds="known.tsv", config={"names": {"top_k": 20}}).to_table()`.
    """
    graphs = in_scope(_graph("source", source, same_iri), _graph("target", target, same_iri), match)
    known = _links(seeds, *graphs)
    settings, place = as_config(config), None if folder is None else Path(folder)
    hashes = [content_hash(graph) for graph in graphs]
    with executing(Execution.of(execution)), Run(place, subject=hashes, overwrite=overwrite) as run:
        outcome = run_method(given_inputs(run, *graphs, known, hashes), settings, run)
        alignment = outcome.alignment
        run.finish(outcome.parts)
    return alignment


def align_files(
    source: Place,
    target: Place | None = None,
    output: Place | None = None,
    *,
    seeds: Place | None = None,
    config: Config | dict[str, Any] | str | None = None,
    execution: Execution | dict[str, Any] | None = None,
    reading: ReadOptions | None = None,
    formats: Sequence[str] = ("sssom",),
    predicate: str | None = None,
    overwrite: bool = False,
) -> AlignedFiles:
    """Read two graphs, align them and write the answer into the run folder `output`.

    `source` may be a benchmark folder that holds a pair; then there is no target. Called again with the same
    folder, it repeats only what depends on what has changed since. A folder that holds a run on other graphs
    is refused unless `overwrite` is set. `predicate` is a CURIE or an IRI for all links; without one, it
    follows from what the entities are: individuals, classes, properties or SKOS concepts.

    Example: `align_files("wikidata.nt.bz2", "dbpedia.ttl", "run", formats=["sssom", "tsv"])`.
    """
    if output is None:
        raise UsageError("align_files needs an output folder; to align without files, use align")
    source, target = Path(source), None if target is None else Path(target)
    if target is None and not pair_folder(source):
        files_of(source)
        raise UsageError(f"{source} is one graph; give the other one too, or a folder that holds a pair")
    names = tuple(find_format(name).name for name in formats)
    known = None if seeds is None else Path(seeds)
    iri = None if predicate is None else predicate_iri(predicate)
    request = Request(source, target, known, reading or ReadOptions(), names, iri)
    return carry_out(request, as_config(config), Execution.of(execution), Path(output), overwrite=overwrite)


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
        outcome = run_method(file_inputs(request, run), config, run)
        alignment = outcome.alignment
        run.finish(outcome.parts)
        with step("write"):
            files = write_results(alignment, folder, _formats(run, request.formats), request.predicate)
            cluster = load_engine(execution.engine).report()
            facts = {"summary": alignment.summary, "peak_memory_mb": peak_rss_mb()}
            run.vouch_for(files, **facts, **({"cluster": cluster} if cluster else {}))
            files += [name for record in run.manifest["stages"].values() for name in record["files"]]
    return AlignedFiles(alignment, folder, tuple(files))


def given_inputs(
    run: Run, source: KnowledgeGraph, target: KnowledgeGraph, seeds: Links, hashes: list[str] | None = None
) -> Inputs:
    """Graphs and seeds that are in memory, as the inputs of a run."""
    first, second = hashes or [content_hash(graph) for graph in (source, target)]
    ours = run.stage.given("source", first, lambda: source, read_graph)
    theirs = run.stage.given("target", second, lambda: target, read_graph)
    known = run.stage.given("given-seeds", content_hash(seeds), lambda: seeds, resolve)
    return Inputs(ours, theirs, known, run.stage("same-iri", equal_iris, ours, theirs))


def file_inputs(request: Request, run: Run) -> Inputs:
    """Graphs and seeds of a request: read when a run needs them and does not have them.

    What is matched depends on both graphs, so each graph is identified by the files of both.
    """
    known = run.manifest.get("inputs", ())
    files = {name: record_inputs(paths, known) for name, paths in request.files().items()}
    run.manifest["inputs"] = [record for records in files.values() for record in records]
    read = cache(lambda: _read(request, run))
    of_both = [*files["source"], *files["target"]]
    reading = f"{len(files['source'])} {request.reading!r}"
    source = run.stage.given("source", identity(of_both, f"source {reading}"), lambda: read()[0], read_both)
    target = run.stage.given("target", identity(of_both, f"target {reading}"), lambda: read()[1], read_both)

    def read_seeds() -> Links:
        if request.seeds is None:
            return Links.none()
        return resolve(read_links(request.seeds), source.value, target.value)

    identity_of_seeds = identity(files["seeds"], f"{source.key} {target.key}")
    seeds = run.stage.given("given-seeds", identity_of_seeds, read_seeds, resolve)
    return Inputs(source, target, seeds, run.stage("same-iri", equal_iris, source, target))


def _read(request: Request, run: Run) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """Read both graphs and account for every statement; malformed ones are listed in the run's folder.

    Links that a pair folder holds stay out: they are for evaluation.
    """
    assert run.folder is not None
    rejects = request.reading.new_rejects(request.source)
    graphs = read_both(request.source, request.target, request.reading, rejects)
    check_unchanged(run.manifest["inputs"])
    accounts = {side: account_of(graph) for side, graph in zip(("source", "target"), graphs, strict=True)}
    for side, account in accounts.items():
        note(f"{side}: {account_in_words(account)}")
    if rejects:
        with atomic_write(run.folder / REJECTS) as file:
            rejects.write(file)
        rejects.tell(run.folder / REJECTS)
        run.store.attach("source", REJECTS)
    else:
        run.store.detach("source", REJECTS)
    run.describe(read=accounts)
    return graphs


def _formats(run: Run, wanted: Sequence[str]) -> list[str]:
    """The formats asked for, and those that the folder has from before: none is left with an old answer."""
    written = [*run.manifest.get("results", ()), *run.manifest.get("outdated", ())]
    kept = [name for name, format in FORMATS.items() if format.file_name in written and name not in wanted]
    return [*wanted, *kept]


def write_results(
    alignment: Alignment, folder: Path, formats: Iterable[str], predicate: str | None = None
) -> list[str]:
    """Write the alignment in each format, doubtful pairs, unmatched entities and, if any, equal IRIs.

    Returns the names of the files. What was written is counted: every entity that can be linked has to be in
    one accepted pair, in one doubtful pair, unmatched, or the same by its IRI.
    """
    linkable = linkable_entities(alignment.source, alignment.target)
    writers: dict[str, Callable[[IO[bytes]], Any]] = {
        find_format(name).file_name: partial(write_alignment, alignment, format=name, predicate=predicate)
        for name in formats
    }
    links = list(writers)
    writers[DOUBTFUL_FILE_NAME] = partial(write_doubtful, alignment)
    writers[UNMATCHED_FILE_NAME] = partial(write_unmatched, alignment)
    if len(alignment.same):
        writers[SAME_IRI_FILE_NAME] = partial(write_same_iri, alignment)
    else:
        (folder / SAME_IRI_FILE_NAME).unlink(missing_ok=True)

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
        )
    return list(writers)


def write(
    alignment: Alignment, path: Place, format: str | None = None, *, predicate: str | None = None
) -> None:
    """Write an alignment to one file: SSSOM, N-Triples, Alignment API, TSV or Parquet.

    Without a `format`, the name tells: `.sssom.tsv`, `.nt`, `.rdf`, `.tsv` or `.parquet`. `predicate` is a
    CURIE or an IRI for all links; without one, it follows from what the entities are.

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
    with atomic_write(place) as file:
        write_alignment(alignment, file, name, predicate)


def _graph(side: str, given: Any, same_iri: bool) -> KnowledgeGraph:
    if isinstance(given, KnowledgeGraph):
        return given if same_iri else replace(given, global_ids=False)
    if isinstance(given, str | os.PathLike):
        return read_graph(Path(given), ReadOptions(same_iri=same_iri))
    raise TypeError(f"{side} must be a KnowledgeGraph or a path, not {type(given).__name__}")


def _links(seeds: Any, source: KnowledgeGraph, target: KnowledgeGraph) -> Links:
    """Seeds as links, from whatever form they were given in."""
    if seeds is None:
        return Links.none()
    if isinstance(seeds, Links):
        return Task(source, target, seeds).seeds  # refuses ids that are not there
    if isinstance(seeds, str | os.PathLike):
        return resolve(read_links(Path(seeds)), source, target)
    pairs: list[Any] = list(seeds) if isinstance(seeds, Iterable) else [None]
    if not all(_is_pair_of_iris(pair) for pair in pairs):
        raise TypeError("seeds must be Links, the path of a link file, or pairs of IRIs")
    found = source.find(strings(a for a, _ in pairs)), target.find(strings(b for _, b in pairs))
    for side, position in (("source", 0), ("target", 1)):
        unknown = np.flatnonzero(found[position] < 0)
        if len(unknown):
            raise UsageError(
                f"{len(unknown)} seeds name entities that the {side} graph does not have, for example "
                f"{pairs[int(unknown[0])][position]!r}"
            )
    return Links(np.column_stack(found))


def _is_pair_of_iris(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(iri, str) for iri in given)
