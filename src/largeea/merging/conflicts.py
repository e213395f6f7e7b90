"""Conflicts: merged entities with different values of a property that has one value in both graphs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.evidence.literals import comparable
from largeea.formats.links.text import joined
from largeea.formats.links.tsv import write_header, write_rows
from largeea.graph import Bool, Float64, Int32, Int64, KnowledgeGraph, Strings
from largeea.graph.lookup import places_in
from largeea.graph.ranges import expand_ranges
from largeea.merging.terms import Terms

FUNCTIONAL_SHARE = 0.95
"""A property is functional in a graph if at least this share of its subjects has one value of it."""
COMPARED_AT_ONCE = 1 << 16
_COLUMNS = ("entity", "property", "source_value", "target_value")


class Side(NamedTuple):
    """A graph, its terms, and the merged entity that each of its entities is, `merged[size]`; -1 if none."""

    graph: KnowledgeGraph
    terms: Terms
    merged: Int64


class Slots(NamedTuple):
    """The properties of the statements of one graph: `names[p]`, and the property of each row, `[n]`.

    Values in different languages do not contradict each other, so each language has a property of its own.
    """

    names: Strings
    property: Int32


def write_conflicts(source: Side, target: Side, file: IO[bytes]) -> int:
    """Write a row for each conflict: merged entity, property and both values; the number of rows.

    Where several entities of a graph are one merged entity, each of them is compared. Within one graph, which
    is both source and target, every two of them are compared once.

    Literals are compared with literals and IRIs with IRIs. Two IRIs are a conflict if a link says that at
    least one of them is the same as a third; if no link says anything about them, they may be the same. A
    blank node may stand for anything.
    """
    write_header(file, _COLUMNS)
    return write_rows(file, _conflicts_of_literals(source, target)) + write_rows(
        file, _conflicts_of_relations(source, target)
    )


def _conflicts_of_literals(source: Side, target: Side) -> Iterator[list[Strings]]:
    sides = source, target
    entities = tuple(side.graph.attributes.entity for side in sides)
    slots = tuple(_literal_slots(side) for side in sides)
    literals = source.graph.attributes, target.graph.attributes
    for rows in _with_one_value(sides, entities, slots):
        ours, theirs = (_take(side.values, side.value[row]) for side, row in zip(literals, rows, strict=True))
        different = pc.not_equal(*(pc.fill_null(comparable(values), "") for values in (ours, theirs)))
        kept = np.asarray(different, bool)
        yield [
            _entity_terms(source, entities[0][rows[0][kept]]),
            _plain(source.terms.iris(_take(literals[0].predicates, literals[0].predicate[rows[0][kept]]))),
            ours.filter(different),
            theirs.filter(different),
        ]


def _conflicts_of_relations(source: Side, target: Side) -> Iterator[list[Strings]]:
    sides = source, target
    heads = tuple(side.graph.triples[:, 0] for side in sides)
    slots = tuple(Slots(side.terms.iris(side.graph.relations), side.graph.triples[:, 1]) for side in sides)
    for ours, theirs in _with_one_value(sides, heads, slots):
        tails = [side.graph.triples[rows, 2] for side, rows in ((source, ours), (target, theirs))]
        first, second = (side.merged[tail] for side, tail in zip(sides, tails, strict=True))
        blank = source.graph.anonymous[tails[0]] | target.graph.anonymous[tails[1]]
        different = (first != second) & ~blank
        yield [
            _entity_terms(source, heads[0][ours[different]]),
            _plain(
                source.terms.iris(_take(source.graph.relations, source.graph.triples[ours[different], 1]))
            ),
            *(
                _plain(side.terms.nodes(_take(side.graph.entities, tail[different])))
                for side, tail in zip(sides, tails, strict=True)
            ),
        ]


def _literal_slots(side: Side) -> Slots:
    """Each predicate in each language as a property of its own."""
    attributes = side.graph.attributes
    is_language = np.asarray(pc.starts_with(attributes.tags, "@"), bool)
    language = np.where(is_language, np.arange(1, len(attributes.tags) + 1), 0)
    keys = attributes.predicate.astype(np.int64) * (len(attributes.tags) + 1) + language[attributes.tag]
    found, property = np.unique(keys, return_inverse=True)
    predicate, tag = np.divmod(found, len(attributes.tags) + 1)
    tags = attributes.tags.take(pa.array(tag - 1, mask=tag == 0))
    names = joined(side.terms.iris(_take(attributes.predicates, predicate)), pc.fill_null(tags, ""))
    return Slots(names, property.astype(np.int32))


def _with_one_value(
    sides: tuple[Side, Side], subjects: tuple[Int32, ...], slots: tuple[Slots, ...]
) -> Iterator[tuple[Int64, Int64]]:
    """Blocks of rows of the source and of the target, `[n]` each: values of one functional property.

    Their subjects are the same merged entity, and each has no other value of the property.
    """
    theirs = places_in(slots[0].names, slots[1].names)
    common = np.full(len(slots[1].names), -1, np.int64)
    common[theirs[theirs >= 0]] = np.flatnonzero(theirs >= 0)
    numbers = np.where(theirs >= 0, np.arange(len(theirs)), -1), common
    ours, others = (
        _single(side.merged, subject, number[slot.property], len(theirs))
        for side, subject, slot, number in zip(sides, subjects, slots, numbers, strict=True)
    )
    functional = (ours.share >= FUNCTIONAL_SHARE) & (others.share >= FUNCTIONAL_SHARE)
    kept = functional[ours.key % max(len(theirs), 1)]
    within = sides[0] is sides[1]
    for row, other in _joined(ours.key[kept], ours.row[kept], others):
        once = subjects[0][row] < subjects[1][other] if within else slice(None)
        yield row[once], other[once]


def _joined(keys: Int64, rows: Int64, others: _Single) -> Iterator[tuple[Int64, Int64]]:
    """Blocks of the given rows, and of the others with the same key; keys ascend."""
    first, last = (np.searchsorted(others.key, keys, side) for side in ("left", "right"))
    count = last - first
    for block in np.split(np.arange(len(keys)), _cuts(count)):
        row, place = expand_ranges(first[block], count[block])
        yield rows[block[row]], others.row[place]


def _cuts(count: Int64) -> Int64:
    """Where to cut rows, so that about `COMPARED_AT_ONCE` of their counts are in a block."""
    blocks = np.cumsum(count) // COMPARED_AT_ONCE
    return np.flatnonzero(np.diff(blocks)) + 1


class _Single(NamedTuple):
    """Entities with one value of a property: `key` (merged entity and property), ascending, and `row`, `[n]`.

    `share[properties]` is the share of all subjects of a property that have one value.
    """

    key: Int64
    row: Int64
    share: Float64


def _single(merged: Int64, subject: Int32, property: Int64, properties: int) -> _Single:
    rows = np.flatnonzero(property >= 0)
    keys = subject[rows].astype(np.int64) * properties + property[rows]
    found, first, counts = np.unique(keys, return_index=True, return_counts=True)
    single: Bool = counts == 1
    place = found % properties if properties else found
    subjects = np.bincount(place, minlength=properties)
    share = np.bincount(place[single], minlength=properties) / np.maximum(subjects, 1)
    rows, place = rows[first[single]], place[single]
    entity = merged[subject[rows]]
    known = np.flatnonzero(entity >= 0)
    keys = entity[known] * properties + place[known]
    order = np.argsort(keys, kind="stable")
    return _Single(keys[order], rows[known[order]], share)


def _entity_terms(source: Side, entities: Int32) -> Strings:
    return _plain(source.terms.nodes(_take(source.graph.entities, entities)))


def _plain(terms: Strings) -> Strings:
    """IRIs without their angle brackets; labels of blank nodes stay."""
    return pc.replace_substring_regex(terms, "^<(.*)>$", r"\1")


def _take(column: Strings, places: Int32 | Int64) -> Strings:
    return column.take(pa.array(places))
