"""The predicate that links two entities: it follows from what they are, unless one is given."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.formats.links.model import SAME_AS
from largeea.formats.prefixes import Curies
from largeea.formats.vocabularies import OWL, SKOS, TYPE
from largeea.graph import Bool, Int8, KnowledgeGraph, Role, Strings, strings
from largeea.graph.lookup import are_in
from largeea.matching.alignment import Alignment

EXACT_MATCH, CLOSE_MATCH = SKOS + "exactMatch", SKOS + "closeMatch"
EXACT_FROM = 0.9
"""Confidence from which on a match of concepts is called exact; skos:exactMatch is transitive."""
PREDICATE_OF_ROLE = {
    Role.INDIVIDUAL: SAME_AS,
    Role.CLASS: OWL + "equivalentClass",
    Role.PROPERTY: OWL + "equivalentProperty",
}
"""The predicate between two entities of a role. Others, and ends of different roles, have one of SKOS."""
_OTHER = len(Role)
"""Stands for SKOS concepts, and for a pair whose ends have different roles."""
_PREDICATES = strings([*(PREDICATE_OF_ROLE.get(role, EXACT_MATCH) for role in Role), EXACT_MATCH])
"""By role, then that of `_OTHER`."""
_BETWEEN_CONCEPTS = strings(
    SKOS + name for name in ("broader", "broaderTransitive", "narrower", "narrowerTransitive", "related")
)
"""Relations whose ends are concepts, by the definition of SKOS."""
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|^`\\]+")


def predicate_iri(text: str, *graphs: KnowledgeGraph) -> str:
    """The IRI of a predicate that is given as an IRI, or as a CURIE with a known prefix.

    Prefixes are customary ones and those of the graphs. Example: `predicate_iri("skos:closeMatch")`.
    """
    curies = Curies.of(*graphs)
    iri = curies.expand(text)
    prefix, _, name = iri.partition(":")
    if not _IRI.fullmatch(iri) or not (name.startswith("//") or prefix == "urn") or text.endswith(":"):
        raise UsageError(
            f"the predicate {text!r} is neither an IRI (http://..., urn:...) nor a CURIE with a known prefix "
            f"such as skos:closeMatch; known prefixes: {', '.join(sorted(curies.namespaces))}"
        )
    return iri


def checked_predicate(text: str) -> str:
    """The IRI of a predicate, or a CURIE whose prefix only the graphs may know; else `UsageError`."""
    return text if Curies.of().advice(text) and not text.endswith(":") else predicate_iri(text)


def predicates_of(alignment: Alignment, given: str | None = None) -> Strings:
    """The predicate of each accepted pair, `[accepted]`: the `given` one, or by the roles of its ends.

    SKOS concepts match exactly or, with a confidence below `EXACT_FROM`, closely.
    """
    if given is not None:
        return strings([given] * len(alignment))
    source, target = alignment.pairs[alignment.accepted].T
    ours, theirs = _roles(alignment.source)[source], _roles(alignment.target)[target]
    found = _PREDICATES.take(pa.array(np.where(ours == theirs, ours, _OTHER)))
    unsure = pa.array(alignment.confidence[alignment.accepted] < EXACT_FROM)
    return pc.if_else(pc.and_(unsure, pc.equal(found, EXACT_MATCH)), CLOSE_MATCH, found)


def _roles(graph: KnowledgeGraph) -> Int8:
    """The `Role` of each entity, `[size]`; SKOS concepts have `_OTHER`, unless they are classes as well."""
    return np.where((graph.roles == Role.INDIVIDUAL) & skos_concepts(graph), np.int8(_OTHER), graph.roles)


def skos_concepts(graph: KnowledgeGraph) -> Bool:
    """Mask of the entities of type skos:Concept or with a relation that only concepts have, `[size]`."""
    found = np.zeros(graph.size, bool)
    head, relation, tail = graph.triples.T
    typing = are_in(graph.relations, strings([TYPE]))
    concept = pc.index(graph.entities, SKOS + "Concept").as_py() if typing.any() else -1
    if concept >= 0:
        found[head[typing[relation] & (tail == concept)]] = True
    between = are_in(graph.relations, _BETWEEN_CONCEPTS)
    if between.any():
        related = between[relation]
        found[head[related]] = found[tail[related]] = True
    return found
