"""Where the statements of a run's graphs come from: RDF files, or else the stored graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from largeea.errors import InputError
from largeea.formats import ReadOptions, files_of, recognise
from largeea.formats.rdf import SUFFIXES
from largeea.formats.rejects import Rejects
from largeea.runs.inputs import InputRecord, record_inputs
from largeea.runs.manifest import Manifest, read_manifest
from largeea.runs.request import read_request


@dataclass(frozen=True)
class SideInput:
    """The input of one graph: `rdf_files` to read; none if its statements are those of the stored graph.

    `records` are the files that the graph comes from, as the run saw them.
    """

    rdf_files: tuple[Path, ...] = ()
    records: tuple[InputRecord, ...] = ()


@dataclass(frozen=True)
class Inputs:
    """The input of both graphs and how to read it; `paths` are all input files of the run."""

    source: SideInput
    target: SideInput
    reading: ReadOptions
    paths: tuple[Path, ...] = ()

    def new_rejects(self) -> Rejects:
        """A collector that tolerates as many malformed statements as the run did."""
        return Rejects(self.reading.max_errors)


def inputs_of(folder: Path) -> Inputs:
    """The input of a run. `InputError` if a file to be read is missing or is not as the run read it.

    Tables and benchmark folders are not RDF: their statements are in the stored graph, and so are those of a
    graph that was given in memory.
    """
    manifest = read_manifest(folder)
    if "request" not in manifest:
        return Inputs(SideInput(), SideInput(), ReadOptions())
    request, _ = read_request(folder)
    paths = tuple(Path(record["path"]) for record in manifest.get("inputs", ()))
    if request.target is None:
        records = tuple(manifest.get("inputs", ()))
        return Inputs(SideInput((), records), SideInput((), records), request.reading, paths)
    source, target = (
        _side_input(files_of(place), request.reading.format, manifest)
        for place in (request.source, request.target)
    )
    return Inputs(source, target, request.reading, paths)


def _side_input(files: Sequence[Path], format: str | None, manifest: Manifest) -> SideInput:
    records = tuple(_unchanged(files, manifest))
    rdf = all((format or recognise(file)) in SUFFIXES.values() for file in files)
    return SideInput(tuple(files) if rdf else (), records)


def _unchanged(files: Sequence[Path], manifest: Manifest) -> list[InputRecord]:
    """The records of the files; a file whose size and time are those of its record is not read."""
    known = {record["path"]: record for record in manifest.get("inputs", ())}
    records = record_inputs(files, filter(_looks_unchanged, known.values()))
    for record in records:
        before = known.get(record["path"])
        if before is None:
            raise InputError(
                "is not among the files that the run read; run `largeea align` again", record["path"]
            )
        if record["sha256"] != before["sha256"]:
            raise InputError(
                "has changed since the run read it; restore the file, or run `largeea align` again",
                record["path"],
            )
    return records


def _looks_unchanged(record: InputRecord) -> bool:
    path = Path(record["path"])
    facts = path.stat() if path.exists() else None
    return facts is not None and (facts.st_size, facts.st_mtime_ns) == (record["bytes"], record["modified"])
