"""Reading graphs and benchmark folders. `read()` recognises the format."""

from __future__ import annotations

import glob
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

from largeea.errors import InputError, UsageError
from largeea.formats import rdf, tables
from largeea.formats.builder import GraphBuilder
from largeea.formats.naming import LABEL_PREDICATES, Naming
from largeea.formats.pairs import LAYOUTS, is_pair_folder, pair_files, read_pair
from largeea.formats.prefixes import check_predicates
from largeea.formats.rejects import Rejects
from largeea.formats.scope import Match, in_scope
from largeea.formats.streams import open_bytes, plain_suffix
from largeea.graph import KnowledgeGraph, Pair
from largeea.progress import note

SUFFIXES = rdf.SUFFIXES | tables.SUFFIXES
GRAPH_FORMATS = tuple(sorted(set(SUFFIXES.values())))
Stored: TypeAlias = Mapping[str, Callable[[], KnowledgeGraph]]
"""Graphs that need not be read, by side, "source" or "target"."""
Places: TypeAlias = str | Path | Sequence[str | Path]
"""A file, a folder, a pattern, or several of them."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read: format (recognised if None), table columns, naming, and malformed lines allowed.

    Without `max_errors`, 1 % of what is read may be malformed, but at least 100 lines; in benchmark folders,
    nothing may be malformed. 0 allows none.
    `pair_language` chooses one of several pairs in a DBP1M folder. `match` says which entities are matched.
    `same_iri` says that entities of two RDF graphs with the same IRI are the same.
    Columns that are not given are guessed. Where two graphs are read, `source_columns` and `target_columns`
    replace `columns`. `sheet` names the sheet of a workbook, by default the first.
    """

    format: str | None = None
    columns: tables.Columns | None = None
    naming: Naming = field(default_factory=Naming)
    max_errors: int | None = None
    pair_language: str | None = None
    match: Match = "auto"
    same_iri: bool = True
    source_columns: tables.Columns | None = None
    target_columns: tables.Columns | None = None
    sheet: str | None = None

    def for_side(self, side: Literal["source", "target"]) -> ReadOptions:
        """The options for one of two graphs."""
        own = self.source_columns if side == "source" else self.target_columns
        return self if own is None else replace(self, columns=own)

    def new_rejects(self, path: Places) -> Rejects:
        """A collector for the malformed lines of what is read from this path."""
        return Rejects(0 if self.max_errors is None and pair_folder(path) else self.max_errors)


def read(
    path: Places, options: ReadOptions | None = None, rejects: Rejects | None = None
) -> KnowledgeGraph | Pair:
    """Read a graph (a file, several files, a folder of files or a pattern) or a benchmark folder.

    Malformed lines are collected in `rejects`; more than `options.max_errors` allows raise `InputError`.

    Example: `read("dump.nt.bz2")`, `read(["a.ttl", "b.ttl"])`, `read("dbp15k/fr_en")`.
    """
    options = options or ReadOptions()
    folder = pair_folder(path)
    if folder is None:
        return read_graph(path, options, rejects)
    if rejects is not None:
        return read_pair(folder, options.naming, rejects, options.pair_language)
    rejects = options.new_rejects(path)
    pair = read_pair(folder, options.naming, rejects, options.pair_language)
    rejects.tell()
    return pair


def read_graph(
    path: Places, options: ReadOptions | None = None, rejects: Rejects | None = None
) -> KnowledgeGraph:
    """Like `read`, where only a single graph makes sense."""
    if pair_folder(path):
        raise UsageError(f"{path} is a benchmark folder with two graphs; give it alone")
    options = options or ReadOptions()
    if rejects is None:
        rejects = options.new_rejects(path)
        graph = read_graph(path, options, rejects)
        rejects.tell()
        return graph
    builder, before, holds_rdf = GraphBuilder(), len(rejects), False
    files = files_of(path)
    for number, file in enumerate(files):
        format = options.format or recognise(file)
        if format in tables.SUFFIXES.values():
            tables.read_table(file, format, options.columns, builder, rejects, options.sheet)
        elif format in rdf.SUFFIXES.values():
            holds_rdf = True
            rdf.read_rdf(file, format, builder, rejects, scope=f"{number}." if len(files) > 1 else "")
        else:
            raise UsageError(f"unknown format {format!r}; known: {', '.join(GRAPH_FORMATS)}")
    builder.rejected = len(rejects) - before
    graph = builder.build(options.naming, holds_rdf, options.same_iri)
    place = path if isinstance(path, str | Path) else ", ".join(map(str, path))
    if not graph.counts.statements:
        raise InputError("holds no triples", place)
    if options.naming.predicates == LABEL_PREDICATES and graph.label_predicates:
        guessed = ", ".join(graph.label_predicates[len(LABEL_PREDICATES) :])
        note(f"{place}: entities without a label are named by {guessed}; --label gives other predicates")
    return graph


def read_both(
    source: Places,
    target: Places | None,
    options: ReadOptions,
    rejects: Rejects,
    stored: Stored = MappingProxyType({}),
) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """Read two graphs, or a benchmark folder without its links, with the kinds that `options.match` asks for.

    `target` is None if `source` is a benchmark folder. A graph that is `stored` is not read.
    """
    if target is None:
        pair = read_pair(Path(str(source)), options.naming, rejects, options.pair_language)
        return in_scope(pair.source, pair.target, options.match)
    first = _stored_or_read("source", source, options, rejects, stored)
    second = _stored_or_read("target", target, options, rejects, stored)
    given = (name for name in options.naming.predicates if name not in LABEL_PREDICATES)
    check_predicates(given, first, second)
    return in_scope(first, second, options.match)


def _stored_or_read(
    side: Literal["source", "target"], place: Places, options: ReadOptions, rejects: Rejects, stored: Stored
) -> KnowledgeGraph:
    return stored[side]() if side in stored else read_graph(place, options.for_side(side), rejects)


def pair_folder(path: Places) -> Path | None:
    """The folder, if this is a benchmark folder."""
    folder = Path(path) if isinstance(path, str | Path) else None
    return folder if folder and folder.is_dir() and is_pair_folder(folder) else None


def files_of(path: Places) -> list[Path]:
    """The files that a path stands for (a file, a folder, a pattern), in a fixed order."""
    if not isinstance(path, str | Path):
        return [file for part in path for file in files_of(part)]
    path = Path(path)
    if pair_folder(path):
        return pair_files(path)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and plain_suffix(file) in SUFFIXES)
        if not files:
            layouts = "; ".join(f"{name}: {content}" for name, content in LAYOUTS.items())
            raise InputError(
                f"holds no graph file ({', '.join(SUFFIXES)}) and is not a benchmark folder ({layouts})",
                path,
            )
        return files
    if path.exists():
        return [path]
    found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207
    if not found:
        raise InputError("no such file or folder; check the path, or the pattern", path)
    return [Path(file) for file in found]


def recognise(path: Path) -> str:
    """The format of a graph file, by its suffix or else by its beginning."""
    by_suffix = SUFFIXES.get(plain_suffix(path))
    if by_suffix:
        return by_suffix
    with open_bytes(path) as stream:
        start = stream.read(4096)
    lines = (line.strip(b" \r") for line in start.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if first.startswith(b"PAR1"):
        return "parquet"
    if first.startswith((b"<?xml", b"<rdf:RDF", b"<!DOCTYPE", b"<!--")):
        return "rdf-xml"
    if first.startswith((b"@prefix", b"@base", b"PREFIX", b"BASE")):
        return "turtle"
    if first.startswith((b"{", b"[")):
        return "json-ld"
    if first.startswith((b"<", b"_:")) and first.endswith(b"."):
        return "n-triples"
    if first.count(b"\t") >= 2:
        return "tsv"
    raise InputError(f"unknown format; known: {', '.join(GRAPH_FORMATS)}. Say which with --format", path)
