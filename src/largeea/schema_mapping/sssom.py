"""Correspondences of terms as an SSSOM table."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from typing import IO

from largeea.formats.links.namespaces import Prefixes, by_frequency
from largeea.formats.links.tsv import write_header, write_rows
from largeea.formats.prefixes import SEMAPV
from largeea.formats.vocabularies import OWL, SKOS
from largeea.graph import strings
from largeea.schema_mapping.model import Correspondence
from largeea.version import __version__

_COLUMNS = (
    "subject_id",
    "subject_type",
    "predicate_id",
    "object_id",
    "object_type",
    "mapping_justification",
    "confidence",
    "other",
)
_TYPES = {"relation": "rdf property", "attribute": "rdf property", "class": "rdfs class"}


def write_sssom(
    rows: Sequence[Correspondence], file: IO[bytes], declared: Mapping[str, str] | None = None
) -> None:
    """Write correspondences with a header of prefixes; the same rows always give the same bytes.

    `declared` are the prefixes of the graphs, which are used where they are not customary ones.
    The column `other` has what SSSOM has no column for: the support, both shares, and the direction.
    """
    ends = strings(one.source for one in rows), strings(one.target for one in rows)
    predicates = strings(one.predicate for one in rows)
    namespaces = list(dict.fromkeys([OWL, SEMAPV, SKOS, *by_frequency(ends)]))
    prefixes = Prefixes.of(namespaces, declared)
    digest = hashlib.sha256("\n".join(map(repr, rows)).encode()).digest()
    header = [
        "curie_map:",
        *(f"  {prefix}: {json.dumps(namespace)}" for prefix, namespace in prefixes.curie_map.items()),
        f"mapping_set_id: https://w3id.org/sssom/mappings/{uuid.UUID(bytes=digest[:16], version=5)}",
        'license: "https://w3id.org/sssom/license/unspecified"',
        'mapping_tool: "LargeEA"',
        f"mapping_tool_version: {json.dumps(__version__)}",
    ]
    file.writelines(f"#{line}\n".encode() for line in header)
    write_header(file, _COLUMNS)
    types = strings(_TYPES[one.kind] for one in rows)
    columns = [
        prefixes.shorten(ends[0]),
        types,
        prefixes.shorten(predicates),
        prefixes.shorten(ends[1]),
        types,
        strings(["semapv:InstanceBasedMatching"] * len(rows)),
        strings(f"{one.confidence:.3f}" for one in rows),
        strings(map(_other, rows)),
    ]
    write_rows(file, [columns])


def _other(row: Correspondence) -> str:
    facts = [f"support={row.support}"]
    if row.forward is not None and row.backward is not None:
        facts += [f"forward={row.forward:.3f}", f"backward={row.backward:.3f}"]
    return "|".join([*facts, *(["direction=inverse"] if row.inverse else [])])
