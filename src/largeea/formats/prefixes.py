"""Prefixes: those that files declare and the customary ones; CURIEs as IRIs, and IRIs as CURIEs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.formats.vocabularies import DC_TERMS, FOAF, OWL, RDF, RDFS, SKOS, XSD
from largeea.graph import Int32, KnowledgeGraph, Strings, strings
from largeea.graph.lookup import places_in
from largeea.progress import warn

SEMAPV = "https://w3id.org/semapv/vocab/"
BUILT_IN = {
    "linkml": "https://w3id.org/linkml/",
    "owl": OWL,
    "rdf": RDF,
    "rdfs": RDFS,
    "semapv": SEMAPV,
    "skos": SKOS,
    "sssom": "https://w3id.org/sssom/",
    "xsd": XSD,
}
"""Prefixes that SSSOM defines: a file need not declare them, and must not use them otherwise."""

CUSTOMARY = {
    **BUILT_IN,
    "dbc": "http://dbpedia.org/resource/Category:",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dbr": "http://dbpedia.org/resource/",
    "dcterms": DC_TERMS,
    "fb": "http://rdf.freebase.com/ns/",
    "foaf": FOAF,
    "gn": "http://sws.geonames.org/",
    "mesh": "http://id.nlm.nih.gov/mesh/",
    "obo": "http://purl.obolibrary.org/obo/",
    "orcid": "https://orcid.org/",
    "schema": "http://schema.org/",
    "sdo": "https://schema.org/",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "yago": "http://yago-knowledge.org/resource/",
}
"""Prefixes that are known everywhere, and written where their namespace occurs."""
MOST_DECLARED = 1000
"""Prefixes of a graph that are kept."""
_SHOWN = 50
"""Prefixes of a graph that a message lists."""
_LONGEST = 2048
"""Characters of a namespace that is kept."""
_SCHEMES = {"data", "did", "doi", "file", "http", "https", "info", "mailto", "tag", "urn"}
"""What begins an IRI and looks like a prefix."""
_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_CURIE = r"^(?P<prefix>[A-Za-z][A-Za-z0-9_.-]*):(?P<rest>[^/].*|/[^/].*)$"


def add_declared(known: dict[str, str], declared: Mapping[str, str]) -> None:
    """Add the prefixes of a file to those of its graph; the first declaration of a prefix counts."""
    for prefix, namespace in declared.items():
        if len(known) < MOST_DECLARED and len(namespace) <= _LONGEST and _PREFIX.fullmatch(prefix):
            known.setdefault(prefix, namespace)


@dataclass(frozen=True, eq=False)
class Curies:
    """The prefixes that are known for some graphs, by name: `namespaces`."""

    namespaces: dict[str, str]

    @classmethod
    def of(cls, *graphs: KnowledgeGraph) -> Curies:
        """The customary prefixes and those of the graphs; the first graph that declares one counts."""
        known: dict[str, str] = {}
        for graph in graphs:
            add_declared(known, graph.prefixes)
        return cls(CUSTOMARY | known)

    def expand(self, text: str) -> str:
        """The IRI of a CURIE with a known prefix; any other text as it is."""
        prefix, colon, rest = text.partition(":")
        known = colon and not rest.startswith("//") and prefix in self.namespaces
        return self.namespaces[prefix] + rest if known else text

    def term(self, text: str, known: Strings) -> str:
        """The term that a text stands for: itself if it is among the `known` ones, else `expand`."""
        return text if pc.index(known, text).as_py() >= 0 else self.expand(text)

    def expand_all(self, texts: Strings) -> Strings:
        """`expand` of each text in a column."""
        parts = pc.extract_regex(texts, _CURIE)
        prefixes = strings(self.namespaces)
        place = places_in(parts.field("prefix"), prefixes)
        known = pa.array(place >= 0)
        namespace = strings(self.namespaces.values()).take(pa.array(place, mask=place < 0))
        rest = parts.field("rest").cast(namespace.type)
        whole = pc.binary_join_element_wise(namespace, rest, pa.scalar("", namespace.type))
        return pc.if_else(pc.and_(pc.is_valid(parts), known), whole, texts)

    def shorten(self, iri: str) -> str:
        """The CURIE of an IRI, to be shown; the IRI itself if its namespace has no prefix.

        The namespace ends at the last `#`, `/` or `:`.
        """
        end = max(map(iri.rfind, "#/:")) + 1
        prefix = self._prefix_of.get(iri[:end])
        return iri if prefix is None or end == len(iri) else f"{prefix}:{iri[end:]}"

    @cached_property
    def _prefix_of(self) -> dict[str, str]:
        """The prefix of each namespace, a customary one before others."""
        by_name = {namespace: prefix for prefix, namespace in reversed(self.namespaces.items())}
        return by_name | {ns: prefix for prefix, ns in CUSTOMARY.items() if self.namespaces[prefix] == ns}

    def advice(self, text: str) -> str:
        """What to add to a message about a text that is not found, if its prefix is unknown."""
        prefix, colon, rest = text.partition(":")
        is_curie = colon and not rest.startswith("//") and _PREFIX.fullmatch(prefix)
        if not is_curie or prefix in self.namespaces or prefix.lower() in _SCHEMES:
            return ""
        own = sorted(self.namespaces.keys() - CUSTOMARY.keys())[:_SHOWN]
        return f". The prefix {prefix!r} is not known; known are {', '.join([*own, *sorted(CUSTOMARY)])}"


def last_part(iri: str) -> str:
    """What follows the last `#`, `/` or `:` of an IRI, those at its end aside; never empty but for "".

    Example: `b` for `http://a/b/`.
    """
    bare = iri.rstrip("#/:")
    return bare[max(map(bare.rfind, "#/:")) + 1 :] or iri


def check_predicates(predicates: Iterable[str], *graphs: KnowledgeGraph) -> None:
    """Tell of predicates that no literal has; `UsageError` for a CURIE with an unknown prefix."""
    curies = Curies.of(*graphs)
    for predicate in predicates:
        if any(_has_literals(graph, predicate) for graph in graphs):
            continue
        if advice := curies.advice(predicate):
            raise UsageError(f"no graph has the predicate {predicate!r}{advice}")
        warn(f"no graph has literals of the predicate {predicate!r}, which was given for names")


def _has_literals(graph: KnowledgeGraph, predicate: str) -> bool:
    known = graph.attributes.predicates
    return bool(pc.index(known, Curies.of(graph).term(predicate, known)).as_py() >= 0)


def find_entities(graph: KnowledgeGraph, texts: Strings) -> Int32:
    """The ids of entities that are given by IRI or by CURIE, `[n]`; -1 for unknown ones."""
    found = graph.find(texts)
    missing = np.flatnonzero(found < 0)
    if len(missing):
        found = found.copy()
        found[missing] = graph.find(Curies.of(graph).expand_all(texts.take(missing)))
    return found
