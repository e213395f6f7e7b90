"""IRIs of the vocabularies that RDF data is written in, as far as reading depends on them."""

from __future__ import annotations

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOS_XL = "http://www.w3.org/2008/05/skos-xl#"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
DC, DC_TERMS = "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"
SCHEMA = ("http://schema.org/", "https://schema.org/")
WIKIBASE = "http://wikiba.se/ontology#"

NAMESPACES = (
    RDF,
    RDFS,
    OWL,
    SKOS,
    SKOS_XL,
    OBO_IN_OWL,
    DC,
    DC_TERMS,
    FOAF,
    *SCHEMA,
    WIKIBASE,
    XSD,
    "http://www.w3.org/XML/1998/namespace",
    "http://www.w3.org/2006/12/owl2-xml#",
    "http://www.w3.org/ns/",
    "http://www.w3.org/2006/time#",
    "http://www.w3.org/2006/vcard/ns#",
    "http://www.w3.org/2003/01/geo/wgs84_pos#",
    "http://www.w3.org/2003/06/sw-vocab-status/ns#",
    "http://www.opengis.net/ont/geosparql#",
    "http://purl.org/dc/dcmitype/",
    "http://purl.org/dc/dcam/",
    "http://purl.org/vocab/vann/",
    "http://purl.org/vocab/bio/",
    "http://purl.org/linked-data/cube#",
    "http://purl.org/ontology/bibo/",
    "http://purl.org/pav/",
    "http://purl.org/goodrelations/v1#",
    "http://rdfs.org/ns/void#",
    "http://rdfs.org/sioc/ns#",
    "http://creativecommons.org/ns#",
    "http://usefulinc.com/ns/doap#",
    "http://ogp.me/ns#",
    "http://protege.stanford.edu/plugins/owl/protege#",
)
"""Namespaces of terms that describe data. What follows the namespace in a term is one word."""

TYPE, LABEL = RDF + "type", RDFS + "label"
STRING = XSD + "string"
SUBCLASS, SUBPROPERTY = RDFS + "subClassOf", RDFS + "subPropertyOf"
EQUIVALENT_CLASS = OWL + "equivalentClass"

CLASS_TYPES = (OWL + "Class", RDFS + "Class", OWL + "DeprecatedClass")
PROPERTY_TYPES = (
    RDF + "Property",
    WIKIBASE + "Property",
    *(f"{OWL}{kind}Property" for kind in ("Object", "Datatype", "Annotation", "Ontology", "Deprecated")),
    *(f"{OWL}{kind}Property" for kind in ("Functional", "InverseFunctional", "Transitive")),
    *(f"{OWL}{kind}Property" for kind in ("Symmetric", "Asymmetric", "Reflexive", "Irreflexive")),
)
HEADER_TYPES = (
    OWL + "Ontology",
    SKOS + "ConceptScheme",
    RDFS + "Datatype",
    *(WIKIBASE + kind for kind in ("Reference", "TimeValue", "QuantityValue", "GlobecoordinateValue")),
)
"""Types of nodes that a graph is not about: headers of ontologies and thesauri, datatypes, bookkeeping."""
IDENTITIES = (
    OWL + "sameAs",
    EQUIVALENT_CLASS,
    OWL + "equivalentProperty",
    SKOS + "exactMatch",
    *(namespace + "sameAs" for namespace in SCHEMA),
)
"""Predicates by which a graph says that two IRIs mean the same."""
PAGES = (
    *(FOAF + name for name in ("page", "homepage", "isPrimaryTopicOf", "depiction", "thumbnail")),
    *(namespace + name for namespace in SCHEMA for name in ("url", "image", "subjectOf")),
    "http://dbpedia.org/ontology/wikiPageExternalLink",
    "http://dbpedia.org/ontology/thumbnail",
)
"""Predicates that lead to a document or picture of a thing."""
TOPICS = (FOAF + "primaryTopic", FOAF + "topic", *(namespace + "about" for namespace in SCHEMA))
"""Predicates that lead from a document to the thing."""
PAGE_FACTS = (
    *TOPICS,
    TYPE,
    *(
        space + name
        for space in (DC, DC_TERMS)
        for name in ("language", "format", "title", "rights", "license")
    ),
    *(namespace + name for namespace in SCHEMA for name in ("inLanguage", "isPartOf", "name")),
    WIKIBASE + "badge",
)
"""What is said of a document that is not itself subject matter."""
POINTERS = (
    *IDENTITIES,
    *PAGES,
    *(SKOS + f"{kind}Match" for kind in ("close", "broad", "narrow", "related")),
    *(RDFS + name for name in ("seeAlso", "isDefinedBy")),
    *(space + "source" for space in (DC, DC_TERMS)),
    "http://www.w3.org/ns/prov#wasDerivedFrom",
)
"""Predicates that lead to other data sets and to web pages, rather than to another thing of the graph."""
DEPRECATED = OWL + "deprecated"
DEPRECATED_TYPES = (OWL + "DeprecatedClass", OWL + "DeprecatedProperty")
OBSOLETE_PARENTS = (OBO_IN_OWL + "ObsoleteClass", OBO_IN_OWL + "ObsoleteProperty")

FIRST, REST, NIL = RDF + "first", RDF + "rest", RDF + "nil"
CONTAINER_MEMBER = rf"^{RDF}_[0-9]+$"
ON_PROPERTY = OWL + "onProperty"
FILLERS = tuple(
    OWL + name for name in ("someValuesFrom", "allValuesFrom", "hasValue", "onClass", "onDataRange")
)
"""What a restriction says of the values of its property."""
INTERSECTION, UNION, COMPLEMENT, ONE_OF = (
    OWL + name for name in ("intersectionOf", "unionOf", "complementOf", "oneOf")
)
AXIOM_TYPES = tuple(
    OWL + name
    for name in ("AllDisjointClasses", "AllDisjointProperties", "AllDifferent", "NegativePropertyAssertion")
)
"""Types of blank nodes that state an axiom about others."""
REIFICATIONS = (
    (RDF + "subject", RDF + "predicate", RDF + "object"),
    (OWL + "annotatedSource", OWL + "annotatedProperty", OWL + "annotatedTarget"),
)
"""Predicates by which a node spells out the subject, predicate and object of a statement."""
STATEMENT_VALUE = r"^(?P<base>.*/prop)/statement/(?P<property>P[0-9]+)$"
"""Predicate from a Wikibase statement node to its value; `BASE/PROPERTY` leads to the statement node."""

TEXTS = (
    SKOS_XL + "literalForm",
    RDF + "value",
    LABEL,
    SKOS + "prefLabel",
    RDFS + "comment",
    DC_TERMS + "description",
    DC + "description",
    *(schema + "text" for schema in SCHEMA),
)
"""Predicates of the text of a node that carries nothing but a text."""
TEXT_LINKS = {
    **{SKOS_XL + name: SKOS + name for name in ("prefLabel", "altLabel", "hiddenLabel")},
    **{
        OBO_IN_OWL + name: OBO_IN_OWL + name
        for name in (
            *("hasExactSynonym", "hasRelatedSynonym", "hasBroadSynonym", "hasNarrowSynonym", "hasSynonym"),
            *("hasDefinition", "hasDbXref"),
        )
    },
    **{SKOS + name: SKOS + name for name in ("note", "definition", "example")},
    **{SKOS + f"{kind}Note": SKOS + f"{kind}Note" for kind in ("scope", "editorial", "change", "history")},
}
"""Predicates that lead to a node with a text, and the predicate under which an entity has the text itself."""
ANNOTATION_WORDS = r"(?i)(synonym|definition|label|note|comment|description)s?$"
"""How the IRI of a predicate ends that leads to a text."""
ANNOTATION_TYPE = OWL + "AnnotationProperty"
