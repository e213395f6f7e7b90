"""What a link file says about itself and about the graphs that it links."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import numpy as np
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.formats.vocabularies import OWL, SKOS, TYPE
from largeea.graph import KnowledgeGraph

_IRI = re.compile(r"(https?://|urn:)[^\s<>\"{}|^`\\]+")
_SOURCES = (OWL + "Ontology", SKOS + "ConceptScheme")


@dataclass(frozen=True)
class About:
    """What is said about the links of a file, as far as its format can say it."""

    predicate: str | None = None
    """The IRI of the predicate of all links; None if it follows from the roles of their ends."""
    date: str | None = None
    """The day on which the links were made, YYYY-MM-DD."""
    license: str | None = None
    """The IRI of the licence."""
    with_doubtful: bool = False
    """Whether doubtful pairs are in the file, with a predicate that claims nothing."""
    reviewers: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """Who has confirmed a pair, by the IRIs of its ends."""


NOTHING = About()


@dataclass(frozen=True)
class Origin:
    """The ontology or thesaurus that a graph is, by IRI, and its version."""

    iri: str
    version: str | None


def day_of(given: str | None, made: str | None = None) -> str | None:
    """The day of the links: the `given` one, else that of SOURCE_DATE_EPOCH, else of the time `made`."""
    if given is not None:
        try:
            return date.fromisoformat(given).isoformat()
        except ValueError:
            raise UsageError(f"the date {given!r} is not a day; give it as YYYY-MM-DD") from None
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    if not epoch:
        return made and made[:10]
    try:
        return datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise UsageError(f"SOURCE_DATE_EPOCH is {epoch!r}; give it as seconds since 1970") from None


def license_iri(text: str) -> str:
    """The IRI of a licence; `UsageError` if it is none."""
    if not _IRI.fullmatch(text):
        raise UsageError(
            f"the licence {text!r} is no IRI; give one such as https://creativecommons.org/licenses/by/4.0/"
        )
    return text


def origin_of(graph: KnowledgeGraph) -> Origin | None:
    """The one ontology or thesaurus that a graph declares; None if it declares none or several."""
    typing = graph.triples[graph.triples[:, 1] == pc.index(graph.relations, TYPE).as_py()]
    for kind in _SOURCES:
        of_kind = np.unique(typing[typing[:, 2] == pc.index(graph.entities, kind).as_py(), 0])
        named = of_kind[~graph.anonymous[of_kind]]
        if len(named) == 1:
            return Origin(graph.entities[int(named[0])].as_py(), _version(graph, int(named[0])))
        if len(named):
            return None
    return None


def _version(graph: KnowledgeGraph, ontology: int) -> str | None:
    """The version IRI of an ontology, else what it says about its version."""
    stated = pc.index(graph.relations, OWL + "versionIRI").as_py()
    tails = graph.triples[(graph.triples[:, 0] == ontology) & (graph.triples[:, 1] == stated), 2]
    if len(tails):
        return str(graph.entities[int(tails[0])].as_py())
    literals = graph.attributes
    told = pc.index(literals.predicates, OWL + "versionInfo").as_py()
    values = literals.value[(literals.entity == ontology) & (literals.predicate == told)]
    return min((literals.values[int(value)].as_py() for value in values), default=None)
