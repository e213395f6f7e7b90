"""Benchmark folders: two graphs and the links between them, in the layouts of OpenEA, DBP15K and DBP1M."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import InputError, UsageError
from largeea.formats.builder import GraphBuilder
from largeea.formats.delimited import Rows, read_delimited
from largeea.formats.identifiers import flaws
from largeea.formats.naming import Naming
from largeea.formats.rejects import Rejects
from largeea.formats.streams import in_parallel
from largeea.graph import Int32, Int64, KnowledgeGraph, Links, Pair, Strings
from largeea.graph.interning import Encoded, encoded
from largeea.graph.lookup import places_in

LAYOUTS = {
    "OpenEA": "rel_triples_1, rel_triples_2, ent_links",
    "DBP15K": "ent_ids_1, ent_ids_2, triples_1, triples_2, ref_ent_ids",
    "DBP1M": "LANG_triples_1, LANG_triples_2, LANG_ent_links",
}
_NOTHING = pa.scalar("", pa.large_string())
_QUOTED = r'(?s)^"(?P<text>.*)"(?:(?P<language>@[A-Za-z0-9-]+)|\^\^<?(?P<datatype>[^<>]*)>?)?$'


def is_pair_folder(folder: Path) -> bool:
    """Whether the folder has one of the known layouts."""
    return (
        (folder / "rel_triples_1").is_file()
        or (folder / "ent_ids_1").is_file()
        or any(folder.glob("*_triples_1"))
    )


def pair_files(folder: Path) -> list[Path]:
    """The files of a benchmark folder that may be read."""
    return sorted(path for part in ("*", "721_5fold/*/*") for path in folder.glob(part) if path.is_file())


def read_pair(folder: Path, naming: Naming, rejects: Rejects, language: str | None = None) -> Pair:
    """Read a benchmark folder; `language` chooses one of several pairs in a DBP1M folder."""
    if (folder / "rel_triples_1").is_file():
        return _read_named(folder, naming, rejects, "rel_triples_", "attr_triples_", "ent_links")
    if (folder / "ent_ids_1").is_file():
        return _read_numbered(folder, naming, rejects)
    language = _chosen_language(folder, language)
    return _read_named(folder, naming, rejects, f"{language}_triples_", None, f"{language}_ent_links")


def _chosen_language(folder: Path, language: str | None) -> str:
    present = sorted(path.name.removesuffix("_triples_1") for path in folder.glob("*_triples_1"))
    if language is None and len(present) == 1:
        return present[0]
    if language not in present:
        given = "none was chosen" if language is None else f"{language!r} was chosen"
        raise UsageError(f"{folder} holds {', '.join(present)}, but {given}; use --pair-language")
    return language


def _read_named(
    folder: Path, naming: Naming, rejects: Rejects, triples: str, attributes: str | None, links: str
) -> Pair:
    """OpenEA and DBP1M, where entities are given by IRI."""
    linked, link_lines, _ = _columns(folder / links, 2, rejects)
    with ThreadPoolExecutor(2) as building:
        under_way = []
        for side in (1, 2):
            builder = GraphBuilder()
            before = len(rejects)
            _add_triples(folder / f"{triples}{side}", builder, rejects)
            if attributes and (folder / f"{attributes}{side}").is_file():
                _add_attributes(folder / f"{attributes}{side}", builder, rejects)
            builder.nodes.number_column(linked[side - 1])
            builder.rejected = len(rejects) - before
            under_way.append(building.submit(copy_context().run, builder.build, naming))
        source, target = (graph.result() for graph in under_way)

    def resolve(path: Path) -> Links:
        columns, lines, _ = _columns(path, 2, rejects)
        return _links(path, columns, lines, source.find, target.find)

    known = _links(folder / links, linked, link_lines, source.find, target.find)
    return Pair(source, target, known, dict(_folds(folder, resolve)))


def _add_triples(path: Path, builder: GraphBuilder, rejects: Rejects) -> None:
    """Add rows of `head, relation, tail`."""
    builder.files += 1
    for (head, relation, tail), found in in_parallel(_encoded_triples, _rows(path, 3, rejects)):
        builder.scanned += found
        builder.add_triples(
            builder.nodes.number_encoded(head),
            builder.predicates.number_encoded(relation),
            builder.nodes.number_encoded(tail),
        )


def _encoded_triples(rows: Rows) -> tuple[list[Encoded], int]:
    return [encoded(column) for column in rows.columns], rows.found


def _add_attributes(path: Path, builder: GraphBuilder, rejects: Rejects) -> None:
    """Add rows of `entity, predicate, value`; a value may be quoted, with a language or datatype."""
    builder.files += 1
    rows = _rows(path, 3, rejects, free_text=True)
    for (entity, predicate, value, tag), found in in_parallel(_encoded_attributes, rows):
        builder.scanned += found
        builder.add_literals(
            builder.nodes.number_encoded(entity),
            builder.predicates.number_encoded(predicate),
            builder.values.number_encoded(value),
            builder.tags.number_encoded(tag),
        )


def _encoded_attributes(rows: Rows) -> tuple[list[Encoded], int]:
    """Entities, predicates, values without quotes, and tags."""
    entity, predicate, value = rows.columns
    parts = pc.extract_regex(value, _QUOTED)
    text, language, datatype = (pc.struct_field(parts, [part]) for part in ("text", "language", "datatype"))
    tag = pc.fill_null(pc.binary_join_element_wise(language, datatype, _NOTHING), _NOTHING)
    return [encoded(column) for column in (entity, predicate, pc.coalesce(text, value), tag)], rows.found


def _read_numbered(folder: Path, naming: Naming, rejects: Rejects) -> Pair:
    """DBP15K, where entities are given by number; `ent_ids` has the IRI of each number."""
    graphs: list[KnowledgeGraph] = []
    finders: list[Callable[[Strings], Int32]] = []
    for side in (1, 2):
        builder = GraphBuilder()
        builder.files = 2
        before = len(rejects)
        (numbers, iris), _, found = _columns(folder / f"ent_ids_{side}", 2, rejects)
        builder.scanned, builder.skipped = found, len(numbers)
        nodes = builder.nodes.number_column(iris)
        path = folder / f"triples_{side}"
        for (head, relation, tail), lines, found in _rows(path, 3, rejects):
            builder.scanned += found
            ends = [places_in(end, numbers) for end in (head, tail)]
            unknown = np.flatnonzero((ends[0] < 0) | (ends[1] < 0))
            if len(unknown):
                raise InputError(
                    f"uses an entity number that is not in ent_ids_{side}", path, int(lines[unknown[0]])
                )
            builder.add_triples(nodes[ends[0]], builder.predicates.number_column(relation), nodes[ends[1]])
        builder.rejected = len(rejects) - before
        graph = builder.build(naming)
        graphs.append(graph)
        finders.append(_by_number(numbers, graph.find(iris)))

    def resolve(path: Path) -> Links:
        columns, lines, _ = _columns(path, 2, rejects)
        return _links(path, columns, lines, *finders)

    reference = resolve(folder / "ref_ent_ids")
    folds = dict(_folds(folder, resolve))
    if not (folder / "sup_ent_ids").is_file():
        return Pair(graphs[0], graphs[1], reference, folds)
    supervised = resolve(folder / "sup_ent_ids")
    folds.setdefault("1", (supervised, reference))
    everything = Links(np.concatenate([supervised.pairs, reference.pairs])).canonical()
    return Pair(graphs[0], graphs[1], everything, folds)


def _by_number(numbers: Strings, places: Int32) -> Callable[[Strings], Int32]:
    def find(wanted: Strings) -> Int32:
        found = places_in(wanted, numbers)
        return np.where(found < 0, -1, places[found]).astype(np.int32)

    return find


def _folds(folder: Path, resolve: Callable[[Path], Links]) -> Iterator[tuple[str, tuple[Links, Links]]]:
    """Official splits of `721_5fold`; validation links are neither seeds nor test links."""
    for fold in sorted(folder.glob("721_5fold/*")):
        if (fold / "train_links").is_file() and (fold / "test_links").is_file():
            yield fold.name, (resolve(fold / "train_links"), resolve(fold / "test_links"))


def _columns(path: Path, width: int, rejects: Rejects) -> Rows:
    """All rows of a file as one batch."""
    batches = list(_rows(path, width, rejects))
    if not any(len(batch.lines) for batch in batches):
        raise InputError("holds no rows", path)
    columns = [pa.concat_arrays([batch.columns[i] for batch in batches]) for i in range(width)]
    lines = np.concatenate([batch.lines for batch in batches])
    return Rows(columns, lines, sum(batch.found for batch in batches))


def _rows(path: Path, width: int, rejects: Rejects, free_text: bool = False) -> Iterator[Rows]:
    """Rows whose cells can be identifiers; with `free_text` the last cell may hold any text."""
    ids = width - free_text
    for columns, lines, found in read_delimited(path, width, rejects, rest_in_last=free_text):
        unusable = flaws({str(number): cells for number, cells in enumerate(columns[:ids], start=1)})
        for row, reason in unusable.items():
            rejects.add(path, int(lines[row]), reason, "\t".join(str(cells[row]) for cells in columns))
        if unusable:
            rows = np.delete(np.arange(len(lines)), list(unusable))
            columns, lines = [cells.take(rows) for cells in columns], lines[rows]
        yield Rows(columns, lines, found)


def _links(
    path: Path,
    columns: list[Strings],
    lines: Int64,
    find_source: Callable[[Strings], Int32],
    find_target: Callable[[Strings], Int32],
) -> Links:
    found = np.column_stack([find_source(columns[0]), find_target(columns[1])])
    unknown = np.argwhere(found < 0)
    if len(unknown):
        row, side = unknown[0].tolist()
        end = columns[side][row].as_py()
        raise InputError(f"links {end!r}, which is not an entity of its graph", path, int(lines[row]))
    return Links(found).canonical()
