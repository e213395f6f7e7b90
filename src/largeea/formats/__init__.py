"""Reading graphs and benchmark folders. `read()` recognises what it is given."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from largeea.errors import InputError, UsageError
from largeea.formats import rdf, tables
from largeea.formats.builder import GraphBuilder
from largeea.formats.naming import Naming
from largeea.formats.pairs import LAYOUTS, is_pair_folder, read_pair
from largeea.formats.rejects import Rejects
from largeea.formats.streams import open_bytes, plain_suffix
from largeea.graph import KnowledgeGraph, Pair

SUFFIXES = rdf.SUFFIXES | tables.SUFFIXES
GRAPH_FORMATS = tuple(sorted(set(SUFFIXES.values())))


@dataclass(frozen=True)
class ReadOptions:
    """How to read: the format if it cannot be told, table columns, naming, and how many bad lines to bear."""

    format: str | None = None
    columns: tables.Columns | None = None
    naming: Naming = field(default_factory=Naming)
    max_errors: int = 0
    pair_language: str | None = None


def read(
    path: str | Path | Sequence[str | Path],
    options: ReadOptions | None = None,
    rejects: Rejects | None = None,
) -> KnowledgeGraph | Pair:
    """Read a graph (a file, several files, a folder of files or a pattern) or a benchmark folder.

    Malformed lines are collected in `rejects`; more than `options.max_errors` of them raise `InputError`.

    Example: `read("dump.nt.bz2")`, `read(["a.ttl", "b.ttl"])`, `read("dbp15k/fr_en")`.
    """
    options = options or ReadOptions()
    rejects = rejects if rejects is not None else Rejects(options.max_errors)
    if isinstance(path, str | Path) and Path(path).is_dir() and is_pair_folder(Path(path)):
        return read_pair(Path(path), options.naming, rejects, options.pair_language)
    return _read_graph(_files(path), options, rejects)


def read_graph(
    path: str | Path | Sequence[str | Path],
    options: ReadOptions | None = None,
    rejects: Rejects | None = None,
) -> KnowledgeGraph:
    """Like `read`, for places where only a single graph makes sense."""
    graph = read(path, options, rejects)
    if isinstance(graph, Pair):
        raise UsageError(f"{path} is a benchmark folder with two graphs; give it alone, not as one side")
    return graph


def _read_graph(files: list[Path], options: ReadOptions, rejects: Rejects) -> KnowledgeGraph:
    builder = GraphBuilder()
    for number, file in enumerate(files):
        format = options.format or recognise(file)
        if format in tables.SUFFIXES.values():
            tables.read_table(file, format, options.columns, builder, rejects)
        elif format in rdf.SUFFIXES.values():
            rdf.read_rdf(file, format, builder, rejects, scope=f"{number}." if len(files) > 1 else "")
        else:
            raise UsageError(f"unknown format {format!r}; known: {', '.join(GRAPH_FORMATS)}")
    graph = builder.build(options.naming)
    if not graph.counts.statements:
        raise InputError("holds no triples", ", ".join(map(str, files)))
    return graph


def _files(path: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files meant: themselves, those in a folder, or those a pattern finds; in a fixed order."""
    if not isinstance(path, str | Path):
        return [file for part in path for file in _files(part)]
    path = Path(path)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and plain_suffix(file) in SUFFIXES)
        if not files:
            layouts = "; ".join(f"{name}: {content}" for name, content in LAYOUTS.items())
            raise InputError(
                f"holds no graph file ({', '.join(SUFFIXES)}) and is no benchmark folder ({layouts})",
                path,
            )
        return files
    if not path.exists() and (found := sorted(glob.glob(str(path)))):  # noqa: PTH207
        return [Path(file) for file in found]
    return [path]


def recognise(path: Path) -> str:
    """The format of a graph file by its suffix, else by how it begins."""
    by_suffix = SUFFIXES.get(plain_suffix(path))
    if by_suffix:
        return by_suffix
    with open_bytes(path) as stream:
        start = stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith((b"<?xml", b"<rdf:RDF", b"<!DOCTYPE")):
        return "rdf-xml"
    if start.startswith((b"@prefix", b"@base", b"PREFIX", b"BASE")):
        return "turtle"
    if start.startswith((b"{", b"[")):
        return "json-ld"
    first_line = start.split(b"\n", 1)[0].rstrip()
    if first_line.startswith((b"<", b"_:")) and first_line.endswith(b"."):
        return "n-triples"
    if first_line.count(b"\t") >= 2:
        return "tsv"
    raise InputError(f"unknown format; known: {', '.join(GRAPH_FORMATS)}. Say which with --format", path)
