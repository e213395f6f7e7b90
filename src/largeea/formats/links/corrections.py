"""What people know about pairs, from link files and reviews, as seeds and forbidden pairs.

Judgements may contradict each other. A review counts more than a file: somebody has looked at this pair in
this run. Among files, a forbidden pair counts more than a link. Where an entity may have one counterpart, the
reviewed one counts, else the one with the highest confidence. All of this is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import IO

import numpy as np
import pyarrow as pa

from largeea.errors import InputError
from largeea.formats.links.model import LinkTable
from largeea.formats.links.resolution import resolve_known
from largeea.formats.links.tsv import write_header, write_rows
from largeea.formats.prefixes import find_entities
from largeea.graph import Arrays, Bool, KnowledgeGraph, Links, strings
from largeea.matching.cardinality import Cardinality
from largeea.matching.decision import greedy_one_to_one
from largeea.progress import warn
from largeea.similarity import Similarity

_SHOWN = 3


@dataclass(frozen=True)
class Judged:
    """Pairs by IRI that one file, or the reviews of a run, call right or wrong."""

    confirmed: LinkTable | None
    rejected: LinkTable | None
    by_review: bool = False

    @property
    def has_both_verdicts(self) -> bool:
        """Whether right and wrong pairs were recorded alike, so that they show how often pairs are right."""
        return self.by_review or bool(self.confirmed and self.rejected)


@dataclass(frozen=True)
class GivenPairs:
    """The pairs of all files and reviews, by id."""

    seeds: Links = field(default_factory=Links.none)
    forbidden: Links = field(default_factory=Links.none)
    reviewed: Links = field(default_factory=Links.none)
    """Pairs of which people have said whether they are right (weight 1) or wrong (weight 0)."""
    further: Links = field(default_factory=Links.none)
    """Right pairs besides the seeds, which are one-to-one, where entities may have several counterparts."""

    def to_arrays(self) -> Arrays:
        """Return everything as arrays by name, to be stored."""
        arrays: Arrays = {}
        for kind in fields(self):
            links: Links = getattr(self, kind.name)
            arrays[kind.name] = links.pairs
            if links.weight is not None:
                arrays[f"{kind.name}/weight"] = links.weight
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> GivenPairs:
        """Read the arrays of `to_arrays`."""
        names = [kind.name for kind in fields(cls)]
        return cls(
            *(
                Links(arrays[name], arrays.get(f"{name}/weight")) if name in arrays else Links.none()
                for name in names
            )
        )


def merge_corrections(
    judged: Sequence[Judged],
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    cardinality: Cardinality = Cardinality.ONE_TO_ONE,
) -> tuple[GivenPairs, list[pa.Table]]:
    """Resolve all judgements against both graphs and against each other.

    `cardinality` says how many counterparts an entity may have.

    Pairs with entities that a graph does not have are left out and come back as tables: source, target,
    verdict, place in the file, and which of the two is missing. It is an error if a file has no other pairs,
    or if a file calls a pair both right and wrong.
    """
    show = _namer(source, target)
    unused: list[pa.Table] = []
    links: dict[tuple[bool, bool], list[Links]] = {}
    labelled: list[Links] = []
    for origin in judged:
        tables = {True: origin.confirmed, False: origin.rejected}
        found = {
            right: _resolved(table, right, origin.by_review, source, target, unused)
            for right, table in tables.items()
            if table
        }
        if cardinality is Cardinality.WITHIN:
            found = {right: _once(some, show) for right, some in found.items()}
        if origin.confirmed and origin.rejected:
            both = found[True].take(found[True].are_in(found[False]))
            _refuse_contradiction(origin.confirmed, both, show)
        for right, some in found.items():
            links.setdefault((right, origin.by_review), []).append(some)
        if origin.has_both_verdicts:
            labelled += found.values()
    confirmed, rejected = (joined_links(links.get((right, True), [])) for right in (True, False))
    seeds, forbidden = (joined_links(links.get((right, False), [])) for right in (True, False))
    forbidden = _minus(forbidden, confirmed, "forbidden pairs were confirmed by a review, which counts", show)
    seeds = _minus(seeds, rejected, "links were rejected by a review, which counts", show)
    seeds = _minus(seeds, forbidden, "links are forbidden as well; they count as forbidden", show)
    forbidden = joined_links([forbidden, rejected])
    all_right = joined_links([confirmed, seeds])
    seeds, further = _without_contradictions(
        all_right, confirmed, source.linkable, target.linkable, cardinality, show
    )
    known = joined_links(labelled)
    is_right = known.are_in(seeds) | known.are_in(further)
    reviewed = Links(known.pairs, is_right.astype(np.float32)).take(is_right | known.are_in(forbidden))
    return GivenPairs(seeds, Links(forbidden.pairs), reviewed, further), unused


def write_unused(unused: Sequence[pa.Table], file: IO[bytes]) -> None:
    """Write the unused pairs: source, target, verdict, where they stand, and which of the two is missing."""
    rows = pa.concat_tables(unused)
    write_header(file, rows.column_names)
    write_rows(file, ([batch[name] for name in rows.column_names] for batch in rows.to_batches()))


def _resolved(
    table: LinkTable,
    right: bool,
    by_review: bool,
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    unused: list[pa.Table],
) -> Links:
    """The links of a table between known entities; the others are appended to `unused`.

    Reviews may all be unused: the graphs have changed since.
    """
    try:
        links, known = resolve_known(table, source, target)
    except InputError:
        if not by_review:
            raise
        links, known = Links.none(), np.zeros(len(table), bool)
    if not known.all():
        unused.append(_unused(table, np.flatnonzero(~known), right, source, target))
    return links.canonical()


def _unused(
    table: LinkTable, rows: np.ndarray, right: bool, source: KnowledgeGraph, target: KnowledgeGraph
) -> pa.Table:
    ends = [column.take(pa.array(rows)) for column in (table.source, table.target)]
    missing = [find_entities(graph, column) < 0 for graph, column in zip((source, target), ends, strict=True)]
    sides = np.where(missing[0], np.where(missing[1], "source and target", "source"), "target")
    shown = [
        f"{table.place(int(row))}: the {side} of {one.as_py()} - {other.as_py()}"
        for row, side, one, other in zip(rows[:_SHOWN], sides, *ends, strict=False)
    ]
    warn(
        f"{len(rows):,} of {len(table):,} pairs in {table.path} are not used, because a graph does not have "
        f"their entities: {'; '.join(shown)}{'; ...' if len(rows) > _SHOWN else ''}"
    )
    count = len(rows)
    return pa.table(
        {
            "source": strings(ends[0]),
            "target": strings(ends[1]),
            "verdict": strings(["right" if right else "wrong"] * count),
            "place": strings(table.place(row) for row in rows.tolist()),
            "missing": strings(sides.tolist()),
        }
    )


def _refuse_contradiction(table: LinkTable, both: Links, show: Callable[[Links], str]) -> None:
    """Raise `InputError` if there are pairs that the file calls both right and wrong."""
    if len(both):
        raise InputError(
            f"calls {len(both)} pairs both right and wrong; remove one row of each: {show(both)}", table.path
        )


def joined_links(parts: Sequence[Links]) -> Links:
    """All links of some parts, each pair once; without weights if no part has any."""
    kept = [part for part in parts if len(part)]
    if not kept:
        return Links.none()
    pairs = np.concatenate([part.pairs for part in kept])
    if all(part.weight is None for part in kept):
        return Links(pairs).canonical()
    weights = [np.ones(len(part), np.float32) if part.weight is None else part.weight for part in kept]
    return Links(pairs, np.concatenate(weights)).canonical()


def _minus(links: Links, others: Links, what: str, show: Callable[[Links], str]) -> Links:
    """The links that are not among the others; those that are, are told."""
    both = links.are_in(others)
    if both.any():
        warn(f"{int(both.sum()):,} {what}: {show(links.take(both))}")
    return links.take(~both)


def _once(links: Links, show: Callable[[Links], str]) -> Links:
    """Links within one graph, the smaller id first; pairs of an entity and itself are told and left out."""
    itself = links.source == links.target
    if itself.any():
        warn(
            f"{int(itself.sum()):,} given pairs are left out: they pair an entity with itself: "
            f"{show(links.take(itself))}"
        )
    others = links.take(~itself)
    return Links(np.sort(others.pairs, axis=1), others.weight).canonical()


def _without_contradictions(
    right: Links,
    reviewed: Links,
    sources: Bool,
    targets: Bool,
    cardinality: Cardinality,
    show: Callable[[Links], str],
) -> tuple[Links, Links]:
    """One-to-one seeds, and the further pairs that the cardinality allows; those that it does not are told.

    Reviewed pairs count most, then pairs of entities in the masks, which can be linked, then the confidence.
    """
    weight = np.ones(len(right), np.float32) if right.weight is None else right.weight
    rank = weight + 2 * (sources[right.source] & targets[right.target]) + 4 * right.are_in(reviewed)

    def ranked(some: Bool) -> Similarity:
        ends = right.source[some], right.target[some]
        return Similarity.from_entries(*ends, rank[some], (len(sources), len(targets)))

    allowed = np.ones(len(right), bool)
    if cardinality.one_source != cardinality.one_target:
        allowed = right.are_in(cardinality.best_pairs(ranked(allowed)))
    seeds = right.are_in(greedy_one_to_one(ranked(allowed)))
    if cardinality is Cardinality.ONE_TO_ONE:
        allowed = seeds
    if not allowed.all():
        warn(
            f"{int((~allowed).sum()):,} seeds are left out: they contradict other seeds, which count more by "
            f"review, by confidence or by order: {show(right.take(~allowed))}"
        )
    return right.take(seeds), right.take(allowed & ~seeds)


def _namer(source: KnowledgeGraph, target: KnowledgeGraph) -> Callable[[Links], str]:
    """A function that shows the first links by their IRIs."""

    def show(links: Links) -> str:
        pairs = links.pairs[:_SHOWN].tolist()
        shown = (f"{source.entities[one].as_py()} - {target.entities[other].as_py()}" for one, other in pairs)
        return ", ".join(shown) + (", ..." if len(links) > _SHOWN else "")

    return show
