"""The role of every entity: individual, class, property, vocabulary, deprecated or reference."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.folding import Statements
from largeea.formats.vocabularies import (
    CLASS_TYPES,
    DEPRECATED,
    DEPRECATED_TYPES,
    EQUIVALENT_CLASS,
    HEADER_TYPES,
    NAMESPACES,
    OBSOLETE_PARENTS,
    OWL,
    PAGE_FACTS,
    PAGES,
    POINTERS,
    PROPERTY_TYPES,
    RDFS,
    SUBCLASS,
    SUBPROPERTY,
    TOPICS,
    TYPE,
)
from largeea.graph import Bool, Int8, Role, strings
from largeea.graph.lookup import are_in

_TERM = r"^([A-Za-z0-9_/-]*#)?[A-Za-z0-9_-]*$"
"""What follows the namespace in a vocabulary's term."""
_CLASS_RELATIONS = (SUBCLASS, EQUIVALENT_CLASS, OWL + "disjointWith")
_PROPERTY_RELATIONS = (SUBPROPERTY, OWL + "equivalentProperty", OWL + "inverseOf")
_HEADER_RELATIONS = (OWL + "imports", OWL + "versionIRI", OWL + "priorVersion")


def roles_of(statements: Statements) -> Int8:
    """The `Role` of each entity, int8 `[entities]`, by what the statements say of it."""
    roles = np.full(len(statements.entities), Role.INDIVIDUAL, np.int8)
    roles[_classes(statements)] = Role.CLASS
    roles[_properties(statements)] = Role.PROPERTY
    roles[_references(statements)] = Role.REFERENCE
    roles[_vocabulary(statements)] = Role.VOCABULARY
    roles[_deprecated(statements) & (roles != Role.VOCABULARY)] = Role.DEPRECATED
    return roles


def _classes(statements: Statements) -> Bool:
    """Mask of the entities declared as classes or in a relation of classes, or that others are typed by.

    A type that has itself a type of the data is taken for an individual unless it is declared a class.
    """
    triples = statements.triples
    declared = statements.typed(CLASS_TYPES, TYPE)
    declared[statements.classes] = True
    between = triples[statements.is_predicate(_CLASS_RELATIONS)[triples[:, 1]]]
    declared[between[:, [0, 2]].ravel()] = True
    ranges = triples[statements.is_predicate([RDFS + "domain", RDFS + "range"])[triples[:, 1]]]
    declared[ranges[:, 2]] = True
    typing = triples[triples[:, 1] == statements.predicate(TYPE)]
    meta = [place for place in map(statements.entity, (*CLASS_TYPES, *PROPERTY_TYPES)) if place >= 0]
    individual = statements.mask(typing[~np.isin(typing[:, 2], meta), 0])
    types = statements.mask(typing[:, 2])
    return declared | (types & ~individual)


def _properties(statements: Statements) -> Bool:
    """Mask of the entities declared as properties, in a relation of properties, or used as a predicate."""
    triples = statements.triples
    found = statements.typed(PROPERTY_TYPES, TYPE)
    between = triples[statements.is_predicate(_PROPERTY_RELATIONS)[triples[:, 1]]]
    found[between[:, [0, 2]].ravel()] = True
    restricted = triples[statements.is_predicate([RDFS + "domain", RDFS + "range"])[triples[:, 1]]]
    found[restricted[:, 0]] = True
    used = np.zeros(len(statements.predicates), bool)
    used[triples[:, 1]] = used[statements.literals[:, 1]] = True
    predicates = statements.predicates.filter(pa.array(used))
    return np.asarray(found | are_in(statements.entities, predicates))


def _references(statements: Statements) -> Bool:
    """Mask of the IRIs that the graph only points to, and of the documents about its things.

    Of a reference, the graph says nothing else. Of a document, it says which thing it is about, and what is
    said of every document (`PAGE_FACTS`); a graph of publications says more.
    """
    if not statements.is_predicate((*POINTERS, *TOPICS)).any():
        return np.zeros(len(statements.entities), bool)
    triples = statements.triples
    pointing, to_page, topic, of_page = (
        statements.is_predicate(iris)[triples[:, 1]] for iris in (POINTERS, PAGES, TOPICS, PAGE_FACTS)
    )
    told_of_page = statements.is_predicate(PAGE_FACTS)[statements.literals[:, 1]]
    pointed_to, used = statements.mask(triples[pointing, 2]), statements.mask(triples[~pointing, 2])
    described = statements.mask(np.concatenate([triples[:, 0], statements.literals[:, 0]]))
    told = statements.mask(np.concatenate([triples[~of_page, 0], statements.literals[~told_of_page, 0]]))
    page = statements.mask(np.concatenate([triples[to_page, 2], triples[topic, 0]]))
    return ((pointed_to & ~described) | (page & ~told)) & ~used & ~statements.blank


def _vocabulary(statements: Statements) -> Bool:
    """Mask of terms of well-known vocabularies, ontology headers, datatypes and bookkeeping.

    A namespace that holds most of what the graph describes is its subject matter instead.
    """
    found = statements.typed(HEADER_TYPES, TYPE)
    triples = statements.triples
    found[triples[statements.is_predicate(_HEADER_RELATIONS)[triples[:, 1]], 2]] = True
    described = statements.mask(triples[:, 0])
    described[statements.literals[:, 0]] = True
    described &= ~statements.blank & ~found
    total = int(described.sum())
    for namespace in NAMESPACES:
        span = statements.starting_with(namespace)
        if span.start == span.stop or 2 * int(described[span].sum()) > total:
            continue
        local = pc.utf8_slice_codeunits(statements.entities[span], len(namespace))
        found[span] = np.asarray(pc.match_substring_regex(local, _TERM), bool)
    return found


def _deprecated(statements: Statements) -> Bool:
    """Mask of the terms that their ontology has withdrawn."""
    found = statements.typed(DEPRECATED_TYPES, TYPE)
    literals, triples = statements.literals, statements.triples
    if (flag := statements.predicate(DEPRECATED)) >= 0:
        flagged = literals[literals[:, 1] == flag]
        texts = pc.utf8_lower(statements.values.take(pa.array(flagged[:, 2])))
        yes = are_in(texts, strings(["true", "1"]))
        found[flagged[yes, 0]] = True
    parents = [place for place in map(statements.entity, OBSOLETE_PARENTS) if place >= 0]
    if parents:
        upwards = statements.is_predicate([SUBCLASS, SUBPROPERTY])[triples[:, 1]]
        found[triples[upwards & np.isin(triples[:, 2], parents), 0]] = True
    return found
