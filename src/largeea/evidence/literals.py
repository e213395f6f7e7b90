"""Literals as neighbours: an equal value on both sides is a node that both graphs share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Bool, Int32, KnowledgeGraph, Strings
from largeea.graph.interning import encoded
from largeea.graph.lookup import places_in

_NUMBER = r"^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"


def shared_values(source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[Int32, Int32, Strings]:
    """Literals whose value occurs in both graphs, as edges to value nodes, and these values.

    `(source[n, 3], target[m, 3], values)`: entity, predicate, value; equal values have equal numbers.
    """
    *numbers, values = value_numbers(source, target)
    rows = []
    for graph, number in zip((source, target), numbers, strict=True):
        kept = graph.attributes.rows[number >= 0]
        rows.append(np.column_stack([kept[:, :2], number[number >= 0]]).astype(np.int32))
    return rows[0], rows[1], values


def value_numbers(source: KnowledgeGraph, target: KnowledgeGraph) -> tuple[Int32, Int32, Strings]:
    """The number of each literal's value, `[literals]` of either graph, and the values by number.

    -1 stands for a value that only one graph has, and for the name of the entity itself.
    """
    with ThreadPoolExecutor(2) as pool:
        texts = list(pool.map(comparable, (source.attributes.values, target.attributes.values)))
    words, ours = encoded(texts[0])
    numbers = [ours, places_in(texts[1], words)]
    used = [np.zeros(len(words) + 1, bool) for _ in numbers]
    for seen, number in zip(used, numbers, strict=True):
        seen[number] = True
    both = used[0] & used[1]
    both[-1] = False  # null has the last place
    renumbered = np.cumsum(both) - 1
    found = []
    for graph, number in zip((source, target), numbers, strict=True):
        value = number[graph.attributes.value]
        found.append(np.where(both[value] & ~_is_name(graph), renumbered[value], -1).astype(np.int32))
    return found[0], found[1], words.filter(pa.array(both[:-1]))


def _is_name(graph: KnowledgeGraph) -> Bool:
    """Which literals are their entity's name, which the name channel has compared already."""
    name = graph.names.take(graph.attributes.entity)
    same = pc.equal(name, graph.attributes.values.take(graph.attributes.value))
    return np.asarray(pc.fill_null(same, False).to_numpy(zero_copy_only=False), bool)


def comparable(values: Strings) -> Strings:
    """Values in one spelling: text without case and outer space, numbers as numbers, dates without time."""
    text = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    numeric = pc.fill_null(pc.match_substring_regex(text, _NUMBER), False)
    number = pc.cast(pc.cast(pc.if_else(numeric, text, "0"), pa.float64()), pa.large_string())
    day = pc.replace_substring_regex(
        text, r"^(-?[0-9]{4,}-[0-9]{2}-[0-9]{2})t[0-9:.]+(z|[+-][0-9:]+)?$", r"\1"
    )
    spelt = pc.if_else(numeric, number, day)
    return pc.if_else(pc.equal(spelt, ""), None, spelt)
