"""Graphs and what is known about their pairs, from memory or from files, as the inputs of a run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from largeea.constraints import candidate_rules, read_compatible, scoped
from largeea.execution.stages import Handle
from largeea.formats import ReadOptions, Stored, read_both, read_graph
from largeea.formats.frames import graph_of_table, is_table
from largeea.formats.links import (
    UNUSED_FILE_NAME,
    GivenPairs,
    Judged,
    LinkTable,
    merge_corrections,
    read_forbidden,
    read_judged,
    write_unused,
)
from largeea.formats.links.resolution import resolve_known
from largeea.formats.scope import NO_SCOPE, Scope, in_scope
from largeea.graph import Arrays, KnowledgeGraph, Links, Task, strings
from largeea.matching.cardinality import Cardinality
from largeea.pipeline import Inputs
from largeea.progress import note
from largeea.reviews import FILE as REVIEWS_FILE
from largeea.reviews import read_reviews
from largeea.runs.accounting import account_in_words, account_of
from largeea.runs.artifacts import content_hash
from largeea.runs.files import atomic_write
from largeea.runs.folder import Run
from largeea.runs.inputs import check_unchanged, identity, record_inputs
from largeea.runs.request import Request

REJECTS = "rejects.tsv"
Place: TypeAlias = str | os.PathLike[str]
Seeds: TypeAlias = Links | Place | Iterable[tuple[str, str]]


def given_inputs(
    run: Run,
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    given: Links | GivenPairs,
    hashes: list[str] | None = None,
    within: bool = False,
    scope: Scope = NO_SCOPE,
) -> Inputs:
    """Graphs, and seeds or all that is known about pairs, that are in memory, as the inputs of a run."""
    first, second = hashes or [content_hash(graph) for graph in (source, target)]
    ours = run.stage.given("source", first, lambda: source, read_graph)
    theirs = run.stage.given("target", f"target {second}", lambda: target, read_graph)
    pairs = (given if isinstance(given, GivenPairs) else GivenPairs(given)).to_arrays()
    known = run.stage.given("given-pairs", content_hash(pairs), lambda: pairs, merge_corrections)
    return Inputs(ours, theirs, known, within, scope_rules(scope, run, ours, theirs))


def file_inputs(
    request: Request, run: Run, cardinality: Cardinality, stored: Stored = MappingProxyType({})
) -> Inputs:
    """Graphs and given pairs of a request: read when a run needs them and does not have them.

    What is matched depends on both graphs, so each graph is identified by the files of both. Those that are
    `stored` are not read. The `cardinality` says which given pairs contradict each other.
    """
    known = run.manifest.get("inputs", ())
    files = request.files() | {"reviews": _reviews(request, run)}
    records = {name: record_inputs(paths, known) for name, paths in files.items()}
    run.manifest["inputs"] = [record for some in records.values() for record in some]
    read = cache(lambda: _read(request, run, stored))
    of_both = [*records["source"], *records["target"]]
    reading = f"{len(records['source'])} {request.reading!r}"
    reader: Callable[..., Any] = read_both
    if request.scope.selects:
        reader = scoped
        of_both += [*records["left_out"], *records["seeds"]]
        how = replace(request.scope, leave_out=None, compatible_types=None, block_by=())
        reading += f" {len(records['left_out'])} {how!r}"
    source = run.stage.given("source", identity(of_both, f"source {reading}"), lambda: read()[0], reader)
    target = run.stage.given("target", identity(of_both, f"target {reading}"), lambda: read()[1], reader)
    kinds = "seeds", "forbidden", "reviews"
    counts = " ".join(str(len(records[kind])) for kind in kinds)
    of_pairs = identity(
        [one for kind in kinds for one in records[kind]], f"{source.key} {target.key} {counts} {cardinality}"
    )
    given = run.stage.given(
        "given-pairs",
        of_pairs,
        lambda: _read_pairs(files, run, source.value, target.value, cardinality),
        merge_corrections,
    )
    rules = scope_rules(request.scope, run, source, target)
    return Inputs(source, target, given, request.within, rules)


def scope_rules(
    scope: Scope, run: Run, source: Handle[KnowledgeGraph], target: Handle[KnowledgeGraph]
) -> Handle[Arrays] | None:
    """The rules that candidates obey by a scope; None if it has none."""
    compatible = () if scope.compatible_types is None else read_compatible(scope.compatible_types)
    if not (scope.block_by or compatible):
        return None
    return run.stage("candidate-rules", candidate_rules, source, target, scope.block_by, compatible)


def _reviews(request: Request, run: Run) -> list[Path]:
    """The file of reviews in the run folder, if it counts and exists."""
    assert run.folder is not None
    place = run.folder / REVIEWS_FILE
    if not place.exists():
        return []
    if not request.with_reviews:
        note(f"{place} does not count; to count it: largeea resume {run.folder} --with-reviews")
    return [place] if request.with_reviews else []


def _read_pairs(
    files: dict[str, list[Path]],
    run: Run,
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    cardinality: Cardinality,
) -> Arrays:
    """Read all that people say about pairs; pairs that cannot be used are listed in the run's folder."""
    assert run.folder is not None
    judged = [*map(read_judged, files["seeds"]), *map(read_forbidden, files["forbidden"])]
    for place in files["reviews"]:
        reviews = read_reviews(run.folder)
        confirmed, rejected = _table(place, reviews.confirmed), _table(place, reviews.rejected)
        judged.append(Judged(confirmed, rejected, by_review=True))
    given, unused = merge_corrections(judged, source, target, cardinality)
    if unused:
        with atomic_write(run.folder / UNUSED_FILE_NAME) as file:
            write_unused(unused, file)
        note(f"all pairs that are not used are listed in {run.folder / UNUSED_FILE_NAME}")
        run.store.attach("given-pairs", UNUSED_FILE_NAME)
    else:
        run.store.detach("given-pairs", UNUSED_FILE_NAME)
    return given.to_arrays()


def _read(request: Request, run: Run, stored: Stored) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """Read both graphs and account for every statement; malformed ones are listed in the run's folder.

    Links that a pair folder holds stay out: they are for evaluation.
    """
    assert run.folder is not None
    rejects = request.reading.new_rejects(request.source)
    if request.within:
        graph = read_graph(request.source, request.reading, rejects)
        graphs = in_scope(graph, graph, request.reading.match)
    else:
        graphs = read_both(request.source, request.target, request.reading, rejects, stored)
    if request.scope.selects:
        files = request.files()
        tables = [judged.confirmed for judged in map(read_judged, files["seeds"]) if judged.confirmed]
        links = [resolve_known(table, *graphs)[0].pairs for table in tables]
        known = Links(np.concatenate([Links.none().pairs, *links]))
        graphs = scoped(*graphs, request.scope, request.reading, (files["source"], files["target"]), known)
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


def graph_of(side: str, given: Any, same_iri: bool) -> KnowledgeGraph:
    """A graph that was given as such, as a path or as a table."""
    if isinstance(given, KnowledgeGraph):
        return given if same_iri else replace(given, global_ids=False)
    if isinstance(given, str | os.PathLike):
        return read_graph(Path(given), ReadOptions(same_iri=same_iri))
    if is_table(given):
        return graph_of_table(given, name=side)
    raise TypeError(f"{side} must be a KnowledgeGraph, a path or a table, not {type(given).__name__}")


def given_pairs(
    seeds: Any, forbidden: Any, source: KnowledgeGraph, target: KnowledgeGraph, cardinality: Cardinality
) -> GivenPairs:
    """Seeds and forbidden pairs as links, from whatever form they were given in."""
    judged = []
    for name, given, read in (("seeds", seeds, read_judged), ("forbidden", forbidden, read_forbidden)):
        if isinstance(given, str | os.PathLike):
            judged.append(read(Path(given)))
        elif given is not None:
            table = _named_links(name, given, source, target)
            judged.append(Judged(table, None) if name == "seeds" else Judged(None, table))
    return merge_corrections(judged, source, target, cardinality)[0]


def _named_links(name: str, given: Any, source: KnowledgeGraph, target: KnowledgeGraph) -> LinkTable:
    """Links or pairs of IRIs as a table that goes by `name` in messages."""
    if isinstance(given, Links):
        links = Task(source, target, given).seeds  # refuses ids that are not there
        ends = source.entities.take(links.source), target.entities.take(links.target)
        return LinkTable(Path(name), *ends, links.weight)
    pairs: list[Any] = list(given) if isinstance(given, Iterable) else [None]
    if not all(_is_pair_of_iris(pair) for pair in pairs):
        raise TypeError(f"{name} must be Links, the path of a link file, or pairs of IRIs")
    return _table(Path(name), pairs)


def _table(path: Path, pairs: Iterable[tuple[str, str]]) -> LinkTable:
    columns = list(zip(*pairs, strict=True)) or [(), ()]
    return LinkTable(path, *map(strings, columns))


def _is_pair_of_iris(given: Any) -> bool:
    return isinstance(given, tuple | list) and len(given) == 2 and all(isinstance(iri, str) for iri in given)
