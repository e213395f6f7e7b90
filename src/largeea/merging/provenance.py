"""What a merged graph was made from, as statements of the PROV ontology."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from largeea.formats.vocabularies import DC_TERMS, RDF, RDFS, XSD
from largeea.graph import Strings, strings
from largeea.merging.terms import quoted
from largeea.runs.inputs import InputRecord
from largeea.version import __version__

PROV = "http://www.w3.org/ns/prov#"
_DATE_TIME = XSD + "dateTime"
_SOFTWARE, _ALIGNMENT = "<urn:largeea:software>", "<urn:largeea:alignment:{}>"


def graph_names(bases: tuple[str, str]) -> tuple[str, str]:
    """The IRIs of the source and target graphs: the bases of their ids without the separator at the end."""
    source, target = (base.rstrip(":/#") for base in bases)
    return source, target


def prov_statements(
    graphs: Mapping[str, Sequence[InputRecord]], answer_key: str, finished: str, links: str, options: str
) -> tuple[Strings, Strings, Strings]:
    """The merge as a PROV activity: `(subjects, predicates, objects)` as N-Triples terms.

    `graphs` has the input files by the IRI of their graph. `answer_key` identifies the links, `finished` is
    the time at which they were found, `links` says in words which were used, and `options` how the merge was
    done. The same merge always gives the same statements.
    """
    digest = hashlib.sha256(f"{answer_key} {sorted(graphs)} {links} {options}".encode()).hexdigest()[:32]
    merged, merge = f"<urn:largeea:merged:{digest}>", f"<urn:largeea:merge:{digest}>"
    alignment = _ALIGNMENT.format(answer_key[:32])
    inputs = [f"<{graph}>" for graph in graphs]
    rows = [
        *_about(merged, "Entity", f"merged graph ({options})"),
        (merged, _prov("wasGeneratedBy"), merge),
        *((merged, _prov("wasDerivedFrom"), used) for used in inputs),
        *_about(merge, "Activity", "merge by links"),
        *((merge, _prov("used"), used) for used in [*inputs, alignment]),
        (merge, _prov("wasAssociatedWith"), _SOFTWARE),
        *_about(_SOFTWARE, "SoftwareAgent", f"LargeEA {__version__}"),
        *_about(alignment, "Entity", links),
        (alignment, _prov("generatedAtTime"), f"{_quoted(finished)}^^<{_DATE_TIME}>"),
        *(
            row
            for graph, files in zip(inputs, graphs.values(), strict=True)
            for row in _about_graph(graph, files)
        ),
    ]
    subjects, predicates, objects = (strings(column) for column in zip(*rows, strict=True))
    return subjects, predicates, objects


def _about_graph(graph: str, files: Iterable[InputRecord]) -> Iterator[tuple[str, str, str]]:
    yield graph, f"<{RDF}type>", _prov("Entity")
    for record in files:
        yield graph, f"<{RDFS}label>", _quoted(Path(record["path"]).name)
        yield graph, f"<{DC_TERMS}identifier>", _quoted(f"sha256:{record['sha256']}")


def _about(term: str, kind: str, label: str) -> Iterator[tuple[str, str, str]]:
    yield term, f"<{RDF}type>", _prov(kind)
    yield term, f"<{RDFS}label>", _quoted(label)


def _prov(name: str) -> str:
    return f"<{PROV}{name}>"


def _quoted(text: str) -> str:
    found: str = quoted(strings([text]))[0].as_py()
    return found
