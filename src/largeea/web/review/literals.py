"""The names and literals of a pair, side by side: which fields of both entities belong together."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import product
from math import isfinite
from typing import Literal

from largeea.evidence.literals import comparable
from largeea.formats.naming import ALIAS_PREDICATES, LABEL_PREDICATES
from largeea.formats.prefixes import last_part
from largeea.graph import KnowledgeGraph, strings

Mark = Literal["equal", "similar", "different", "only"]
MOST_NAMES, MOST_FIELDS, MOST_VALUES, LONGEST = 20, 40, 12, 400
"""What is shown of an entity: names, predicates, values of each, characters of a value."""
MOST_LITERALS = 10_000
"""Literals of an entity that are looked at: some have millions."""
_COMPARED, _TRIED = 200, 2
"""Characters of a value that are compared, and values of a predicate that are tried with those of others."""
_SIMILAR = 0.75
_CLOSE = 0.01
"""Numbers that differ by at most this share are similar."""


@dataclass(frozen=True)
class Value:
    """A literal: its text, its language if it has one, and how it compares with the other side's values."""

    text: str
    language: str = ""
    mark: Mark = "only"


@dataclass(frozen=True)
class Field:
    """The values of one predicate in either graph; a predicate is empty where only one side has the field."""

    source: str
    target: str
    source_values: tuple[Value, ...]
    target_values: tuple[Value, ...]
    mark: Mark


Literals = dict[str, list[Value]]
"""The values of an entity by predicate."""


def names_and_literals(graph: KnowledgeGraph, entity: int) -> tuple[tuple[Value, ...], Literals]:
    """Return the names of an entity, its main name first, and its other literals by predicate.

    Of an entity with more than `MOST_LITERALS` literals, only the first are looked at.
    """
    attributes = graph.attributes
    first, last = (bisect_left(attributes.entity, number) for number in (entity, entity + 1))
    naming = {*(graph.label_predicates or LABEL_PREDICATES), *ALIAS_PREDICATES}
    main = graph.names[entity].as_py()
    names: dict[Value, None] = {}
    others: Literals = {}
    for _, predicate, value, tag in attributes.rows[first : min(last, first + MOST_LITERALS)].tolist():
        iri, text = attributes.predicates[predicate].as_py(), attributes.values[value].as_py()
        language = attributes.tags[tag].as_py()
        shown = Value(_cut(text), language.removeprefix("@") if language.startswith("@") else "")
        if iri in naming:
            names[shown] = None
        else:
            others.setdefault(iri, []).append(shown)
    known = {value.text for value in names}
    if main is not None and _cut(main) not in known:
        names[Value(_cut(main))] = None
    return tuple(sorted(names, key=lambda value: value.text != main)[:MOST_NAMES]), others


def aligned(source: Literals, target: Literals) -> list[Field]:
    """Return the fields of both entities, those that belong together in one row, the best agreeing first.

    Two predicates belong together if their values agree or if their IRIs end in the same word.
    """
    ours, theirs = (
        {iri: _first(side[iri]) for iri in sorted(side)[:MOST_FIELDS]} for side in (source, target)
    )
    compare = Comparison(
        [value.text for side in (ours, theirs) for values in side.values() for value in values]
    )
    scored = sorted(
        ((_agreement(compare, p, ours[p], q, theirs[q]), p, q) for p, q in product(ours, theirs)),
        key=lambda one: (-one[0], one[1:]),
    )
    fields: list[Field] = []
    for agreement, p, q in scored:
        if agreement > 0 and p in ours and q in theirs:
            left, right = ours.pop(p), theirs.pop(q)
            left, right = compare.marked(left, right), compare.marked(right, left)
            fields.append(Field(p, q, left, right, _best({value.mark for value in left})))
    alone = [Field(p, "", values, (), "only") for p, values in ours.items()]
    return fields + alone + [Field("", q, (), values, "only") for q, values in theirs.items()]


class Comparison:
    """Compares values: numbers by their difference, dates without time, other text by its characters."""

    def __init__(self, texts: list[str]) -> None:
        self._spelt = dict(zip(texts, comparable(strings(texts)).to_pylist(), strict=True))

    def __call__(self, ours: str, theirs: str) -> Mark:
        """Return how two of the values compare."""
        one, other = self._spelt[ours], self._spelt[theirs]
        if one is None or other is None:
            return "different"
        if one == other:
            return "equal"
        numbers = _number(one), _number(other)
        if numbers[0] is not None and numbers[1] is not None:
            largest = max(abs(numbers[0]), abs(numbers[1]))
            return "similar" if abs(numbers[0] - numbers[1]) <= _CLOSE * largest else "different"
        likeness = SequenceMatcher(None, one[:_COMPARED], other[:_COMPARED], autojunk=False)
        alike = likeness.quick_ratio() >= _SIMILAR and likeness.ratio() >= _SIMILAR
        return "similar" if alike else "different"

    def marked(self, values: tuple[Value, ...], others: tuple[Value, ...]) -> tuple[Value, ...]:
        """Return the values, each marked by the value of the other side that it agrees with best."""
        if not others:
            return values
        marks = ({self(value.text, other.text) for other in others} for value in values)
        return tuple(replace(value, mark=_best(found)) for value, found in zip(values, marks, strict=True))


_WORTH: dict[Mark, float] = {"equal": 2.0, "similar": 1.0}


def _agreement(
    compare: Comparison, p: str, ours: tuple[Value, ...], q: str, theirs: tuple[Value, ...]
) -> float:
    marks = [compare(x.text, y.text) for x, y in product(ours[:_TRIED], theirs[:_TRIED])]
    same_word = last_part(p).lower() == last_part(q).lower()
    return max(_WORTH.get(mark, 0.0) for mark in marks) + same_word


def _best(marks: set[Mark]) -> Mark:
    order: tuple[Mark, ...] = ("equal", "similar", "different")
    return next(mark for mark in order if mark in marks)


def _first(values: list[Value]) -> tuple[Value, ...]:
    return tuple(values[:MOST_VALUES])


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
