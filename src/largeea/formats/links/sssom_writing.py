"""Writing SSSOM, the Simple Standard for Sharing Ontological Mappings."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.links.about import NOTHING, About, Origin, origin_of
from largeea.formats.links.model import Written
from largeea.formats.links.namespaces import Prefixes, by_frequency
from largeea.formats.links.predicates import predicates_of
from largeea.formats.links.text import Batches, joined, part, text_of
from largeea.formats.links.tsv import write_header, write_rows
from largeea.formats.prefixes import BUILT_IN, CUSTOMARY, SEMAPV
from largeea.formats.vocabularies import OWL
from largeea.graph import Bool, Strings, strings
from largeea.graph.lookup import distinct, places_in
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality
from largeea.version import __version__

UNSPECIFIED_LICENSE = "https://w3id.org/sssom/license/unspecified"
"""What SSSOM, which requires a licence, has for none."""
LEXICAL = {"name", "learnt", "semantic", "strings", "literals"}
STRUCTURAL = {"structure", "neighbours", "surroundings"}
"""Kinds of evidence: by names and values, and by neighbours."""
SEE_ALSO = BUILT_IN["rdfs"] + "seeAlso"
"""The predicate of doubtful pairs: it claims nothing."""
_COLUMNS = (
    *("subject_id", "subject_label", "predicate_id", "object_id", "object_label", "mapping_justification"),
    "confidence",
)
_REASONS = (
    *("MappingReview", "ManualMappingCuration", "CompositeMatching", "LexicalMatching"),
    *("StructuralMatching", "UnspecifiedMatching"),
)
_BREAKS_YAML = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
_ORCID = re.compile(r"orcid:[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")


def write(alignment: Alignment, file: IO[bytes], about: About = NOTHING) -> Written:
    """Write the accepted pairs, and the doubtful ones if asked for, below a header about the whole set.

    A first pass collects the prefixes, which the header declares.
    """
    chosen = alignment if about.with_doubtful else part(alignment, np.flatnonzero(alignment.accepted))
    origins = origin_of(chosen.source), origin_of(chosen.target)
    columns = _columns(chosen, about)
    iris = (column for batch in Batches(chosen, accepted_only=False).iris() for column in batch)
    namespaces = [OWL, SEMAPV, *by_frequency([distinct(columns["predicate_id"])]), *by_frequency(iris)]
    namespaces += by_frequency([strings(origin.iri for origin in origins if origin)])
    namespaces += [CUSTOMARY["orcid"]] if "reviewer_id" in columns else []
    declared = chosen.target.prefixes | chosen.source.prefixes
    prefixes = Prefixes.of(list(dict.fromkeys(namespaces)), declared)
    header = _header(prefixes, about, origins, *_identity(chosen, columns["predicate_id"]))
    file.writelines(f"#{line}\n".encode() for line in header)
    columns["predicate_id"] = prefixes.shorten(columns["predicate_id"])
    names = [*_COLUMNS, *(name for name in columns if name not in _COLUMNS)]
    write_header(file, names)
    batches = Batches(chosen, accepted_only=False)
    return batches.written(write_rows(file, _rows(batches, prefixes, columns, names)))


def _columns(chosen: Alignment, about: About) -> dict[str, Strings]:
    """What is said about each pair, besides its ends and its confidence, by the name of its column."""
    predicates = predicates_of(part(chosen, np.flatnonzero(chosen.accepted)), about.predicate)
    doubtful = pa.repeat(pa.scalar(SEE_ALSO, pa.large_string()), len(chosen.pairs))
    columns = {"predicate_id": pc.replace_with_mask(doubtful, pa.array(chosen.accepted), predicates)}
    by_id, by_name = _reviewers(chosen, about)
    reviewed = np.asarray(pc.or_(pc.is_valid(by_id), pc.is_valid(by_name)))
    columns["mapping_justification"] = _justifications(chosen, reviewed)
    if chosen.cardinality is not Cardinality.ONE_TO_ONE:
        columns["mapping_cardinality"] = _cardinalities(chosen)
    columns |= {"reviewer_id": by_id} if by_id.null_count < len(by_id) else {}
    columns |= {"reviewer_label": by_name} if by_name.null_count < len(by_name) else {}
    return columns


def _justifications(chosen: Alignment, reviewed: Bool) -> Strings:
    """Why each pair is in the file: people have given or confirmed it, or what matching found it by."""
    lexical, structural = (
        np.any([column > 0 for kind, column in chosen.evidence.items() if kind in kinds], axis=0)
        for kinds in (LEXICAL, STRUCTURAL)
    )
    conditions = [reviewed, chosen.given, lexical & structural, lexical, structural]
    *reasons, otherwise = (f"semapv:{name}" for name in _REASONS)
    found = np.select([np.broadcast_to(one, len(chosen.pairs)) for one in conditions], reasons, otherwise)
    return strings(found)


def _cardinalities(chosen: Alignment) -> Strings:
    """How many objects the subject of each pair has, and subjects its object: `n:1`, `1:n`, ..."""
    ends = chosen.pairs.T[::-1]
    counted = [chosen.pairs.ravel()] * 2 if chosen.cardinality is Cardinality.WITHIN else ends
    subjects, objects = (
        np.where(np.bincount(all_ids, minlength=1)[ids] > 1, "n", "1")
        for all_ids, ids in zip(counted, ends, strict=True)
    )
    return joined(pa.array(subjects), ":", pa.array(objects))


def _reviewers(chosen: Alignment, about: About) -> tuple[Strings, Strings]:
    """Who has confirmed each pair: ORCID iDs, and other names; null for a pair that nobody has."""
    keys = strings(f"{source}\t{target}" for source, target in about.reviewers)
    place = np.full(len(chosen.pairs), -1, np.int32)
    if len(keys):
        pairs = (joined(*ends, separator="\t") for ends in Batches(chosen, accepted_only=False).iris())
        place = np.concatenate([place[:0], *(places_in(some, keys) for some in pairs)])
    authors = about.reviewers.values()
    ids = strings("|".join(filter(_ORCID.fullmatch, some)) or None for some in authors)
    names = strings("|".join(one for one in some if not _ORCID.fullmatch(one)) or None for some in authors)
    rows = pa.array(place, mask=place < 0)
    return ids.take(rows), names.take(rows)


def _rows(
    batches: Batches, prefixes: Prefixes, columns: dict[str, Strings], names: list[str]
) -> Iterator[list[pa.Array]]:
    done = 0
    for batch in batches:
        own = {
            "subject_id": prefixes.shorten(batch["source"]),
            "subject_label": batch["source_name"],
            "object_id": prefixes.shorten(batch["target"]),
            "object_label": batch["target_name"],
            "confidence": batch["confidence"],
        }
        rows = {name: column.slice(done, len(batch)) for name, column in columns.items()}
        yield [(own | rows)[name] for name in names]
        done += len(batch)


def _header(
    prefixes: Prefixes, about: About, origins: Sequence[Origin | None], set_id: str, set_version: str
) -> Iterator[str]:
    yield "curie_map:"
    for prefix, namespace in prefixes.curie_map.items():
        yield f"  {prefix}: {_yaml(namespace)}"
    yield f"mapping_set_id: {_yaml(set_id)}"
    yield f"mapping_set_version: {_yaml(set_version)}"
    yield f"license: {_yaml(about.license or UNSPECIFIED_LICENSE)}"
    for side, origin in zip(("subject", "object"), origins, strict=True):
        if origin is not None:
            yield f"{side}_source: {_yaml(prefixes.shorten(strings([origin.iri]))[0].as_py())}"
        if origin is not None and origin.version:
            yield f"{side}_source_version: {_yaml(origin.version)}"
    yield 'mapping_tool: "LargeEA"'
    yield f"mapping_tool_version: {_yaml(__version__)}"
    if about.date is not None:
        yield f"mapping_date: {_yaml(about.date)}"


def _identity(chosen: Alignment, predicates: Strings) -> tuple[str, str]:
    """An id of the set that follows from its pairs, and a version from predicates and confidences, too."""
    digest = hashlib.sha256()
    for source, target in Batches(chosen, accepted_only=False).iris():
        digest.update(text_of(joined(source, "\t", target, "\n")))
    set_id = f"https://w3id.org/sssom/mappings/{uuid.UUID(bytes=digest.digest()[:16], version=5)}"
    digest.update(text_of(predicates))
    digest.update(np.ascontiguousarray(chosen.confidence).data)
    return set_id, digest.hexdigest()[:12]


def _yaml(text: str) -> str:
    """A double-quoted YAML scalar: a JSON string in which YAML's other line ends are escaped too."""
    return _BREAKS_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))
