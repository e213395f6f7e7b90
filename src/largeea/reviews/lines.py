"""Decisions as lines of an SSSOM file, and back.

The last column has a fixed form. A line that was torn by a power cut lacks its end, and is ignored.
"""

from __future__ import annotations

import csv
import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import get_args

from largeea.errors import InputError, UsageError
from largeea.formats.links.namespaces import Prefixes
from largeea.formats.prefixes import BUILT_IN, SEMAPV
from largeea.formats.vocabularies import OWL, SKOS
from largeea.reviews.decisions import EXACT_MATCH, Decision, Kind, Reviews

COLUMNS = (
    *("subject_id", "subject_label", "predicate_id", "predicate_modifier", "object_id", "object_label"),
    *("mapping_justification", "author_id", "author_label", "mapping_date", "comment"),
    *("review_time", "review_decision", "review_undoes", "review_id"),
)
"""Those of SSSOM, then extensions."""
_SEE_ALSO = BUILT_IN["rdfs"] + "seeAlso"
"""The predicate of pairs that were not decided: it claims nothing."""
_KINDS: tuple[Kind, ...] = get_args(Kind)
_ID = re.compile(r"[0-9a-f]{16}")
_ORCID = re.compile(r"orcid:[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_LICENSE = "https://w3id.org/sssom/license/unspecified"


class Lines:
    """The form of one file's lines: its columns, and the CURIE map in its header."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._columns: list[str] = []
        self._curie_map: dict[str, str] = dict(BUILT_IN)

    def take(self, line: str, reviews: Reviews) -> None:
        """Read the next line of the file; add its decision to `reviews`."""
        if line.startswith("#"):
            prefix, colon, namespace = line.removeprefix("#").strip().partition(": ")
            if line.startswith("#  ") and colon:
                self._curie_map[prefix] = self._namespace(namespace)
        elif not self._columns:
            self._columns = line.split("\t")
            if missing := set(COLUMNS) - set(self._columns):
                raise InputError(f"lacks the columns {', '.join(sorted(missing))} of reviews", self._path)
        elif line:
            decision = self._decision(line)
            if decision is None:
                reviews.ignored += 1
            else:
                reviews.add(decision)

    def _namespace(self, text: str) -> str:
        try:
            return str(json.loads(text))
        except (ValueError, RecursionError):
            message = f"cannot read the namespace {text[:80]} in the header; write it in double quotes"
            raise InputError(message, self._path) from None

    def _decision(self, line: str) -> Decision | None:
        """Return the decision on a line; None if the line was torn or edited into something else."""
        try:
            cells = next(csv.reader([line], delimiter="\t"), [])
        except csv.Error:
            return None
        row = dict(zip(self._columns, cells, strict=False))
        kind = next((kind for kind in _KINDS if kind == row.get("review_decision")), None)
        if len(cells) != len(self._columns) or kind is None or not _ID.fullmatch(row["review_id"]):
            return None
        predicate = self._expand(row["predicate_id"])
        return Decision(
            self._expand(row["subject_id"]),
            self._expand(row["object_id"]),
            kind,
            row["author_id"] or row["author_label"],
            row["review_id"],
            row["review_time"],
            row["review_undoes"],
            row["subject_label"],
            row["object_label"],
            EXACT_MATCH if predicate == _SEE_ALSO else predicate,
            row["comment"],
        )

    def line(self, decision: Decision) -> str:
        """Return a decision as a line of the file."""
        decides = decision.kind in ("same", "different")
        has_id = _ORCID.fullmatch(decision.author) is not None
        cells = {
            "subject_id": self._shorten(decision.source),
            "subject_label": plain(decision.source_label),
            "predicate_id": self._shorten(decision.predicate if decides else _SEE_ALSO),
            "predicate_modifier": "Not" if decision.kind == "different" else "",
            "object_id": self._shorten(decision.target),
            "object_label": plain(decision.target_label),
            "mapping_justification": "semapv:ManualMappingCuration",
            "author_id": decision.author if has_id else "",
            "author_label": "" if has_id else decision.author,
            "mapping_date": decision.time[:10],
            "comment": plain(decision.comment),
            "review_time": decision.time,
            "review_decision": decision.kind,
            "review_undoes": decision.undoes,
            "review_id": decision.action,
        }
        text = StringIO()
        row = [cells.get(name, "") for name in self._columns]
        csv.writer(text, delimiter="\t", lineterminator="\n").writerow(row)
        return text.getvalue()

    def _expand(self, curie: str) -> str:
        prefix, _, rest = curie.partition(":")
        namespace = self._curie_map.get(prefix)
        return curie if namespace is None else namespace + rest

    def _shorten(self, iri: str) -> str:
        """Return the CURIE with the longest namespace; an IRI in none of them is written whole."""
        known = [(len(stem), prefix) for prefix, stem in self._curie_map.items() if iri.startswith(stem)]
        length, prefix = max(known, default=(0, ""))
        curie = f"{prefix}:{iri[length:]}" if prefix else iri
        if "\n" in iri or "\r" in iri or self._expand(curie) != iri:
            raise UsageError(f"a decision about {iri!r} cannot be stored, because this is not an IRI")
        return curie


def header(namespaces: Iterable[str], declared: Mapping[str, str]) -> str:
    """Return the header of a new file; IRIs of these namespaces are written as CURIEs.

    `declared` are the prefixes of the graphs, which are used where they are not customary ones.
    """
    all_of_them = dict.fromkeys([OWL, SKOS, SEMAPV, BUILT_IN["rdfs"], *namespaces])
    curie_map = Prefixes.of(list(all_of_them), declared).curie_map

    def metadata() -> Iterator[str]:
        yield "curie_map:"
        for prefix, namespace in curie_map.items():
            yield f"  {prefix}: {json.dumps(namespace)}"
        yield f'mapping_set_id: "https://w3id.org/sssom/mappings/{uuid.uuid4()}"'
        yield f'license: "{_LICENSE}"'
        yield 'mapping_set_description: "A log: the last line of an author about a pair counts."'

    return "".join(f"#{line}\n" for line in metadata()) + "\t".join(COLUMNS) + "\n"


def plain(text: str) -> str:
    """Return text without tabs, line breaks and other control characters."""
    return _CONTROL.sub(" ", text).strip()
