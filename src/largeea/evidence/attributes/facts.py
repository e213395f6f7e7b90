"""The facts of each entity: its literals by property, those of the nodes it owns among them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.evidence.attributes.texts import joined
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES
from largeea.graph import Bool, Int32, Int64, KnowledgeGraph, Strings, strings
from largeea.graph.lookup import are_in, places_in

MAX_VALUES = 8
"""Values of one property of one entity that are compared: the rarest ones."""


class Facts(NamedTuple):
    """The facts of one graph's entities as CSR of CSR: entity -> its properties -> their values.

    The properties of entity e are the groups `pointers[e]:pointers[e + 1]`, ascending by property. Group g
    has the property `property[g]` and the values `value[starts[g]:starts[g + 1]]`, the rarest first.
    `frequency[f]` is the number of entities that have the property of fact f with the same value.
    """

    pointers: Int64
    property: Int32
    starts: Int64
    value: Int32
    frequency: Int32


class RawFacts(NamedTuple):
    """Facts before their values are parsed, `[n]` each; `literal` is a row of the graph's attributes."""

    entity: Int64
    property: Int32
    literal: Int64
    properties: Strings


def raw_facts(graph: KnowledgeGraph) -> RawFacts:
    """The literals of each entity and of the nodes it owns.

    A node has an owner if it is the tail of exactly one triple. A literal p of a node that x owns by r is a
    literal `r p` of x; so is one of a node that such a node owns. Labels, aliases and the name of the entity
    itself are left out: the name channel compares them.
    """
    rows = graph.attributes.rows
    predicates, relations = len(graph.attributes.predicates), max(len(graph.relations), 1)
    owner, relation = _owners(graph)
    literal = np.flatnonzero(~_compared_as_names(graph))
    entities, keys, literals = (
        [rows[literal, 0].astype(np.int64)],
        [rows[literal, 1].astype(np.int64)],
        [literal],
    )
    literal = np.flatnonzero(owner[rows[:, 0]] >= 0)
    path = predicates * (1 + relation[rows[literal, 0]]) + rows[literal, 1]
    entities.append(owner[rows[literal, 0]])
    keys.append(path)
    literals.append(literal)
    middle = entities[1]
    further = np.flatnonzero((owner[middle] >= 0) & (owner[middle] != rows[literal, 0]))
    entities.append(owner[middle[further]])
    keys.append(path[further] + predicates * relations * (1 + relation[middle[further]]))
    literals.append(literal[further])
    found, property = np.unique(np.concatenate(keys), return_inverse=True)
    names = _path_names(found, graph)
    return RawFacts(
        np.concatenate(entities), property.astype(np.int32), np.concatenate(literals).astype(np.int64), names
    )


def group_facts(entity: Int64, property: Int32, value: Int32, entities: int) -> Facts:
    """Facts in any order as `Facts`; equal ones count once."""
    order = np.lexsort((value, property, entity))
    entity, property, value = entity[order], property[order], value[order]
    new = np.ones(len(order), bool)
    new[1:] = np.diff(entity).astype(bool) | np.diff(property).astype(bool) | np.diff(value).astype(bool)
    entity, property, value = entity[new], property[new], value[new]
    key = property.astype(np.int64) * (int(value.max(initial=0)) + 1) + value
    _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
    count = counts[inverse].astype(np.int32)
    order = np.lexsort((value, count, property, entity))
    entity, property, value, count = entity[order], property[order], value[order], count[order]
    kept = _rank_in_group(_group_starts(entity, property), len(entity)) < MAX_VALUES
    entity, property, value, count = entity[kept], property[kept], value[kept], count[kept]
    first = _group_starts(entity, property)
    pointers = np.zeros(entities + 1, np.int64)
    np.cumsum(np.bincount(entity[first], minlength=entities), out=pointers[1:])
    return Facts(pointers, property[first], np.append(first, len(value)).astype(np.int64), value, count)


def _group_starts(entity: Int64, property: Int32) -> Int64:
    """Where each run of facts with the same entity and property starts."""
    new = np.ones(len(entity), bool)
    new[1:] = (entity[1:] != entity[:-1]) | (property[1:] != property[:-1])
    return np.flatnonzero(new)


def _rank_in_group(first: Int64, count: int) -> Int64:
    sizes = np.diff(np.append(first, count))
    return np.arange(count) - np.repeat(first, sizes)


def _owners(graph: KnowledgeGraph) -> tuple[Int64, Int64]:
    """The only node that leads to each node and the relation by which it does, -1 if there is none."""
    head, relation, tail = graph.triples.T.astype(np.int64)
    single = (np.bincount(tail, minlength=graph.size)[tail] == 1) & (head != tail)
    owner, by = np.full(graph.size, -1, np.int64), np.full(graph.size, -1, np.int64)
    owner[tail[single]], by[tail[single]] = head[single], relation[single]
    return owner, by


def _compared_as_names(graph: KnowledgeGraph) -> Bool:
    """Which literals the name channel compares: labels, aliases, and whatever equals the entity's name."""
    attributes = graph.attributes
    labels = strings((*LABEL_PREDICATES, *ALIAS_PREDICATES, *graph.label_predicates))
    is_label = are_in(attributes.predicates, labels)
    own_name: npt.NDArray[np.int64] = np.full(graph.size, -1, np.int64)
    if len(attributes.values):
        own_name = places_in(graph.names, attributes.values).astype(np.int64)
        own_name[~graph.named] = -1
    return np.asarray(is_label[attributes.predicate] | (own_name[attributes.entity] == attributes.value))


def _path_names(keys: Int64, graph: KnowledgeGraph) -> Strings:
    """The IRIs along each path, from the entity to the literal, separated by spaces."""
    predicates, relations = max(len(graph.attributes.predicates), 1), max(len(graph.relations), 1)
    path, predicate = np.divmod(keys, predicates)
    far, near = np.divmod(np.maximum(path - 1, 0), relations)
    steps = [
        pc.if_else(pa.array(far > 0), _spaced(graph.relations, far - 1), ""),
        pc.if_else(pa.array(path > 0), _spaced(graph.relations, near), ""),
        graph.attributes.predicates.take(pa.array(predicate)),
    ]
    return joined(*steps)


def _spaced(texts: Strings, positions: Int64) -> Strings:
    """Texts at positions, each followed by a space; "" where a position is none of theirs."""
    outside = (positions < 0) | (positions >= len(texts))
    found = texts.take(pa.array(np.where(outside, 0, positions), mask=outside))
    return pc.fill_null(joined(found, " "), "")
