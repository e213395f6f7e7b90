"""The literal values of two graphs in columns: typed, normalised, numbered, and cut into tokens."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.evidence.attributes import tokens
from largeea.evidence.attributes.facts import Facts, RawFacts, group_facts, raw_facts
from largeea.evidence.attributes.kinds import AS_DATE, declared_kinds, typed_values
from largeea.evidence.attributes.texts import characters, joined
from largeea.graph import Bool, Float32, Float64, Int32, Int64, KnowledgeGraph, Strings, frozen, strings
from largeea.graph.interning import encoded

VALUES_AT_ONCE = 1 << 18
"""Distinct literals that are parsed together, so that what is made on the way stays small."""
_PARSED = {"kind": np.int8, "number": np.float64, "date": np.int32}


class ValueTable(NamedTuple):
    """The distinct values of both graphs, `[values]` each, sorted by kind and text.

    kind: see `kinds`; number: of numbers; date: of dates, packed. `text[pointers[v]:pointers[v + 1]]` are the
    characters of value v, empty for long texts, and `token[token_pointers[v]:token_pointers[v + 1]]` its
    tokens, ascending, only the rarest of a long text. `token_weight[tokens]` tells how rare each token is,
    `length[v]` is the Euclidean length of the weights of value v; no text has more than `longest` characters.
    """

    kind: npt.NDArray[np.int8]
    number: Float64
    date: Int32
    long: Bool
    text: npt.NDArray[np.uint8]
    pointers: Int64
    token: Int32
    token_pointers: Int64
    token_weight: Float32
    length: Float32
    longest: int


class Values(NamedTuple):
    """What `attribute_values` returned, for compiled code."""

    table: ValueTable
    source: Facts
    target: Facts
    shape: tuple[int, int]

    @classmethod
    def of(cls, columns: dict[str, Any]) -> Values:
        """From the columns of `attribute_values`."""
        text, pointers = characters(columns["text"])
        token, token_pointers, weight = (
            columns[name] for name in ("token", "token_pointers", "token_weight")
        )
        squares = np.concatenate([[0], np.cumsum(np.square(weight[token], dtype=np.float64))])
        length = np.sqrt(np.diff(squares[token_pointers])).astype(np.float32)
        kind, number, date = (frozen(columns[name][:], dtype) for name, dtype in _PARSED.items())
        table = ValueTable(
            kind, number, date, frozen(columns["long"][:], bool), text, pointers, frozen(token[:], np.int32),
            frozen(token_pointers[:], np.int64), frozen(weight[:], np.float32), frozen(length, np.float32),
            int(np.diff(pointers).max(initial=1)),
        )  # fmt: skip
        source, target = (_facts(columns[side]) for side in ("source", "target"))
        return cls(table, source, target, (int(columns["shape"][0]), int(columns["shape"][1])))


def attribute_values(source: KnowledgeGraph, target: KnowledgeGraph) -> dict[str, Any]:
    """The literals of both graphs, typed and normalised: the columns of `Values`.

    They are the literals of each entity and of the nodes that only this entity leads to, without labels and
    aliases (`facts.raw_facts`). `properties` of either side are the predicates, or the paths of relations
    and a predicate, that the numbers in its facts stand for.
    """
    graphs = source, target
    facts = [raw_facts(graph) for graph in graphs]
    literal_values, parsed = _distinct(graphs, facts)
    sides = [
        group_facts(found.entity[value >= 0], found.property[value >= 0], value[value >= 0], graph.size)
        for graph, found, value in zip(graphs, facts, literal_values, strict=True)
    ]
    used = sum((np.bincount(side.value, minlength=len(parsed["kind"])) for side in sides), np.int64(0))
    columns = parsed | tokens.cut(parsed["text"], np.asarray(used, np.int64))
    columns["text"] = pc.if_else(pa.array(columns["long"]), "", columns["text"])
    for name, side, found in zip(("source", "target"), sides, facts, strict=True):
        columns[name] = side._asdict() | {"properties": found.properties}
    return columns | {"shape": (source.size, target.size)}


def _distinct(
    graphs: tuple[KnowledgeGraph, KnowledgeGraph], facts: list[RawFacts]
) -> tuple[list[Int32], dict[str, Any]]:
    """The value of each fact of either graph, -1 where nothing can be compared, and the distinct values."""
    parts: list[dict[str, Any]] = []
    literals = []
    for graph, found in zip(graphs, facts, strict=True):
        attributes = graph.attributes
        declared = declared_kinds(attributes.tags)
        key = attributes.value.astype(np.int64) * (AS_DATE + 1) + declared[attributes.tag]
        wanted, inverse = np.unique(key[found.literal], return_inverse=True)
        literals.append(inverse)
        value, said = np.divmod(wanted, AS_DATE + 1)
        parts.append(_parsed(attributes.values, value, said.astype(np.int8)))
    text = pa.concat_arrays([part["text"] for part in parts])
    both = {name: np.concatenate([part[name] for part in parts]) for name in _PARSED}
    valid = np.asarray(pc.is_valid(text), bool)
    kind = pc.cast(pa.array(both["kind"][valid]), pa.large_string())
    keys = encoded(joined(kind, " ", text.filter(pa.array(valid))))
    order = np.asarray(pc.array_sort_indices(keys.values), np.int64)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    number = np.full(len(text), -1, np.int32)
    number[valid] = place[keys.places]
    first = np.full(len(order), -1, np.int64)
    first[number[valid][::-1]] = np.flatnonzero(valid)[::-1]
    columns: dict[str, Any] = {name: both[name][first] for name in _PARSED}
    columns["text"] = strings(text.take(pa.array(first)))
    split = len(parts[0]["kind"])
    return [number[:split][literals[0]], number[split:][literals[1]]], columns


def _parsed(values: Strings, positions: Int64, declared: npt.NDArray[np.int8]) -> dict[str, Any]:
    """`typed_values` of the values at some positions, in blocks."""
    columns: dict[str, Any] = {name: np.zeros(len(positions), dtype) for name, dtype in _PARSED.items()}
    texts = [strings()]
    for first in range(0, len(positions), VALUES_AT_ONCE):
        block = slice(first, first + VALUES_AT_ONCE)
        typed = typed_values(values.take(pa.array(positions[block])), declared[block])
        for name in _PARSED:
            columns[name][block] = getattr(typed, name)
        texts.append(strings(typed.text))
    return columns | {"text": pa.concat_arrays(texts)}


def _facts(columns: dict[str, Any]) -> Facts:
    dtypes = {"pointers": np.int64, "property": np.int32, "starts": np.int64}
    dtypes |= {"value": np.int32, "frequency": np.int32}
    return Facts(*(frozen(columns[name][:], dtype) for name, dtype in dtypes.items()))
