"""Links by IRI become links by id."""

from __future__ import annotations

import numpy as np

from largeea.errors import InputError
from largeea.formats.links.model import LinkTable
from largeea.formats.prefixes import Curies, find_entities
from largeea.graph import Bool, Int32, KnowledgeGraph, Links

_SHOWN, _SHOWN_CHARACTERS = 3, 120


def resolve(table: LinkTable, source: KnowledgeGraph, target: KnowledgeGraph) -> Links:
    """The table's links as ids of both graphs, sorted, each pair once.

    A link to an unknown entity is an error: leaving it out silently would cost accuracy unnoticed.
    """
    pairs = _found(table, source, target)
    if (pairs < 0).any():
        raise _unknown(table, pairs, source, target)
    return Links(pairs, table.weight).canonical()


def resolve_known(table: LinkTable, source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[Links, Bool]:
    """The links whose entities both graphs have, as ids, and a mask of these links, `[n]`.

    They keep the order of the table. It is an error if there is none.
    """
    pairs = _found(table, source, target)
    known: Bool = np.all(pairs >= 0, axis=1)
    if len(table) and not known.any():
        raise _unknown(table, pairs, source, target)
    return Links(pairs, table.weight).take(known), known


def _found(table: LinkTable, source: KnowledgeGraph, target: KnowledgeGraph) -> Int32:
    """The ids of both ends, given by IRI or CURIE, `[n, 2]`; -1 for unknown ones."""
    return np.column_stack([find_entities(source, table.source), find_entities(target, table.target)])


def _found_when_swapped(table: LinkTable, source: KnowledgeGraph, target: KnowledgeGraph) -> Bool:
    return (find_entities(source, table.target) >= 0) & (find_entities(target, table.source) >= 0)


def _unknown(table: LinkTable, pairs: Int32, source: KnowledgeGraph, target: KnowledgeGraph) -> InputError:
    unknown, swapped = pairs < 0, _found_when_swapped(table, source, target)
    rows = np.flatnonzero(unknown.any(axis=1))
    per_side = (
        f"{count} in the {side} graph"
        for count, side in zip(unknown.sum(axis=0), ("source", "target"), strict=True)
    )
    shown = [
        f"  {table.place(row)}: {side} {column[row].as_py()[:_SHOWN_CHARACTERS]}"
        for row in rows[:_SHOWN].tolist()
        for side, column, missing in zip(
            ("source", "target"), (table.source, table.target), unknown[row], strict=True
        )
        if missing
    ]
    if swapped.sum() > len(table) - len(rows):
        advice = (
            f"With its columns swapped, {swapped.sum()} of {len(table)} links would be found: "
            "swap the columns of the file, or give the two graphs in the other order."
        )
    else:
        first = (table.source if unknown[rows[0], 0] else table.target)[int(rows[0])].as_py()
        advice = (
            "IRIs must be equal to the letter. Check that the links belong to these two graphs, "
            f"or remove the lines that name other entities{Curies.of(source, target).advice(first)}."
        )
    message = f"{len(rows)} of {len(table)} links name entities that are not there ({', '.join(per_side)}):"
    line = None if table.line is None else int(table.line[rows[0]])
    return InputError("\n".join([message, *shown, advice]), table.path, line)
