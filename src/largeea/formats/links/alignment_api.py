"""The Alignment format (RDF/XML) of the Alignment API, OAEI and most ontology matchers."""

from __future__ import annotations

from pathlib import Path
from typing import IO
from xml.parsers import expat

import pyarrow as pa

from largeea.errors import InputError
from largeea.formats.links.about import NOTHING, About
from largeea.formats.links.model import MAX_LINE_BYTES, LinkCollector, LinkFormat, LinkTable, Written
from largeea.formats.links.namespaces import by_frequency
from largeea.formats.links.text import C1_CONTROLS, Batches, escaped, joined, text_of
from largeea.formats.streams import open_bytes
from largeea.formats.vocabularies import RDF, XSD
from largeea.formats.xml_guard import MAX_DEPTH, why_not_well_formed
from largeea.graph import Strings, strings
from largeea.matching.alignment import Alignment

_EQUIVALENT = {"=", "==", "≡", "equivalence", "EquivRelation"}
_READ_BYTES = 1 << 20
_KEPT_CHARACTERS = 1024
"""Of the text of an element; measures and relations are shorter."""

_ILLEGAL = [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0xFFFE, 0xFFFF]
_SPELT = [*map(ord, '&<>"\t\n\r'), *C1_CONTROLS]
_XML_ESCAPES = dict.fromkeys(_ILLEGAL, "\ufffd") | {code: f"&#{code};" for code in _SPELT}
"""XML 1.0 cannot represent most control characters; they become U+FFFD."""

_HEAD = f"""\
<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns="http://knowledgeweb.semanticweb.org/heterogeneity/alignment#"
         xmlns:rdf="{RDF}"
         xmlns:xsd="{XSD}">
<Alignment>
  <xml>yes</xml>
  <level>0</level>
  <type>11</type>
  <onto1>%s</onto1>
  <onto2>%s</onto2>
"""
_TAIL = "</Alignment>\n</rdf:RDF>\n"
_MEASURE = f'<measure rdf:datatype="{XSD}float">'


def write(alignment: Alignment, file: IO[bytes], about: About = NOTHING) -> Written:
    """Write the accepted pairs, one on a line; a graph is named by the most frequent namespace in them.

    The relation of a pair is equivalence (`=`), whatever the entities are; the format has no predicates.
    """
    file.write((_HEAD % (_ontology(alignment, "source"), _ontology(alignment, "target"))).encode())
    batches, written = Batches(alignment, accepted_only=True), 0
    for batch in batches:
        cells = _cells(batch)
        file.write(text_of(cells))
        written += len(cells)
    file.write(_TAIL.encode())
    return batches.written(written)


def _cells(batch: pa.RecordBatch) -> Strings:
    source, target = (escaped(batch[side], _XML_ESCAPES) for side in ("source", "target"))
    return joined(
        '  <map><Cell><entity1 rdf:resource="',
        source,
        '"/><entity2 rdf:resource="',
        target,
        f'"/>{_MEASURE}',
        batch["confidence"],
        "</measure><relation>=</relation></Cell></map>\n",
    )


def _ontology(alignment: Alignment, side: str) -> str:
    most_frequent = by_frequency(batch[side] for batch in Batches(alignment, accepted_only=True))[:1]
    return "".join(escaped(strings(most_frequent), _XML_ESCAPES).to_pylist())


def recognises(head: bytes) -> bool:
    """Recognised as XML: no other format of links is XML."""
    beginnings = (b"<?xml", b"<!--", b"<!DOCTYPE", b"<rdf:RDF", b"<Alignment")
    return head.lstrip().startswith(beginnings)


def read(path: Path) -> LinkTable:
    """The cells whose relation is equivalence. Nothing outside the file is fetched or expanded."""
    reader = _CellReader(path)
    with open_bytes(path) as file:
        while block := file.read(_READ_BYTES):
            reader.feed(block)
    return reader.finish()


class _CellReader:
    """Collects cells from XML events. A DOCTYPE, as in OAEI files, is allowed, but not entities in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._links = LinkCollector(path)
        self._cell: dict[str, str] = {}
        self._depth = self._line = self._fed = 0
        self._text = ""
        self._parser = parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = parser.SkippedEntityHandler = self._refuse_entity
        parser.AttlistDeclHandler = self._refuse_attributes

    def feed(self, block: bytes, final: bool = False) -> None:
        self._fed += len(block)
        try:
            self._parser.Parse(block, final)
        except expat.ExpatError as error:
            reason = why_not_well_formed(error, block)
            raise InputError(f"is not well-formed XML: {reason}", self._path, error.lineno) from None
        if not final and self._fed - self._parser.CurrentByteIndex > MAX_LINE_BYTES:
            raise self._refusal(f"has a tag or comment longer than {MAX_LINE_BYTES >> 20} MB")

    def finish(self) -> LinkTable:
        self.feed(b"", final=True)
        return self._links.table()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        element = _local(name)
        self._text = ""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._refusal(f"nests elements more than {MAX_DEPTH} deep, which is refused for safety")
        if element == "Cell":
            self._cell, self._line = {}, self._parser.CurrentLineNumber
        elif element in ("entity1", "entity2"):
            self._cell[element] = attributes.get(f"{RDF} resource", "")

    def _end(self, name: str) -> None:
        element = _local(name)
        self._depth -= 1
        if element in ("measure", "relation"):
            self._cell[element] = self._text.strip()
        elif element == "Cell":
            self._finish_cell()

    def _finish_cell(self) -> None:
        relation = self._cell.get("relation", "=").rpartition(".")[2]
        if relation not in _EQUIVALENT:
            self._links.ignored += 1
            return
        source, target = (self._cell.get(entity, "") for entity in ("entity1", "entity2"))
        self._links.add(self._line, source, target, self._cell.get("measure", ""))

    def _characters(self, text: str) -> None:
        self._text = (self._text + text)[:_KEPT_CHARACTERS]

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise self._refusal(
            f"uses the XML entity {name!r}; entities are refused, because they can reach other files or grow "
            "without bound: write its text in place and remove it from the DOCTYPE"
        )

    def _refuse_attributes(self, element: str, *_: object) -> None:
        raise self._refusal(f"declares attributes of {element!r} in its DOCTYPE; remove them")

    def _refusal(self, message: str) -> InputError:
        return InputError(message, self._path, self._parser.CurrentLineNumber)


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


FORMAT = LinkFormat("alignment-api", "alignment.rdf", write, recognises, read)
