"""What an entity is in its graph, and which part it has in the matching."""

from __future__ import annotations

from enum import IntEnum


class Role(IntEnum):
    """What an entity is in its graph; the value is stored in `KnowledgeGraph.roles`."""

    INDIVIDUAL = 0
    CLASS = 1
    PROPERTY = 2
    VOCABULARY = 3
    """Terms of RDF, OWL and other well-known vocabularies, datatypes, ontology headers, bookkeeping."""
    DEPRECATED = 4
    """Terms that their ontology has withdrawn."""
    REFERENCE = 5
    """IRIs of other data sets and web pages that the graph says nothing about: it only points to them."""


class Part(IntEnum):
    """The part of an entity in the matching; the value is stored in `KnowledgeGraph.scope`."""

    IN_SCOPE = 0
    CONTEXT = 1
    """Out of scope: matched as evidence for its neighbours, but never in the answer."""
    CONTEXT_APART = 2
    """The same where the other graph has a scope, too: matched only with context of the other graph."""
    LEFT_OUT = 3
    """Not matched at all."""


EACH_WITH_ITS_OWN = (0, 1, 2, -1, -1, -1)
"""The kind of each role if individuals, classes and properties are all matched, each with its own kind."""
