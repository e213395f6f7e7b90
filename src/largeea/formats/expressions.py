"""OWL class expressions and RDF lists: what they say becomes edges and literals of their owners.

lip subClassOf [onProperty part_of; someValuesFrom face]      lip part_of face
a equivalentClass [intersectionOf (b [onProperty p; ...])]    a subClassOf b, a p ...
a r (b c)                                                     a r b, a r c
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.distinct import unique_rows
from largeea.formats.folding import Statements, joined
from largeea.formats.vocabularies import (
    AXIOM_TYPES,
    COMPLEMENT,
    CONTAINER_MEMBER,
    EQUIVALENT_CLASS,
    FILLERS,
    FIRST,
    INTERSECTION,
    NIL,
    ON_PROPERTY,
    ONE_OF,
    REST,
    SUBCLASS,
    TYPE,
    UNION,
)
from largeea.graph import Bool, Int32, strings

_DEEPEST = 64
"""Levels of nested expressions that are followed."""
_DOUBLINGS = 31
"""Steps of pointer jumping that reach the head of any list."""
_MEMBER = -1
"""In place of a relation: the members of a list are reached by the relation that leads to the list."""
_ABSENT = -2
"""In place of a predicate that does not occur."""


class _Parts(NamedTuple):
    """What helper nodes consist of, by node: `edges[n, 3]` (node, relation, part), `values[m, 4]` (node,
    relation, value, tag); the relation is one that leads to the part, or `_MEMBER`."""

    edges: Int32
    values: Int32


_NO_PARTS = _Parts(np.empty((0, 3), np.int32), np.empty((0, 4), np.int32))


@dataclass(frozen=True, eq=False)
class _Words:
    """Positions of the predicates that class expressions are made of."""

    subclass: int
    equivalent: int
    intersection: int
    union: int
    complement: int
    enumeration: int

    @classmethod
    def of(cls, statements: Statements) -> _Words:
        """Their positions among the predicates; `rdfs:subClassOf` is added if there is none."""
        subclass = int(statements.add_predicates(strings([SUBCLASS]))[0])
        others = EQUIVALENT_CLASS, INTERSECTION, UNION, COMPLEMENT, ONE_OF
        places = map(statements.predicate, others)
        return cls(subclass, *(_ABSENT if place < 0 else place for place in places))

    def inside(self, passed: Int32) -> Bool:
        """Mask of the relations that lead to a part of a class or list, not to values of a property."""
        return np.isin(passed, [_MEMBER, self.intersection, self.union, self.complement, self.enumeration])

    def after(self, relation: Int32, fixed: Bool, passed: Int32) -> Int32:
        """The owner's relation to a part that it reached by `relation` and then `passed`, `[n]` each.

        A `fixed` relation stays as it is.
        """
        of_class = (relation == self.subclass) | (relation == self.equivalent)
        other = of_class & np.isin(passed, [self.union, self.complement, self.enumeration])
        after = np.where(of_class & (passed == self.intersection), self.subclass, relation)
        after = np.where(other | ~self.inside(passed), passed, after)
        return np.where(fixed, relation, after).astype(np.int32)


def fold_expressions(statements: Statements) -> None:
    """Replace class expressions, lists and containers by edges and literals of the nodes that use them."""
    lists, list_parts = _lists(statements)
    expressions, parts = _expressions(statements)
    helper = lists | expressions
    if not helper.any():
        return
    words, triples = _Words.of(statements), statements.triples
    work = triples[~helper[triples[:, 0]] & helper[triples[:, 2]]]
    work[:, 1] = np.where(work[:, 1] == words.intersection, words.subclass, work[:, 1])
    edges, values = _followed(
        work,
        helper,
        _Parts(*(_by_node(np.concatenate(both)) for both in zip(list_parts, parts, strict=True))),
        words,
    )
    of_classes = np.isin(edges[:, 1], [words.subclass, words.union, words.complement])
    statements.classes = np.concatenate(
        [statements.classes, edges[of_classes, 2], _class_fillers(statements, helper)]
    )
    found = {"lists": int(lists.sum()), "expressions": int((expressions & ~lists).sum())}
    statements.fold(helper, edges, values, **found)


def _followed(work: Int32, helper: Bool, parts: _Parts, words: _Words) -> tuple[Int32, Int32]:
    """Edges and literals of the owners in `work[n, 3]` (owner, relation, helper), followed through helpers.

    The relation of the outermost restriction counts: what lies deeper is still reached by it.
    """
    edges, values = [np.empty((0, 3), np.int32)], [np.empty((0, 4), np.int32)]
    fixed = np.zeros(len(work), bool)
    for _ in range(_DEEPEST):
        row, part = joined(work[:, 2], parts.values[:, 0])
        relation = words.after(work[row, 1], fixed[row], parts.values[part, 1])
        values.append(np.column_stack([work[row, 0], relation, parts.values[part, 2:]]))
        row, part = joined(work[:, 2], parts.edges[:, 0])
        passed = parts.edges[part, 1]
        relation = words.after(work[row, 1], fixed[row], passed)
        reached = np.column_stack([work[row, 0], relation, parts.edges[part, 2]])
        fixed = fixed[row] | ~words.inside(passed)
        inner = helper[reached[:, 2]]
        edges.append(reached[~inner])
        rows = unique_rows(np.column_stack([reached, fixed])[inner].astype(np.int32))
        work, fixed = rows[:, :3], rows[:, 3].astype(bool)
        if not len(work):
            break
    return np.concatenate(edges).astype(np.int32), np.concatenate(values).astype(np.int32)


def _expressions(statements: Statements) -> tuple[Bool, _Parts]:
    """Mask of the blank nodes that are class expressions or axioms, and what they consist of."""
    blank, triples, literals = statements.blank, statements.triples, statements.literals
    constructors = [
        place for place in map(statements.predicate, (INTERSECTION, UNION, COMPLEMENT, ONE_OF)) if place >= 0
    ]
    on_property = statements.predicate(ON_PROPERTY)
    axioms = statements.typed(AXIOM_TYPES, TYPE) & blank
    if on_property < 0 and not constructors and not axioms.any():
        return axioms, _NO_PARTS
    restricting = triples[(triples[:, 1] == on_property) & blank[triples[:, 0]]]
    restriction = statements.mask(restricting[:, 0])
    built = triples[np.isin(triples[:, 1], constructors) & blank[triples[:, 0]]]
    relation = np.full(len(blank), _MEMBER, np.int32)
    named = restricting[~blank[restricting[:, 2]]]
    relation[named[:, 0]] = statements.add_predicates(statements.entities.take(pa.array(named[:, 2])))
    is_filler = statements.is_predicate(FILLERS)
    filling = triples[is_filler[triples[:, 1]] & restriction[triples[:, 0]]]
    values = literals[is_filler[literals[:, 1]] & restriction[literals[:, 0]]]
    for rows in (filling, values):
        known = relation[rows[:, 0]] >= 0
        rows[known, 1] = relation[rows[known, 0]]
    return restriction | statements.mask(built[:, 0]) | axioms, _Parts(
        np.concatenate([built, filling]), values
    )


def _class_fillers(statements: Statements, helper: Bool) -> Int32:
    """Named classes that restrictions mention."""
    of_classes = statements.is_predicate([iri for iri in FILLERS if not iri.endswith(("hasValue", "Range"))])
    triples = statements.triples
    fillers = triples[of_classes[triples[:, 1]] & helper[triples[:, 0]], 2]
    return np.asarray(fillers[~helper[fillers]])


def _lists(statements: Statements) -> tuple[Bool, _Parts]:
    """Mask of the nodes of lists and containers, and the members of each list, at its first node."""
    triples, literals = statements.triples, statements.literals
    first, rest = statements.predicate(FIRST), statements.predicate(REST)
    numbered = np.asarray(pc.match_substring_regex(statements.predicates, CONTAINER_MEMBER), bool)
    if rest < 0 and not numbered.any():
        return np.zeros(len(statements.entities), bool), _NO_PARTS
    cells = statements.mask(triples[triples[:, 1] == rest, 0])
    if cells.any() and (nil := statements.entity(NIL)) >= 0:
        cells[nil] = True
    containers = statements.mask(triples[numbered[triples[:, 1]], 0])
    containers[literals[numbered[literals[:, 1]], 0]] = True
    containers &= statements.blank
    head = _heads(triples[triples[:, 1] == rest], len(cells))
    members = []
    for rows in (triples, literals):
        of_lists = rows[(rows[:, 1] == first) & cells[rows[:, 0]]]
        of_lists[:, 0] = head[of_lists[:, 0]]
        both = np.concatenate([of_lists, rows[numbered[rows[:, 1]] & containers[rows[:, 0]]]])
        both[:, 1] = _MEMBER
        members.append(both)
    return cells | containers, _Parts(*members)


def _heads(rest: Int32, entities: int) -> Int32:
    """The first node of the list that each node belongs to, `[entities]`, by pointer jumping."""
    head = np.arange(entities, dtype=np.int32)
    head[rest[:, 2]] = rest[:, 0]
    for _ in range(_DOUBLINGS):
        further = head[head]
        if np.array_equal(further, head):
            break
        head = further
    return head


def _by_node(rows: Int32) -> Int32:
    return rows[np.argsort(rows[:, 0], kind="stable")]
