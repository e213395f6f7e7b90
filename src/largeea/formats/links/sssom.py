"""SSSOM, the Simple Standard for Sharing Ontological Mappings, as tab-separated text with a YAML header."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError
from largeea.formats.links.model import EQUIVALENCES, OWL, LinkCollector, LinkFormat, LinkTable, Written
from largeea.formats.links.namespaces import BUILT_IN, SEMAPV, Prefixes, by_frequency
from largeea.formats.links.predicates import predicates_of
from largeea.formats.links.text import Batches, first_line, joined, text_of
from largeea.formats.links.tsv import text_lines, tsv_rows, write_header, write_rows
from largeea.graph import Strings
from largeea.matching.alignment import Alignment

_COLUMNS = (
    "subject_id",
    "subject_label",
    "predicate_id",
    "object_id",
    "object_label",
    "mapping_justification",
    "confidence",
)
STRUCTURAL = {"structure", "neighbours", "surroundings"}
"""Kinds of evidence that do not come from names."""
_LICENSE = "https://w3id.org/sssom/license/unspecified"
_BREAKS_YAML = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
_AFTER_KEY = re.compile(r":(?:\s+|$)")
_MAX_NAMESPACE = 2048
"""In characters: every row repeats its namespace."""


def write(alignment: Alignment, file: IO[bytes], predicate: str | None = None) -> Written:
    """Write the accepted pairs. A first pass collects the prefixes, which the header declares."""
    iris = (column for batch in Batches(alignment, accepted_only=True).iris() for column in batch)
    predicates = predicates_of(alignment, predicate)
    vocabularies = OWL, SEMAPV, *by_frequency([predicates.unique()])
    prefixes = Prefixes.of(list(dict.fromkeys([*vocabularies, *by_frequency(iris)])))
    file.writelines(f"#{line}\n".encode() for line in _header(prefixes, _mapping_set_id(alignment)))
    batches = Batches(alignment, accepted_only=True)
    write_header(file, _COLUMNS)
    rows = _rows(batches, predicates, prefixes, _justifications(alignment))
    return batches.written(write_rows(file, rows))


def _justifications(alignment: Alignment) -> Strings:
    """Why each accepted pair is in the file: people have given it, or matching found it."""
    by_name = "name" in alignment.evidence and not alignment.evidence.keys() & STRUCTURAL
    found = "LexicalMatching" if by_name else "CompositeMatching"
    given = pa.array(alignment.given[alignment.accepted])
    return pc.if_else(given, "semapv:ManualMappingCuration", f"semapv:{found}").cast(pa.large_string())


def _rows(
    batches: Batches, predicates: Strings, prefixes: Prefixes, justifications: Strings
) -> Iterator[list[pa.Array]]:
    shortened, done = prefixes.shorten(predicates), 0
    for batch in batches:
        done += len(batch)
        yield [
            prefixes.shorten(batch["source"]),
            batch["source_name"],
            shortened[done - len(batch) : done],
            prefixes.shorten(batch["target"]),
            batch["target_name"],
            justifications[done - len(batch) : done],
            batch["confidence"],
        ]


def _header(prefixes: Prefixes, mapping_set_id: str) -> Iterator[str]:
    yield "curie_map:"
    for prefix, namespace in prefixes.curie_map.items():
        yield f"  {prefix}: {_yaml(namespace)}"
    yield f"mapping_set_id: {_yaml(mapping_set_id)}"
    yield f"license: {_yaml(_LICENSE)}"
    yield 'mapping_tool: "LargeEA"'
    try:
        yield f"mapping_tool_version: {_yaml(version('largeea'))}"
    except PackageNotFoundError:
        return


def _mapping_set_id(alignment: Alignment) -> str:
    """An id derived from the pairs, so that the same pairs always have the same id."""
    digest = hashlib.sha256()
    for source, target in Batches(alignment, accepted_only=True).iris():
        digest.update(text_of(joined(source, "\t", target, "\n")))
    return f"https://w3id.org/sssom/mappings/{uuid.UUID(bytes=digest.digest()[:16], version=5)}"


def _yaml(text: str) -> str:
    """A double-quoted YAML scalar: a JSON string in which YAML's other line ends are escaped too."""
    return _BREAKS_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def recognises(head: bytes) -> bool:
    """Recognised by its column names, or by a header of comments that is longer than `head`."""
    first = first_line(head)
    return b"subject_id" in first.split(b"\t") or (not first and head.startswith(b"#"))


def read(path: Path) -> LinkTable:
    """The rows that state an equivalence, with CURIEs expanded; those with the modifier `Not` are negated."""
    lines = text_lines(path)
    metadata: list[str] = []
    for line in lines:
        if not line.startswith("#"):
            lines = itertools.chain([line], lines)
            break
        metadata.append(line)
    rows = tsv_rows(lines, path, quoted=True, skipped=len(metadata))
    _, columns = next(rows, (0, []))
    if missing := {"subject_id", "predicate_id", "object_id"} - set(columns):
        raise InputError(f"lacks the columns {', '.join(sorted(missing))} of an SSSOM file", path)
    subject, predicate, object_ = map(columns.index, ("subject_id", "predicate_id", "object_id"))
    modifier, confidence = (
        columns.index(name) if name in columns else None for name in ("predicate_modifier", "confidence")
    )
    expander = _Expander(path, metadata)
    links, negated = LinkCollector(path), LinkCollector(path)
    for at, row in rows:
        is_negated = modifier is not None and row[modifier].strip() == "Not"
        is_equivalence = expander(row[predicate], at) in EQUIVALENCES
        if is_negated or not is_equivalence:
            links.ignored += 1
        if is_equivalence:
            source, target = expander(row[subject], at), expander(row[object_], at)
            collector = negated if is_negated else links
            collector.add(at, source, target, row[confidence] if confidence is not None else "")
    return replace(links.table(), negated=negated.table())


class _Expander:
    """Expands CURIEs by the file's own `curie_map`; complete `http://` IRIs are kept."""

    def __init__(self, path: Path, metadata: Iterable[str]) -> None:
        self._path = path
        self._namespaces = BUILT_IN | dict(_curie_map(metadata, path))

    def __call__(self, curie: str, line: int) -> str:
        prefix, _, rest = curie.partition(":")
        namespace = self._namespaces.get(prefix)
        if namespace is not None:
            return namespace + rest
        if rest.startswith("//"):
            return curie
        raise InputError(
            f"{curie!r} has the prefix {prefix!r}, which the curie_map in the header does not declare",
            self._path,
            line,
        )


def _curie_map(metadata: Iterable[str], path: Path) -> Iterator[tuple[str, str]]:
    """Prefixes and namespaces from the YAML header, which has one on each line."""
    outer: int | None = None
    for number, line in enumerate(metadata, start=1):
        text = line.lstrip("#").rstrip()
        entry = text.lstrip()
        colon = _AFTER_KEY.search(entry)
        if colon is None or not colon.start():
            continue
        key, indent = entry[: colon.start()].rstrip(), len(text) - len(entry)
        if outer is None or indent <= outer:
            outer = indent if key == "curie_map" else None
            continue
        namespace = _scalar(entry[colon.end() :], path, number)
        if len(namespace) > _MAX_NAMESPACE:
            raise InputError(f"a namespace is longer than {_MAX_NAMESPACE} characters", path, number)
        yield _scalar(key, path, number), namespace


def _scalar(text: str, path: Path, line: int) -> str:
    if text.startswith("'"):
        return text[1:].rpartition("'")[0].replace("''", "'")
    if not text.startswith('"'):
        return text.partition(" #")[0].rstrip()
    try:
        return str(json.JSONDecoder().raw_decode(text)[0])
    except ValueError:
        raise InputError(
            f"cannot read {text} in the curie_map; write it as a plain string", path, line
        ) from None


FORMAT = LinkFormat("sssom", "alignment.sssom.tsv", write, recognises, read)
