"""Nodes that only carry a text, such as SKOS-XL labels and OBO synonyms: the text belongs to their owner."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.folding import Statements, joined
from largeea.formats.vocabularies import (
    ANNOTATION_TYPE,
    ANNOTATION_WORDS,
    CLASS_TYPES,
    OBO_IN_OWL,
    PROPERTY_TYPES,
    TEXT_LINKS,
    TEXTS,
    TYPE,
)
from largeea.graph import Bool, Int32, strings
from largeea.graph.lookup import are_in

_SURE_TEXTS = TEXTS[:2]
"""Predicates that only a node made for a text has."""


def fold_text_nodes(statements: Statements) -> None:
    """Give the text of a node that carries nothing else to its owner, under the owner's predicate.

    A node is folded if a predicate for texts in nodes leads to it (`TEXT_LINKS`), or if an annotation leads
    to it and the node has one owner, one literal and otherwise nothing but types.
    """
    links = _links(statements)
    if not len(links):
        return
    rank = np.full(len(statements.predicates), len(TEXTS), np.int32)
    for place, iri in enumerate(TEXTS):
        if (at := statements.predicate(iri)) >= 0:
            rank[at] = place
    literals = statements.literals
    best = np.full(len(statements.entities), len(TEXTS), np.int32)
    np.minimum.at(best, literals[:, 0], rank[literals[:, 1]])
    links = links[_carries_text(statements, links, best)]
    texts = literals[(rank[literals[:, 1]] < len(TEXTS)) & (rank[literals[:, 1]] == best[literals[:, 0]])]
    row, text = joined(links[:, 2], texts[:, 0])
    gone = statements.mask(links[:, 2])
    made = np.column_stack([links[row, 0], _own_predicates(statements)[links[row, 1]], texts[text, 2:]])
    statements.fold(gone, np.empty((0, 3), np.int32), made.astype(np.int32), text_nodes=int(gone.sum()))


def _links(statements: Statements) -> Int32:
    """The triples whose predicate may lead to a text."""
    used = np.zeros(len(statements.predicates), bool)
    used[statements.triples[:, 1]] = True
    leads = used & (statements.is_predicate(TEXT_LINKS) | _named_like_annotations(statements))
    leads |= used & _annotations(statements)
    if not leads.any():
        return np.empty((0, 3), np.int32)
    return statements.triples[leads[statements.triples[:, 1]]]


def _carries_text(statements: Statements, links: Int32, best: Int32) -> Bool:
    """Mask of the links that lead to a node with nothing but a text; `best` ranks its predicate of texts."""
    node, relation = links[:, 2], links[:, 1]
    triples, literals, count = statements.triples, statements.literals, len(statements.entities)
    schema = statements.typed((*CLASS_TYPES, *PROPERTY_TYPES), TYPE)
    has_text = (best[node] < len(TEXTS)) & ~schema[node] & (links[:, 0] != node)
    obo = statements.is_predicate(iri for iri in TEXT_LINKS if iri.startswith(OBO_IN_OWL))
    known = statements.is_predicate(TEXT_LINKS)
    has_type = triples[:, 1] == statements.predicate(TYPE)
    obo_namespace = np.asarray(pc.starts_with(statements.predicates, OBO_IN_OWL), bool)
    beyond = np.bincount(triples[~has_type & ~obo_namespace[triples[:, 1]], 0], minlength=count)
    sure = best[node] < len(_SURE_TEXTS)
    made_for_it = (known[relation] & sure) | (obo[relation] & (beyond[node] == 0))
    owners = np.bincount(triples[:, 2], minlength=count)
    others = np.bincount(triples[~has_type, 0], minlength=count)
    values = np.bincount(literals[:, 0], minlength=count)
    bare = (owners[node] == 1) & (others[node] == 0) & (values[node] == 1)
    untyped = statements.blank | (np.bincount(triples[has_type, 0], minlength=count) == 0)
    is_annotation = (known | _named_like_annotations(statements))[relation] | untyped[node]
    return np.asarray(has_text & (made_for_it | (bare & is_annotation)))


def _own_predicates(statements: Statements) -> Int32:
    """The predicate under which an entity has the text itself, by predicate that leads to the text."""
    own = np.arange(len(statements.predicates), dtype=np.int32)
    there = [iri for iri in TEXT_LINKS if statements.predicate(iri) >= 0]
    if there:
        places = [statements.predicate(iri) for iri in there]
        own[places] = statements.add_predicates(strings(TEXT_LINKS[iri] for iri in there))
    return own


def _named_like_annotations(statements: Statements) -> Bool:
    return np.asarray(pc.match_substring_regex(statements.predicates, ANNOTATION_WORDS), bool)


def _annotations(statements: Statements) -> Bool:
    """Mask of the predicates that the graph itself declares as annotations."""
    declared = statements.typed([ANNOTATION_TYPE], TYPE)
    iris = statements.entities.filter(pa.array(declared))
    return are_in(statements.predicates, iris)
