"""SSSOM, the Simple Standard for Sharing Ontological Mappings, as tab-separated text with a YAML header."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from largeea.errors import InputError
from largeea.formats.links.model import EQUIVALENCES, LinkCollector, LinkFormat, LinkTable
from largeea.formats.links.sssom_writing import write
from largeea.formats.links.text import first_line
from largeea.formats.links.tsv import text_lines, tsv_rows
from largeea.formats.prefixes import BUILT_IN

_AFTER_KEY = re.compile(r":(?:\s+|$)")
CLASS_TYPES = {"owl class", "rdfs class"}
"""Types of ends that are classes."""
_MAX_NAMESPACE = 2048
"""In characters: every row repeats its namespace."""


def recognises(head: bytes) -> bool:
    """Recognised by its column names, or by a header of comments that is longer than `head`."""
    first = first_line(head)
    return b"subject_id" in first.split(b"\t") or (not first and head.startswith(b"#"))


def read(path: Path) -> LinkTable:
    """The rows that state an equivalence, with CURIEs expanded; those with the modifier `Not` are negated."""
    expander, rows = _opened(path)
    links, negated = LinkCollector(path), LinkCollector(path)
    for at, row in rows:
        is_negated = _is_negated(row, path, at)
        is_equivalence = expander(row["predicate_id"], at) in EQUIVALENCES
        if is_negated or not is_equivalence:
            links.ignored += 1
        if is_equivalence:
            source, target = expander(row["subject_id"], at), expander(row["object_id"], at)
            collector = negated if is_negated else links
            collector.add(at, source, target, row.get("confidence", ""))
    return replace(links.table(), negated=negated.table())


def read_classes(path: Path) -> list[tuple[str, str]]:
    """The pairs of classes in a mapping of two schemas, by whatever predicate, unless they are negated."""
    expander, rows = _opened(path)
    return [
        (expander(row["subject_id"], at), expander(row["object_id"], at))
        for at, row in rows
        if {row.get("subject_type"), row.get("object_type")} <= CLASS_TYPES and not _is_negated(row, path, at)
    ]


def _opened(path: Path) -> tuple[_Expander, Iterator[tuple[int, dict[str, str]]]]:
    """What expands the CURIEs of a file, and its rows by column name, with their line numbers."""
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
    by_name = ((line, dict(zip(columns, row, strict=True))) for line, row in rows)
    return _Expander(path, metadata), by_name


def _is_negated(row: dict[str, str], path: Path, line: int) -> bool:
    """Whether a row has the predicate modifier `Not`; SSSOM has no other."""
    modifier = row.get("predicate_modifier", "").strip()
    if modifier and modifier.lower() != "not":
        raise InputError(f"the predicate_modifier {modifier!r} is unknown; write Not, or nothing", path, line)
    return bool(modifier)


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
