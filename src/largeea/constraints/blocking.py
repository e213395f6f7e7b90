"""The rules by which pairs are candidates: shared values of a predicate, and compatible types."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.constraints.nearest import nearest
from largeea.constraints.types import Types
from largeea.errors import InputError, UsageError
from largeea.evidence.literals import comparable
from largeea.formats.links import recognise, sssom
from largeea.formats.links.tsv import text_lines, tsv_rows
from largeea.formats.prefixes import Curies
from largeea.graph import Arrays, Int32, KnowledgeGraph, Strings, strings
from largeea.graph.interning import encoded
from largeea.matching.blocks import Sets, sets_of, stored_rules

Compatible: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs of a source type and a target type."""


def candidate_rules(
    source: KnowledgeGraph, target: KnowledgeGraph, block_by: tuple[str, ...], compatible: Compatible
) -> Arrays:
    """Return the rules that candidates obey (see `largeea.matching.blocks`), as arrays by name."""
    rules = [shared_value(source, target, given) for given in block_by]
    if compatible:
        rules.append(compatible_types(source, target, compatible))
    return stored_rules(rules)


def read_compatible(path: Path) -> Compatible:
    """Read pairs of types: those of classes in a mapping of schemas (SSSOM), or two tab-separated columns.

    Columns may have the header `source`, `target`.
    """
    pairs = sssom.read_classes(path) if recognise(path) is sssom.FORMAT else _pairs_of_columns(path)
    if not pairs:
        raise InputError("holds no pairs of types", path)
    return tuple(pairs)


def _pairs_of_columns(path: Path) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for line, row in tsv_rows(text_lines(path), path, quoted=False):
        cells = tuple(cell.strip() for cell in row)
        if len(cells) != 2 or not all(cells):
            raise InputError(
                "must have two tab-separated columns, a source type and a target type", path, line
            )
        if pairs or cells != ("source", "target"):
            pairs.append((cells[0], cells[1]))
    return pairs


def shared_value(source: KnowledgeGraph, target: KnowledgeGraph, given: str) -> tuple[Sets, Sets]:
    """The values of a predicate or column as blocks, in one spelling as in literal evidence.

    `given` names it for both graphs, or is `SOURCE=TARGET`. An entity as a value counts by its IRI and name.
    """
    names = _names(given, source, target)
    ours, our_values = _values(source, names[0], "source")
    theirs, their_values = _values(target, names[1], "target")
    numbers = encoded(pa.concat_arrays([our_values, their_values])).places
    our_blocks, their_blocks = np.split(numbers, [len(ours)])
    return _with_value(ours, our_blocks, source), _with_value(theirs, their_blocks, target)


def _with_value(entity: Int32, block: Int32, graph: KnowledgeGraph) -> Sets:
    """The sets of pairs of entity and block, without those of block -1: an empty value is none."""
    return sets_of(entity[block >= 0], block[block >= 0], graph.size)


def compatible_types(
    source: KnowledgeGraph, target: KnowledgeGraph, compatible: Compatible
) -> tuple[Sets, Sets]:
    """The compatible target types of each source entity, and the types of each target entity, as blocks.

    Subclasses count as their superclasses. An entity with a type that is not listed has no blocks.
    """
    listed = {name: number for number, name in enumerate(dict.fromkeys(type for _, type in compatible))}
    ours = [(type, listed[counterpart]) for type, counterpart in compatible]
    theirs = list(listed.items())
    return _by_type(Types.of(source, "source"), ours), _by_type(Types.of(target, "target"), theirs)


def _by_type(types: Types, blocks: list[tuple[str, int]]) -> Sets:
    """The blocks of each entity, by its types and by the block of each listed type."""
    entity, type = types.typing.T
    places: dict[str, list[int]] = {}
    for name, block in blocks:
        places.setdefault(name, []).append(block)
    known, members, numbers = np.zeros(types.graph.size, bool), [], []
    for name, own in places.items():
        mask = types.with_subclasses(name)
        known |= mask
        some = entity[mask[type]]
        members += [some] * len(own)
        numbers += [np.full(len(some), block, np.int32) for block in own]
    found, number = np.concatenate(members), np.concatenate(numbers)
    whole = types.fully_typed(known)[found]
    return sets_of(found[whole], number[whole], types.graph.size)


def _names(given: str, source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[str, str]:
    """The name of the predicate in each graph; a name that both have may contain `=`."""
    ours, equals, theirs = given.partition("=")
    split = equals and not (_predicate(source, given) and _predicate(target, given))
    return (ours, theirs) if split else (given, given)


def _predicate(graph: KnowledgeGraph, name: str) -> str | None:
    """The predicate or column of a graph that has this name, IRI or CURIE; None if there is none."""
    columns = graph.attributes.predicates, graph.relations
    wanted = (name, Curies.of(graph).expand(name))
    return next((one for one in wanted if any(pc.index(c, one).as_py() >= 0 for c in columns)), None)


def _values(graph: KnowledgeGraph, name: str, side: str) -> tuple[Int32, Strings]:
    """The entities with a value of a predicate, and the values, `[n]` each."""
    iri = _predicate(graph, name)
    if iri is None:
        curies, known = Curies.of(graph), pa.concat_arrays([graph.attributes.predicates, graph.relations])
        raise UsageError(
            f"the {side} graph has no predicate or column {name!r}; the nearest are "
            f"{nearest(name, known, curies)}{curies.advice(name)}"
        )
    attributes = graph.attributes
    literals = attributes.rows[attributes.predicate == pc.index(attributes.predicates, iri).as_py()]
    triples = graph.triples[graph.triples[:, 1] == pc.index(graph.relations, iri).as_py()]
    tails = pa.array(triples[:, 2])
    texts = [
        comparable(attributes.values.take(pa.array(literals[:, 2]))),
        graph.entities.take(tails),
        comparable(graph.names.take(tails)),
    ]
    entity = np.concatenate([literals[:, 0], triples[:, 0], triples[:, 0]])
    return entity, pa.concat_arrays([strings(text) for text in texts])
