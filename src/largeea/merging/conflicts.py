"""Conflicts: merged entities with different values of a property that has one value in both graphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.evidence.literals import comparable
from largeea.formats.links.text import joined
from largeea.formats.links.tsv import write_header, write_rows
from largeea.graph import Bool, Float64, Int32, Int64, KnowledgeGraph, Links, Strings
from largeea.merging.terms import Terms

FUNCTIONAL_SHARE = 0.95
"""A property is functional in a graph if at least this share of its subjects has one value of it."""
COMPARED_AT_ONCE = 1 << 16
_COLUMNS = ("entity", "property", "source_value", "target_value")


@dataclass(frozen=True, eq=False)
class Side:
    """A graph, its terms, and the merged entity that each of its entities is, `merged[size]`; -1 if none."""

    graph: KnowledgeGraph
    terms: Terms
    merged: Int32

    @classmethod
    def of(cls, graph: KnowledgeGraph, terms: Terms, entities: Int32) -> Side:
        """The side with `entities[n]`: merged entity n is this entity here."""
        merged = np.full(graph.size, -1, np.int32)
        merged[entities] = np.arange(len(entities), dtype=np.int32)
        return cls(graph, terms, merged)


class Slots(NamedTuple):
    """The properties of the statements of one graph: `names[p]`, and the property of each row, `[n]`.

    Values in different languages do not contradict each other, so each language has a property of its own.
    """

    names: Strings
    property: Int32


def write_conflicts(source: Side, target: Side, pairs: Links, file: IO[bytes]) -> int:
    """Write a row for each conflict: merged entity, property and both values; the number of rows.

    Literals are compared with literals and IRIs with IRIs. Two IRIs are a conflict if a link says that at
    least one of them is the same as a third; if no link says anything about them, they may be the same. A
    blank node may stand for anything.
    """
    write_header(file, _COLUMNS)
    return write_rows(file, _conflicts_of_literals(source, target, pairs)) + write_rows(
        file, _conflicts_of_relations(source, target, pairs)
    )


def _conflicts_of_literals(source: Side, target: Side, pairs: Links) -> Iterator[list[Strings]]:
    sides = source, target
    entities = tuple(side.graph.attributes.entity for side in sides)
    slots = tuple(_literal_slots(side) for side in sides)
    literals = source.graph.attributes, target.graph.attributes
    for merged, *rows in _with_one_value(sides, entities, slots):
        ours, theirs = (_take(side.values, side.value[row]) for side, row in zip(literals, rows, strict=True))
        different = pc.not_equal(*(pc.fill_null(comparable(values), "") for values in (ours, theirs)))
        kept = np.asarray(different, bool)
        yield [
            _entity_terms(source, pairs, merged[kept]),
            _plain(source.terms.iris(_take(literals[0].predicates, literals[0].predicate[rows[0][kept]]))),
            ours.filter(different),
            theirs.filter(different),
        ]


def _conflicts_of_relations(source: Side, target: Side, pairs: Links) -> Iterator[list[Strings]]:
    sides = source, target
    heads = tuple(side.graph.triples[:, 0] for side in sides)
    slots = tuple(Slots(side.terms.iris(side.graph.relations), side.graph.triples[:, 1]) for side in sides)
    for merged, ours, theirs in _with_one_value(sides, heads, slots):
        tails = [side.graph.triples[rows, 2] for side, rows in ((source, ours), (target, theirs))]
        first, second = (side.merged[tail] for side, tail in zip(sides, tails, strict=True))
        blank = source.graph.anonymous[tails[0]] | target.graph.anonymous[tails[1]]
        different = (first != second) & ~blank
        yield [
            _entity_terms(source, pairs, merged[different]),
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
) -> Iterator[tuple[Int64, Int64, Int64]]:
    """Blocks of merged entities with one value of a functional property on both sides.

    `(merged entity[n], row of the source[n], row of the target[n])`.
    """
    theirs = np.asarray(pc.fill_null(pc.index_in(slots[0].names, slots[1].names), -1), np.int64)
    common = np.full(len(slots[1].names), -1, np.int64)
    common[theirs[theirs >= 0]] = np.flatnonzero(theirs >= 0)
    numbers = np.where(theirs >= 0, np.arange(len(theirs)), -1), common
    found = [
        _single(side.merged, subject, number[slot.property], len(theirs))
        for side, subject, slot, number in zip(sides, subjects, slots, numbers, strict=True)
    ]
    functional = (found[0].share >= FUNCTIONAL_SHARE) & (found[1].share >= FUNCTIONAL_SHARE)
    keys, first, second = np.intersect1d(found[0].key, found[1].key, assume_unique=True, return_indices=True)
    kept = functional[keys % len(theirs)] if len(keys) else np.zeros(0, bool)
    keys, ours, others = keys[kept], found[0].row[first[kept]], found[1].row[second[kept]]
    for start in range(0, len(keys), COMPARED_AT_ONCE):
        block = slice(start, start + COMPARED_AT_ONCE)
        yield keys[block] // len(theirs), ours[block], others[block]


class _Single(NamedTuple):
    """Merged entities with one value of a property: `key` (entity and property), `row` of the value, `[n]`.

    `share[properties]` is the share of all subjects of a property that have one value.
    """

    key: Int64
    row: Int64
    share: Float64


def _single(merged: Int32, subject: Int32, property: Int64, properties: int) -> _Single:
    rows = np.flatnonzero(property >= 0)
    keys = subject[rows].astype(np.int64) * properties + property[rows]
    found, first, counts = np.unique(keys, return_index=True, return_counts=True)
    single: Bool = counts == 1
    place = found % properties if properties else found
    subjects = np.bincount(place, minlength=properties)
    share = np.bincount(place[single], minlength=properties) / np.maximum(subjects, 1)
    rows, place = rows[first[single]], place[single]
    entity = merged[subject[rows]].astype(np.int64)
    known = entity >= 0
    return _Single(entity[known] * properties + place[known], rows[known], share)


def _entity_terms(source: Side, pairs: Links, merged: Int64) -> Strings:
    return _plain(source.terms.nodes(_take(source.graph.entities, pairs.source[merged])))


def _plain(terms: Strings) -> Strings:
    """IRIs without their angle brackets; labels of blank nodes stay."""
    return pc.replace_substring_regex(terms, "^<(.*)>$", r"\1")


def _take(column: Strings, places: Int32 | Int64) -> Strings:
    return column.take(pa.array(places))
