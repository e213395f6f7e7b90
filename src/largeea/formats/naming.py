"""The name of an entity: its best label, else the last part of its IRI, unless that is only a code."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.vocabularies import DC, DC_TERMS, FOAF, LABEL, OBO_IN_OWL, SCHEMA, SKOS
from largeea.graph import Attributes, Bool, Int8, Int32, Role, Strings, strings
from largeea.graph.interning import encoded
from largeea.graph.lookup import places_in

LABEL_PREDICATES = (
    LABEL,
    SKOS + "prefLabel",
    FOAF + "name",
    *(namespace + "name" for namespace in SCHEMA),
    *(namespace + "title" for namespace in (DC_TERMS, DC)),
    "http://www.w3.org/2006/vcard/ns#fn",
    "http://www.geonames.org/ontology#name",
)
ALIAS_WEIGHT = 0.95
"""Weight of an alias relative to the main name: if all else is equal, main names agree better."""
LOCAL_NAME_WEIGHT = 0.99
"""Weight of the last part of an IRI in a graph that has labels: if all else is equal, labels agree better."""
_RELATED, _BROADER = 0.9, 0.85
ALIAS_PREDICATES = {
    SKOS + "altLabel": ALIAS_WEIGHT,
    **{namespace + "alternateName": ALIAS_WEIGHT for namespace in SCHEMA},
    DC_TERMS + "alternative": ALIAS_WEIGHT,
    "http://dbpedia.org/ontology/alias": ALIAS_WEIGHT,
    "http://www.geonames.org/ontology#officialName": ALIAS_WEIGHT,
    "http://www.geonames.org/ontology#alternateName": ALIAS_WEIGHT,
    OBO_IN_OWL + "hasExactSynonym": ALIAS_WEIGHT,
    "http://purl.obolibrary.org/obo/IAO_0000118": ALIAS_WEIGHT,
    "http://www.ebi.ac.uk/efo/alternative_term": ALIAS_WEIGHT,
    FOAF + "nick": ALIAS_WEIGHT,
    OBO_IN_OWL + "hasSynonym": _RELATED,
    OBO_IN_OWL + "hasRelatedSynonym": _RELATED,
    SKOS + "hiddenLabel": _RELATED,
    OBO_IN_OWL + "hasBroadSynonym": _BROADER,
    OBO_IN_OWL + "hasNarrowSynonym": _BROADER,
}
"""Predicates of other names and what these weigh relative to the main name, which none of them gives."""

_SPACE, _NOT_ASCII = 0x20, 0x80
"""A text that begins with another byte than these is not blank."""
_PARTS = r"(?s)^(?P<namespace>.*/resource/|.*/wiki/|.*#|.*/|.*:|)(?P<local>.*)$"
"""The namespace ends at the last separator; but DBpedia and wiki titles may contain separators (AC/DC)."""
_CODE = r"^([A-Za-z]{0,12}[._:-]?[0-9]+([._:-][0-9]+)*|[mg]\.[0-9a-z_]+)$"
_SEPARATOR = r"[_ +-]|%20"
_HUMP = r"(\p{Ll})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})"
"""Where a word ends in camel case: aB, or ABc before B."""
_CAMEL_CASE = r"^[\p{L}\p{N}]*(\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll})[\p{L}\p{N}]*$"
"""Letters and digits without a separator, with at least one such place."""
_ALWAYS_CODE = r"^(\{?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?|[0-9a-f]{16,}|[0-9A-F]{16,})$"


@dataclass(frozen=True)
class Naming:
    """Label predicates and languages, preferred ones first.

    After the languages given come labels without a language, English ones, and all others.
    """

    predicates: tuple[str, ...] = LABEL_PREDICATES
    languages: tuple[str, ...] = ()


def name_entities(
    entities: Strings, attributes: Attributes, naming: Naming, roles: Int8 | None = None
) -> Strings:
    """The name of every entity, null where there is none; `roles` say which are classes and properties."""
    labelled, labels = best_labels(attributes, naming)
    if len(labelled) == len(entities):
        return labels
    mask = np.zeros(len(entities), bool)
    mask[labelled] = True
    return pc.replace_with_mask(local_names(entities, roles), pa.array(mask), labels)


def best_labels(attributes: Attributes, naming: Naming) -> tuple[Int32, Strings]:
    """The entities that have a label, ascending, and the preferred label of each."""
    labels = label_rows(attributes, naming.predicates)
    labels = labels[~_blank(attributes.values)[labels[:, 2]]]
    by_language = _language_ranks(attributes.tags, (*naming.languages, "", "en"))
    keys = labels[:, 2], labels[:, 3], by_language[labels[:, 3]], labels[:, 1]
    entity = labels[:, 0]
    several = np.bincount(entity) > 1
    contested = np.flatnonzero(several[entity])
    order = contested[np.lexsort((*(key[contested] for key in keys), entity[contested]))]
    first = np.append(True, entity[order[1:]] != entity[order[:-1]])[: len(order)]
    chosen = np.concatenate([np.flatnonzero(~several[entity]), order[first]])
    chosen = chosen[np.argsort(entity[chosen])]
    return entity[chosen], attributes.values.take(pa.array(labels[chosen, 2]))


def _blank(values: Strings) -> Bool:
    """Mask of the texts that are empty or consist of white space, `[n]`."""
    _, offsets, data = values.buffers()
    blank = np.zeros(len(values), bool)
    if len(values):
        ends = np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
        blank = ends[1:] == ends[:-1]
        text = np.frombuffer(data or b"\0", np.uint8)
        first = text[np.minimum(ends[:-1], len(text) - 1)]
        possible = np.flatnonzero((first <= _SPACE) | (first >= _NOT_ASCII))
        blank[possible] = np.asarray(pc.equal(pc.utf8_trim_whitespace(values.take(possible)), ""), bool)
    return blank


def label_rows(attributes: Attributes, predicates: tuple[str, ...]) -> Int32:
    """Literals of these predicates, `int32[n, 4]` as in `Attributes`, with positions in `predicates`."""
    place = places_in(attributes.predicates, strings(predicates))
    labels: Int32 = attributes.rows[place[attributes.predicate] >= 0]
    labels[:, 1] = place[labels[:, 1]]
    return labels


def local_names(entities: Strings, roles: Int8 | None = None) -> Strings:
    """The last part of each IRI as text: percent-decoded, `_` as space; null where it is only a code.

    `hasNation` becomes `has Nation` if it is a class or property, or if no name of its namespace has a
    separator of words: among titles such as `LeBron_James`, a capital inside a word separates nothing.

    `Q42`, `17` or `node254749496` are codes if most of their namespace looks like that: in a namespace of
    words, the band `U2` and the novel `1984` keep their names. UUIDs and long hexadecimals are always codes.
    """
    if not len(entities):
        return strings()
    parts = pc.extract_regex(pc.utf8_rtrim(entities, "/"), _PARTS)
    local = parts.field("local")
    namespace = encoded(parts.field("namespace")).places
    code = np.asarray(pc.match_substring_regex(local, _CODE))
    always = np.asarray(pc.match_substring_regex(local, _ALWAYS_CODE))
    share = np.bincount(namespace, code) / np.bincount(namespace)
    anonymous = np.asarray(pc.starts_with(entities, "_:"))
    opaque = always | (code & (share[namespace] > 0.5)) | anonymous
    separated = np.asarray(pc.match_substring_regex(local, _SEPARATOR))
    splits = ~separated & (np.bincount(namespace, separated) == 0)[namespace]
    if roles is not None:
        splits |= ~separated & ((roles == Role.CLASS) | (roles == Role.PROPERTY))
    text = pc.replace_substring(_percent_decoded(local), "_", " ")
    if splits.any():
        text = pc.replace_with_mask(text, pa.array(splits), camel_case_split(text.filter(pa.array(splits))))
    text = pc.utf8_trim_whitespace(text)
    opaque |= np.asarray(pc.equal(text, ""))
    return pc.if_else(pa.array(opaque), pa.scalar(None, pa.large_string()), text)


def in_camel_case(texts: Strings) -> Bool:
    """Mask of the texts that are several words in camel case, such as `hasNation`, `[n]`."""
    return np.asarray(pc.fill_null(pc.match_substring_regex(texts, _CAMEL_CASE), False), bool)


def camel_case_split(texts: Strings) -> Strings:
    """The texts with a space where a word ends in camel case: `has Nation` for `hasNation`."""
    return pc.replace_substring_regex(texts, _HUMP, r"\1\3 \2\4")


def _percent_decoded(texts: Strings) -> Strings:
    encoded = pc.match_substring(texts, "%")
    decoded = strings([unquote(text) for text in texts.filter(encoded).to_pylist()])
    return pc.replace_with_mask(texts, encoded, decoded)


def _language_ranks(tags: Strings, preferred: tuple[str, ...]) -> Int32:
    """The rank of each tag, 0 is best; a language also matches its variants (`pt` matches `pt-BR`)."""
    wanted = [f"@{language.lower()}" if language else "" for language in preferred]

    def rank(tag: str) -> int:
        for place, language in enumerate(wanted):
            if tag == language:
                return 2 * place
            if language and tag.startswith(f"{language}-"):
                return 2 * place + 1
        return 2 * len(wanted)

    return np.array([rank(tag) for tag in tags.to_pylist()], np.int32)
