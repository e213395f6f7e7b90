"""Reduces a dump to a small file of the statements that the benchmark can use, one block in memory at a time.

The file is named after the dump's content and the two languages, and is written atomically, so an interrupted
build resumes with the next dump.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from largeea.datasets.dbp1m.resources import Languages
from largeea.datasets.dbp1m.stored import (
    FORMAT_VERSION,
    SCHEMA,
    Kind,
    StoredDump,
    get_summary,
    parquet_writer,
    put_summary,
    writing,
)
from largeea.errors import InputError
from largeea.formats import rdf, recognise
from largeea.formats.builder import GraphBuilder
from largeea.formats.rejects import Rejects
from largeea.formats.streams import digest, open_bytes, plain_suffix
from largeea.formats.vocabularies import LABEL
from largeea.graph import Bool, Int32, Strings, strings
from largeea.graph.interning import StringTable
from largeea.graph.lookup import are_in
from largeea.progress import note, step
from largeea.runs.files import atomic_write

LINKS = strings(
    ["http://www.w3.org/2002/07/owl#sameAs", "http://dbpedia.org/ontology/wikiPageInterLanguageLink"]
)
REDIRECTS = strings(["http://dbpedia.org/ontology/wikiPageRedirects", "http://dbpedia.org/property/redirect"])
PAGE_FACTS = "http://dbpedia.org/ontology/wikiPage"
"""Predicates about Wikipedia's pages rather than the resources they describe."""

_STATEMENT = re.compile(rb"^\s*(<[^<>]*>|_:\S+)\s+<[^<>]*>\s+\S.*\.\s*(#.*)?$")
_LOOKED_AT = 1 << 16

Column = tuple[Strings, Int32]
"""Distinct strings, and the position of each row's string among them."""


@dataclass(frozen=True)
class Side:
    """One side of the benchmark: its language, that of the other side, and which of the two it is."""

    language: str
    other: str
    is_source: bool

    @property
    def name(self) -> str:
        """`source` or `target`."""
        return "source" if self.is_source else "target"


def distil_dump(dump: Path, side: Side, work: Path, rejects: Rejects) -> StoredDump:
    """Distil a dump into `work`, or find the result of an earlier build there."""
    sha256 = digest(dump).hex()
    key = hashlib.sha256(f"{FORMAT_VERSION} {side} {sha256}".encode()).hexdigest()
    file = work / f"{key[:32]}.parquet"
    summary = get_summary(file)
    if summary is None:
        with step(f"distil {dump.name}"):
            summary = _distil_anew(dump, side, file, rejects)
    else:
        note(f"{dump.name}: taken from an earlier build")
        for line, reason, text in summary["rejects"]:
            rejects.add(dump, line, reason, text)
        for line, part, reason, text in summary["repaired"]:
            rejects.add_repaired(dump, line, part, reason, text)
    stored = StoredDump(dump, file, sha256, rejected=len(summary["rejects"]), **summary["facts"])
    if not any(stored.kept.values()):
        note(f"{dump.name}: holds nothing about {side.language!r}")
    return stored


def dump_format(dump: Path) -> str:
    """The syntax of a dump. DBpedia gives N-Triples the suffix `.ttl` too; those are read line by line."""
    if plain_suffix(dump) == ".ttl" and _is_line_based(dump):
        return "n-triples"
    format = recognise(dump)
    if format not in rdf.SUFFIXES.values():
        raise InputError(f"is {format}; a dump is RDF: N-Triples, N-Quads or Turtle", dump)
    return format


def _is_line_based(dump: Path) -> bool:
    with open_bytes(dump) as stream:
        lines = stream.read(_LOOKED_AT).split(b"\n")
    stated = [line for line in lines[:-1] or lines if line.strip() and not line.lstrip().startswith(b"#")]
    return 2 * sum(bool(_STATEMENT.match(line)) for line in stated) >= len(stated)


def _distil_anew(dump: Path, side: Side, file: Path, rejects: Rejects) -> dict[str, Any]:
    left_out, repaired = len(rejects.lines), len(rejects.repaired)
    with atomic_write(file) as stream, parquet_writer(stream) as writer:
        distiller = _Distiller(side, file, writer)
        rdf.read_rdf(dump, dump_format(dump), distiller, rejects)
        summary = {
            "facts": distiller.facts(),
            "rejects": [[line.line, line.reason, line.text] for line in rejects.lines[left_out:]],
            "repaired": [
                [kept.line, kept.part, kept.reason, kept.text] for kept in rejects.repaired[repaired:]
            ],
        }
        put_summary(writer, summary)
    return summary


class _Distiller(GraphBuilder):
    """A graph builder that writes the statements of each block to a file instead of keeping them."""

    def __init__(self, side: Side, file: Path, writer: pq.ParquetWriter) -> None:
        super().__init__()
        self._side, self._file, self._writer = side, file, writer
        self._kept, self._subjects, self._linked = Counter[str](), Counter[str](), Counter[str]()

    def facts(self) -> dict[str, Any]:
        """Counts of statements read and kept."""
        return {
            "statements": self.statements,
            "kept": {kind.word: self._kept[kind.word] for kind in Kind},
            "subjects": dict(self._subjects),
            "linked": dict(self._linked),
        }

    def add_triples(self, head: Int32, relation: Int32, tail: Int32) -> None:
        """Keep relations between resources of this language, redirects, and links to the other language."""
        nodes, predicates = self._take_terms()
        is_link, is_redirect, is_relation = (mask[relation] for mask in _kinds_of(predicates))
        languages = self._count(nodes, head)
        self._linked.update(languages.pairs(head[is_link], tail[is_link]))

        own, other = languages.are(self._side.language), languages.are(self._side.other)
        source, target = (own, other) if self._side.is_source else (other, own)
        for kind, subject, object, rows in (
            (Kind.TRIPLE, head, tail, is_relation & own[head] & own[tail]),
            (Kind.REDIRECT, head, tail, is_redirect & own[head] & own[tail]),
            (Kind.LINK, head, tail, is_link & source[head] & target[tail]),
            (Kind.LINK, tail, head, is_link & source[tail] & target[head]),
        ):
            self._write(kind, rows, (nodes, subject), (predicates, relation), (nodes, object))

    def add_literals(self, entity: Int32, predicate: Int32, value: Int32, tag: Int32) -> None:
        """Keep labels that are in this language or have no language tag."""
        values, tags = self.values.strings(), pc.utf8_lower(self.tags.strings())
        self.values, self.tags = StringTable(), StringTable()
        nodes, predicates = self._take_terms()
        own = self._count(nodes, entity).are(self._side.language)
        spoken = np.asarray(pc.match_substring_regex(tags, rf"^(@{self._side.language}(-.*)?)?$"))
        is_label = np.asarray(pc.equal(predicates, LABEL))
        rows = is_label[predicate] & spoken[tag] & own[entity]
        self._write(Kind.LABEL, rows, (nodes, entity), (predicates, predicate), (values, value))

    def _take_terms(self) -> tuple[Strings, Strings]:
        """Return the nodes and predicates of this block, and reset both for the next block."""
        nodes, predicates = self.nodes.strings(), self.predicates.strings()
        self.nodes, self.predicates = StringTable(), StringTable()
        return nodes, predicates

    def _count(self, nodes: Strings, subject: Int32) -> Languages:
        languages = Languages(nodes)
        self.statements += len(subject)
        self._subjects.update(languages.counts(subject))
        return languages

    def _write(self, kind: Kind, rows: Bool, *terms: Column) -> None:
        count = int(rows.sum())
        if not count:
            return
        self._kept[kind.word] += count
        columns = [words.take(pa.array(numbers[rows])) for words, numbers in terms]
        kinds = pa.array(np.full(count, kind, np.int8))
        with writing(self._file):
            self._writer.write_batch(pa.record_batch([kinds, *columns], schema=SCHEMA))


def _kinds_of(predicates: Strings) -> tuple[Bool, Bool, Bool]:
    """Masks `[n]` of the predicates that are links, redirects, and relations between resources."""
    is_link = are_in(predicates, LINKS)
    is_redirect = are_in(predicates, REDIRECTS)
    about_pages = np.asarray(pc.starts_with(predicates, PAGE_FACTS))
    return is_link, is_redirect, ~(is_link | is_redirect | about_pages)
