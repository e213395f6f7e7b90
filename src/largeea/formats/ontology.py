"""From RDF encodings to a plain graph: helper nodes disappear, and what they say becomes edges and literals.

OWL class expressions, RDF lists, reified statements and texts in nodes of their own are ways to write down
facts about other nodes. Each is recognised by its predicates, so data without them costs nothing.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.alias_nodes import fold_alias_nodes
from largeea.formats.expressions import fold_expressions
from largeea.formats.folding import Statements
from largeea.formats.text_nodes import fold_text_nodes
from largeea.formats.vocabularies import NAMESPACES, REIFICATIONS, STATEMENT_VALUE, TYPE
from largeea.graph import Int32, strings
from largeea.graph.lookup import places_in


def plain(statements: Statements) -> Statements:
    """The same graph without helper nodes; entities that only they mentioned disappear, too."""
    before = statements.mentioned()
    for fold in FOLDS:
        fold(statements)
    if not statements.counts.folded:
        return statements
    return statements.without_lost(before).in_order()


def fold_reified(statements: Statements) -> None:
    """Nodes that spell out a statement (`rdf:Statement`, `owl:Axiom`) become that statement."""
    for spelt_out in REIFICATIONS:
        subject_by, predicate_by, object_by = map(statements.predicate, spelt_out)
        if min(subject_by, predicate_by, object_by) < 0:
            continue
        triples, literals = statements.triples, statements.literals
        subject, predicate = (
            _objects(triples, relation, len(statements.entities)) for relation in (subject_by, predicate_by)
        )
        blank = np.append(statements.blank, True)
        whole = (subject >= 0) & ~blank[predicate]
        edges = triples[(triples[:, 1] == object_by) & whole[triples[:, 0]]]
        values = literals[(literals[:, 1] == object_by) & whole[literals[:, 0]]]
        gone = statements.mask(np.concatenate([edges[:, 0], values[:, 0]]))
        nodes = np.flatnonzero(gone)
        relation = np.full(len(gone), -1, np.int32)
        iris = statements.entities.take(pa.array(predicate[nodes]))
        relation[nodes] = statements.add_predicates(iris)
        statements.fold(
            gone,
            np.column_stack([subject[edges[:, 0]], relation[edges[:, 0]], edges[:, 2]]),
            np.column_stack([subject[values[:, 0]], relation[values[:, 0]], values[:, 2:]]),
            reified=len(nodes),
        )


def fold_wikibase_statements(statements: Statements) -> None:
    """Statement nodes of Wikibase become edges: `p:P31` and `ps:P31` are `wdt:P31` in one step."""
    found = pc.extract_regex(statements.predicates, STATEMENT_VALUE)
    values_by = np.flatnonzero(np.asarray(pc.is_valid(found)))
    if not len(values_by):
        return
    parts = found.take(pa.array(values_by))
    base, word = parts.field("base"), parts.field("property")
    slash, middle = strings(["/", "/direct/"])
    lead, direct = (pc.binary_join_element_wise(base, word, between) for between in (slash, middle))
    leads_by = places_in(lead, statements.predicates)
    lead_of = np.full(len(statements.predicates), -2, np.int32)
    lead_of[values_by] = leads_by
    triples, literals = statements.triples, statements.literals
    owner, via = (np.full(len(statements.entities), -1, np.int32) for _ in range(2))
    leading = triples[np.isin(triples[:, 1], leads_by)]
    owner[leading[:, 2]], via[leading[:, 2]] = leading[:, 0], leading[:, 1]
    edges, values = (rows[via[rows[:, 0]] == lead_of[rows[:, 1]]] for rows in (triples, literals))
    gone = statements.mask(np.concatenate([edges[:, 0], values[:, 0]]))
    relation = np.full(len(lead_of), -1, np.int32)
    relation[values_by] = statements.add_predicates(direct)
    statements.fold(
        gone,
        np.column_stack([owner[edges[:, 0]], relation[edges[:, 1]], edges[:, 2]]),
        np.column_stack([owner[values[:, 0]], relation[values[:, 1]], values[:, 2:]]),
        reified=int(gone.sum()),
    )


def drop_empty_nodes(statements: Statements) -> None:
    """Drop blank nodes that nothing refers to and that have nothing but types of well-known vocabularies."""
    blank, triples = statements.blank, statements.triples
    if not blank.any():
        return
    empty = blank & statements.mask(triples[:, 0])
    empty[triples[:, 2]] = False
    if not empty.any():
        return
    vocabulary = np.zeros(len(blank), bool)
    for namespace in NAMESPACES:
        vocabulary[statements.starting_with(namespace)] = True
    typing = (triples[:, 1] == statements.predicate(TYPE)) & vocabulary[triples[:, 2]]
    empty[triples[~typing, 0]] = False
    empty[statements.literals[:, 0]] = False
    nothing = np.empty((0, 3), np.int32), np.empty((0, 4), np.int32)
    statements.fold(empty, *nothing, empty_nodes=int(empty.sum()))


def _objects(triples: Int32, relation: int, entities: int) -> Int32:
    """The object that each entity has by a relation, -1 for none, `[entities]`."""
    found = np.full(entities, -1, np.int32)
    rows = triples[triples[:, 1] == relation]
    found[rows[:, 0]] = rows[:, 2]
    return found


FOLDS = (
    fold_reified,
    fold_wikibase_statements,
    fold_text_nodes,
    fold_alias_nodes,
    fold_expressions,
    drop_empty_nodes,
)
"""In this order: what an earlier one makes plain, a later one may fold again."""
