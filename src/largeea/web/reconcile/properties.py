"""How well the values of candidates agree with those that a query gives for properties."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from largeea.evidence.attributes.kinds import AS_NUMBER, UNDECLARED, declared_kinds
from largeea.graph import Float32, Int32
from largeea.web.reconcile.comparison import Comparison
from largeea.web.reconcile.facts import Facts, Literal, Value
from largeea.web.reconcile.queries import Constraint, EntityValue, GivenValue
from largeea.web.reconcile.schema import Schema

UNKNOWN = 0.4
"""Agreement of a candidate that has no value of a property; values that are compared never have just this."""
AGREES = 0.75
"""Agreement from which two values are taken for the same."""
VALUES_COMPARED = 10
"""Values of one property of a candidate that are compared."""
CANDIDATES_BY_VALUE = 100
"""Entities that a query without a name may find by its values."""


class _Given(NamedTuple):
    """A value that a query gives: its text, what is declared of it, and the entity that it identifies, or -1.

    `declared` is None if only that entity is meant.
    """

    text: str
    declared: int | None
    entity: int


class Properties:
    """Compares the values of properties."""

    def __init__(self, facts: Facts, schema: Schema) -> None:
        self._facts, self._schema = facts, schema
        tags = facts.graph.attributes.tags
        self._declared = dict(zip(tags.to_pylist(), declared_kinds(tags).tolist(), strict=True))

    def agreement(self, asked: Sequence[tuple[Int32, list[Constraint]]]) -> list[Float32]:
        """How well candidates agree with constraints, in [0, 1], `[candidates, constraints]` for each query.

        A candidate without a value has `UNKNOWN`. Of several values, the two that agree best count.
        """
        comparison = Comparison()
        sizes = [(len(entities), len(constraints)) for entities, constraints in asked]
        starts = np.cumsum([0, *(rows * columns for rows, columns in sizes)])
        for (entities, constraints), (_, columns), start in zip(asked, sizes, starts, strict=False):
            for column, constraint in enumerate(constraints):
                wanted, given = self._schema.property(constraint.pid), self._given(constraint)
                if wanted is None or not given:
                    continue
                for place, entity in enumerate(entities.tolist()):
                    cell = int(start) + place * columns + column
                    for theirs in self._facts.values(entity, wanted, VALUES_COMPARED):
                        self._compare(comparison, cell, theirs, given)
        flat = comparison.best(int(starts[-1]), UNKNOWN)
        return [
            flat[start : start + rows * columns].reshape(rows, columns)
            for start, (rows, columns) in zip(starts, sizes, strict=False)
        ]

    def entities_with(self, constraints: list[Constraint]) -> Int32:
        """Entities with an equal literal of one of the properties, or a link to the entity with this id."""
        found = [np.empty(0, np.int32)]
        for constraint in constraints:
            wanted = self._schema.property(constraint.pid)
            if wanted is None:
                continue
            for value in map(text_of, constraint.v):
                linked = self._facts.find(value)
                if linked >= 0 and wanted.relation >= 0:
                    found.append(self._facts.entities_with(wanted, linked, CANDIDATES_BY_VALUE))
                if wanted.predicate >= 0:
                    found.append(self._facts.entities_with(wanted, value, CANDIDATES_BY_VALUE))
        return np.unique(np.concatenate(found))[:CANDIDATES_BY_VALUE]

    def _given(self, constraint: Constraint) -> list[_Given]:
        """The values of a constraint that are not empty."""
        found = []
        for value in constraint.v:
            if text := text_of(value):
                kind = AS_NUMBER if isinstance(value, int | float) else UNDECLARED
                declared = None if isinstance(value, EntityValue) else kind
                found.append(_Given(text, declared, self._facts.find(text)))
        return found

    def _compare(self, comparison: Comparison, cell: int, theirs: Value, given: list[_Given]) -> None:
        """Note that a value of a candidate has to be compared with those that are given."""
        if isinstance(theirs, Literal):
            text, declared, linked = theirs.text, self._declared[theirs.tag], None
        else:
            text, declared, linked = self._facts.name(theirs), UNDECLARED, theirs
        for value in given:
            if value.entity == linked:
                comparison.settle(cell, 1)
            elif value.declared is None:
                comparison.settle(cell, 0)
            else:
                comparison.add(cell, (value.text, value.declared), (text, declared))


def text_of(value: GivenValue) -> str:
    """A given value as text: of an entity its identifier."""
    if isinstance(value, EntityValue):
        return value.id
    return str(value).lower() if isinstance(value, bool) else str(value).strip()
