"""`merge_run`: one graph from both graphs of a finished run and its accepted links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.finished import FinishedRun
from largeea.formats.links.predicates import predicates_of
from largeea.formats.links.text import joined, part
from largeea.formats.streams import is_compressed
from largeea.graph import Links
from largeea.matching.alignment import Alignment
from largeea.merging.conflicts import Side, write_conflicts
from largeea.merging.entities import Canonical, is_within, merged_entities, renamed_terms
from largeea.merging.inputs import Inputs, inputs_of
from largeea.merging.output import check_output, written
from largeea.merging.provenance import graph_names, prov_statements
from largeea.merging.sides import SideAccount, write_files, write_stored
from largeea.merging.statements import StatementLines
from largeea.merging.terms import Terms
from largeea.progress import step
from largeea.runs.files import atomic_write
from largeea.runs.inputs import check_unchanged
from largeea.runs.manifest import records_of_answer

Provenance = Literal["graphs", "prov"]
_LINKS_GRAPH = "urn:largeea:links"
_BASE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|^`\\]*[^\s<>\"{}|^`\\:/#][:/#]*")


@dataclass(frozen=True)
class Merged:
    """What `merge_run` has written.

    `written` counts all statements of the output: those of both graphs, of the links and of the provenance.
    A statement that both graphs have is written twice.
    """

    output: Path
    links: int
    source: SideAccount
    target: SideAccount
    link_statements: int
    provenance_statements: int
    conflicts: int
    conflicts_file: Path | None

    @property
    def written(self) -> int:
        """All statements of the output."""
        return self.source.written + self.target.written + self.link_statements + self.provenance_statements

    def to_json(self) -> dict[str, Any]:
        """The counts by name."""
        return {
            "output": str(self.output),
            "links": self.links,
            "source": self.source.to_json(),
            "target": self.target.to_json(),
            "link_statements": self.link_statements,
            "provenance_statements": self.provenance_statements,
            "written": self.written,
            "conflicts": self.conflicts,
            "conflicts_file": None if self.conflicts_file is None else str(self.conflicts_file),
        }


def merge_run(
    folder: Path | str,
    output: Path | str,
    *,
    canonical: Canonical = "source",
    keep_both: bool = False,
    threshold: float = 0.0,
    provenance: Provenance | None = None,
    bases: tuple[str, str] = ("urn:largeea:source:", "urn:largeea:target:"),
) -> Merged:
    """Write one graph from both graphs of a finished run, joined by its accepted links.

    Every mention of a linked entity gets the IRI that the `canonical` graph has for it, the first one if it
    has several; with `keep_both` all IRIs stay, and statements link them. The graph of a run that searched
    duplicates is written once. Links with a confidence below `threshold` are not used. The suffix
    of `output` says the syntax and the compression: `merged.nt`, `merged.ttl.gz`, `merged.nq.zst`.
    `provenance="graphs"` puts the statements of each graph into a named graph, `"prov"` adds statements about
    the merge. `bases` begin the IRIs of source and target ids that are not IRIs, such as keys of tables.

    Example: `merge_run("run", "merged.nt.zst", threshold=0.9).conflicts`.
    """
    place, path = Path(folder), Path(output)
    _check_options(canonical, threshold, provenance, bases)
    run = FinishedRun(place)
    inputs = inputs_of(place)
    check_output(path, provenance == "graphs", inputs.paths)
    alignment = _chosen(run.alignment, threshold)
    source_terms = Terms(bases[0], "s")
    plain = source_terms, source_terms if is_within(alignment) else Terms(bases[1], "t")
    terms = plain if keep_both else renamed_terms(plain, alignment, canonical)
    graphs = graph_names(bases)
    named = graphs if provenance == "graphs" else None
    with step("merge"), written(path) as stream:
        accounts = _write_sides(inputs, alignment, stream, terms, named)
        links = _write_links(alignment, plain, stream, named is not None) if keep_both else 0
        how = "both IRIs kept" if keep_both else f"IRIs of the {canonical}"
        described = (
            _write_provenance(place, inputs, alignment, stream, graphs, how) if provenance == "prov" else 0
        )
    with step("conflicts"):
        conflicts, listed = _list_conflicts(alignment, run.same, terms, path)
    return Merged(path, len(alignment.pairs), *accounts, links, described, conflicts, listed)


def _check_options(canonical: str, threshold: float, provenance: str | None, bases: tuple[str, str]) -> None:
    if canonical not in get_args(Canonical):
        raise UsageError(f"canonical is {canonical!r}; choose source or target")
    if provenance not in (None, *get_args(Provenance)):
        raise UsageError(f"provenance is {provenance!r}; choose graphs or prov, or leave it out")
    if not 0 <= threshold <= 1:
        raise UsageError(f"threshold is {threshold}; give a number between 0 and 1")
    for base in bases:
        if not _BASE.fullmatch(base):
            raise UsageError(
                f"the base {base!r} is not the beginning of an IRI such as https://example.org/a/"
            )
    if len(set(graph_names(bases))) < len(bases):
        raise UsageError(f"both graphs have the base {bases[0]!r}; give them different ones")


def _chosen(alignment: Alignment, threshold: float) -> Alignment:
    """The accepted pairs with at least this confidence."""
    return part(alignment, np.flatnonzero(alignment.accepted & (alignment.confidence >= threshold)))


def _write_sides(
    inputs: Inputs,
    alignment: Alignment,
    stream: IO[bytes],
    terms: tuple[Terms, Terms],
    graphs: tuple[str, str] | None,
) -> tuple[SideAccount, SideAccount]:
    rejects, accounts = inputs.new_rejects(), list[SideAccount]()
    sides = (inputs.source, alignment.source), (inputs.target, alignment.target)
    for number, (given, graph) in enumerate(sides):
        if number and is_within(alignment):
            accounts.append(SideAccount(from_files=True, read=0, written=0))
            continue
        lines = StatementLines(stream, terms[number], graphs and f"<{graphs[number]}>")
        if given.rdf_files:
            accounts.append(write_files(given.rdf_files, inputs.reading, rejects, lines))
            check_unchanged(given.records)
            accounts[-1].check_statements(graph.counts.statements)
        else:
            accounts.append(write_stored(graph, lines))
    return accounts[0], accounts[1]


def _write_links(alignment: Alignment, terms: tuple[Terms, Terms], stream: IO[bytes], quads: bool) -> int:
    """Write a statement for each link whose ends have different IRIs; their number."""
    source, target = (
        side.nodes(graph.entities.take(pa.array(ends)))
        for side, graph, ends in zip(
            terms, (alignment.source, alignment.target), alignment.pairs.T, strict=True
        )
    )
    lines = StatementLines(stream, terms[0], f"<{_LINKS_GRAPH}>" if quads else None)
    different = pc.not_equal(source, target)
    predicates = joined("<", predicates_of(alignment), ">")
    lines.add_terms(*(column.filter(different) for column in (source, predicates, target)))
    return lines.written


def _write_provenance(
    folder: Path, inputs: Inputs, alignment: Alignment, stream: IO[bytes], graphs: tuple[str, str], how: str
) -> int:
    answer = records_of_answer(folder)["alignment"]
    least = float(alignment.confidence.min(initial=1))
    used = f"{len(alignment.pairs)} links with a confidence of at least {least:.3f}"
    files = {graphs[0]: inputs.source.records}
    if not is_within(alignment):
        files[graphs[1]] = inputs.target.records
    lines = StatementLines(stream, Terms("", ""), None)
    lines.add_terms(*prov_statements(files, answer["key"], answer["finished"], used, how))
    return lines.written


def _list_conflicts(
    alignment: Alignment, same: Links, terms: tuple[Terms, Terms], output: Path
) -> tuple[int, Path | None]:
    """List the conflicts in a file beside the output; their number, and the file if there are any."""
    merged = merged_entities(alignment, Links(np.concatenate([alignment.pairs, same.pairs])))
    source = Side(alignment.source, terms[0], merged[0])
    target = source if is_within(alignment) else Side(alignment.target, terms[1], merged[1])
    place = output.with_name(f"{output.name.removesuffix(_suffixes(output))}.conflicts.tsv")
    with atomic_write(place) as file:
        conflicts = write_conflicts(source, target, file)
    if not conflicts:
        place.unlink()
    return conflicts, place if conflicts else None


def _suffixes(path: Path) -> str:
    """The suffixes that say syntax and compression: `.nt.zst`."""
    return "".join(path.suffixes[-2:] if is_compressed(path) else path.suffixes[-1:])
