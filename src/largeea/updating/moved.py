"""What became of the entities of two graphs: their new ids, and which of them changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from largeea.graph import Arrays, Bool, Float32, Int32, Int64, KnowledgeGraph, Strings
from largeea.graph.interning import encoded
from largeea.graph.lookup import places_in
from largeea.names.rows import Columns, NameRows, Names
from largeea.similarity import Similarity
from largeea.similarity.arrays import row_pointers

SIDES = "source", "target"


def moved_entities(
    old_source: KnowledgeGraph, old_target: KnowledgeGraph, source: KnowledgeGraph, target: KnowledgeGraph
) -> Arrays:
    """Where the entities of the old graphs are in the new ones, and how much entities of these changed.

    `source`, `target`: the new id of each old entity, int32, -1 if it is gone. `changed_source`,
    `changed_target`: of the triples and literals that each new entity has or had, the share that only one
    version has, float32; 1 if the entity is new or of another kind.
    """
    found: Arrays = {}
    for side, old, new in zip(SIDES, (old_source, old_target), (source, target), strict=True):
        found[side] = _places(old.entities, new.entities)
        found[f"changed_{side}"] = _changed(old, new, found[side])
    return found


def renamed_entities(old_rows: Columns, rows: Columns, moved: Arrays) -> Arrays:
    """Whether each new entity has no old one, or other names or another kind, bool `[size]` of each side."""
    old, new = Names.from_columns(old_rows), Names.from_columns(rows)
    return {side: _renamed(getattr(old, side), getattr(new, side), moved[side]) for side in SIDES}


def moved_matrix(old: Similarity, moved: Arrays, stale: Arrays | None = None) -> Similarity:
    """The old scores with the new ids, without those of entities that are gone or `stale`.

    Graphs number their entities in the order of IRIs, so that targets stay in ascending order.
    """
    kept = [moved[side] >= 0 for side in SIDES]
    if stale is not None:
        for mask, side in zip(kept, SIDES, strict=True):
            mask[mask] = ~stale[side][moved[side][mask]]
    left = old.restrict(*kept)
    shape = len(moved["changed_source"]), len(moved["changed_target"])
    counts = np.zeros(shape[0], np.int64)
    counts[moved["source"][kept[0]]] = np.diff(left.indptr)[kept[0]]
    return Similarity(shape, row_pointers(counts), moved["target"][left.indices], left.scores, left.floor)


def something_changed(moved: Arrays) -> bool:
    """Whether an entity is new, changed or gone."""
    return any((moved[f"changed_{side}"] > 0).any() or (moved[side] < 0).any() for side in SIDES)


def share_changed(moved: Arrays) -> float:
    """The share of the new entities that are new or changed, of the side where it is higher."""
    return max(float((moved[f"changed_{side}"] > 0).mean()) for side in SIDES)


def _places(words: Strings, among: Strings) -> Int32:
    """The position of each text among others, `[n]`, -1 if it is not there."""
    return places_in(words, among)


def _changed(old: KnowledgeGraph, new: KnowledgeGraph, moved: Int32) -> Float32:
    relation = _places(old.relations, new.relations)
    head, by, tail = old.triples.T
    triples = _rows(moved[head], relation[by], moved[tail]), new.triples, [0, 2]
    literals = _literals(old, new, moved), new.attributes.rows, [0]
    differing, all_there = np.zeros(new.size), np.zeros(new.size)
    for before, now, ends in (triples, literals):
        differing += _counts(_differing(before, now)[:, ends], new.size)
        all_there += _counts(before[:, ends], new.size) + _counts(now[:, ends], new.size)
    share = differing / np.maximum(all_there, 1)
    kinds = _rows(moved, old.kinds + 1), _rows(np.arange(new.size), new.kinds + 1)
    other_kind = _differing(*kinds)[:, 0]
    share[other_kind[other_kind >= 0]] = 1
    return share.astype(np.float32)


def _counts(ids: Int32, size: int) -> Int64:
    """How often each of so many ids occurs; -1 is none."""
    return np.bincount(ids[ids >= 0], minlength=size)


def _literals(old: KnowledgeGraph, new: KnowledgeGraph, moved: Int32) -> Int32:
    """The old literals with the ids of the new graph, -1 where it has none, `[n, 4]`."""
    ours, theirs = old.attributes, new.attributes
    if not len(ours):
        return ours.rows
    columns = [moved[ours.entity]]
    for place, words in enumerate(("predicates", "values", "tags"), start=1):
        columns.append(_places(getattr(ours, words), getattr(theirs, words))[ours.rows[:, place]])
    return _rows(*columns)


def _renamed(old: NameRows, new: NameRows, moved: Int32) -> Bool:
    word = encoded(pa.concat_arrays([old.texts, new.texts])).places + 1
    ours = _rows(moved[old.entity], old.kind[old.entity] + 1, word[: len(old)], old.weights.view(np.int32))
    theirs = _rows(new.entity, new.kind[new.entity] + 1, word[len(old) :], new.weights.view(np.int32))
    renamed = np.zeros(new.size, bool)
    entity = _differing(ours, theirs)[:, 0]
    renamed[entity[entity >= 0]] = True
    return renamed


def _rows(*columns: Any) -> Int32:
    return np.asarray(np.column_stack(columns), dtype=np.int32)


def _differing(one: Int32, other: Int32) -> Int32:
    """The rows that only one of two tables has, `[n, w]`, or that have a -1: something that is gone.

    Each table has a row once.
    """
    rows = np.concatenate([one, other])
    number, numbers = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        values = int(column.max(initial=-1)) + 2
        if numbers * values >= 2**63:
            number = np.unique(number, return_inverse=True)[1]
            numbers = len(rows)
        number, numbers = number * values + column + 1, numbers * values
    _, place, count = np.unique(number, return_inverse=True, return_counts=True)
    return np.asarray(rows[(count[place] == 1) | (rows < 0).any(axis=1)], np.int32)
