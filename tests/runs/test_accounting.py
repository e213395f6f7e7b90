"""Independent counts agree; each check fails when what it guards is broken."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from largeea.formats import ReadOptions, builder, read, read_graph, statements, tables
from largeea.formats.builder import GraphBuilder
from largeea.formats.links import (
    FORMATS,
    text,
    tsv,
    write_alignment,
    write_doubtful,
    write_same_iri,
    write_unmatched,
)
from largeea.formats.rejects import Rejects
from largeea.formats.streams import LineBlock, blocks_of_lines
from largeea.formats.tables import Columns
from largeea.graph import KnowledgeGraph, Links, Pair, ReadCounts, strings
from largeea.matching.alignment import Alignment
from largeea.runs.accounting import account_in_words, account_of, answers_add_up, linkable_entities

COUNTS = ReadCounts(
    files=1, scanned=12, skipped=3, rejected=4, statements=5, triples=2, literals=0, duplicates=3
)
SOUND = Path(__file__).parents[1] / "formats" / "sound_files"


def graph(*entities: str, counts: ReadCounts = COUNTS) -> KnowledgeGraph:
    triples = np.array([[0, 0, 1], [1, 0, 0]])
    return KnowledgeGraph(strings(entities), strings(entities), strings(["p"]), triples, counts=counts)


def test_an_account() -> None:
    account = account_of(graph("_:b", "urn:a"))
    assert account_in_words(account) == (
        "2 entities (1 of them blank nodes); 12 lines, cells or statements read = 5 statements + "
        "3 without a statement + 4 rejected; 5 statements = 2 triples + 0 literals + 3 duplicates"
    )


def test_an_account_of_a_graph_with_helper_nodes() -> None:
    counts = replace(COUNTS, folded=4, derived=2, duplicates=1)
    assert account_in_words(account_of(graph("urn:a", "urn:b", counts=counts))).endswith(
        "5 statements + 2 derived = 2 triples + 0 literals + 1 duplicates + 4 folded"
    )


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"scanned": 13}, r"scanned in the files and what was .* differ \(13 and 12\)"),
        ({"skipped": 2}, r"scanned in the files and what was .* differ \(12 and 11\)"),
        ({"rejected": 5}, r"scanned in the files and what was .* differ \(12 and 13\)"),
        (
            {"statements": 6, "scanned": 13},
            r"statements accepted .* and those kept, .* differ \(6 and 5\)",
        ),
        ({"duplicates": 2}, r"statements accepted .* and those kept, .* differ \(5 and 4\)"),
        ({"folded": 1}, r"statements accepted .* and those kept, .* differ \(5 and 6\)"),
        ({"derived": 1}, r"statements accepted .* and those kept, .* differ \(6 and 5\)"),
        ({"triples": 3, "duplicates": 2}, r"triples counted and those in the graph differ \(3 and 2\)"),
        ({"literals": 3, "duplicates": 0}, r"literals counted and those in the graph differ \(3 and 0\)"),
    ],
)
def test_an_account_that_does_not_add_up(change: dict[str, int], complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        account_of(graph("urn:a", "urn:b", counts=replace(COUNTS, **change)))


# Reading: every reader's counts add up


LINES = (
    b"<urn:a> <urn:p> <urn:b> .\n# comment\n\n<urn:a> <urn:p> <urn:b> .\nrubbish\n"
    b'<urn:a> <urn:p> "caf\xe9" .\n<urn:a> <urn:q> "x" .\n<urn:\\u0061> <urn:q> "x" .\n'
    b"<urn:a> <urn:q> <urn:c> .\r<urn:a> <urn:q> <urn:d> .\n\r\r\n"
)


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    (tmp_path / "a.nt").write_bytes(LINES)
    return tmp_path / "a.nt"


def test_lines_of_every_kind(lines: Path) -> None:
    """A doubtful line may hold two statements, or none, between carriage returns."""
    account = account_of(read_graph(lines, ReadOptions(), Rejects(2)))
    assert (account["statements"], account["skipped"], account["rejected"]) == (6, 3, 2)
    assert (account["triples"], account["literals"], account["duplicates"]) == (3, 1, 2)
    assert account["scanned"] == LINES.count(b"\n") + 1


@pytest.mark.parametrize("name", ["nt", "nq", "ttl", "trig", "rdf", "jsonld", "csv", "tsv"])
def test_every_format(name: str) -> None:
    account = account_of(read_graph(SOUND / f"graph.{name}", ReadOptions(), Rejects(3)))
    assert account["statements"] > 1


@pytest.mark.parametrize("layout", ["openea", "dbp15k", "dbp1m"])
def test_every_layout(layout: str) -> None:
    pair = read(SOUND / layout)
    assert isinstance(pair, Pair)
    assert account_of(pair.source)["statements"] > 0
    assert account_of(pair.target)["statements"] > 0


def test_rows_and_cells(tmp_path: Path) -> None:
    rows = b"id,parent,label,rank\na,b,A,1\nb,,B,\nc,b,,\n,a,x,2\nd\nb,,B,\ncaf\xe9,b,,\n"
    (tmp_path / "a.csv").write_bytes(rows)
    options = ReadOptions(columns=Columns.parse("subject=id,object=parent,name=label,attributes=rank"))
    account = account_of(read_graph(tmp_path / "a.csv", options, Rejects(3)))
    assert account["scanned"] == 4 * 3 + 3
    assert (account["statements"], account["skipped"], account["rejected"]) == (6, 6, 3)
    assert (account["triples"], account["literals"], account["duplicates"]) == (2, 3, 1)


def test_a_parquet_table(tmp_path: Path) -> None:
    columns = {"subject": ["a", "b", None], "relation": ["p", "p", "p"], "object": ["b", "b", "b"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    account = account_of(read_graph(tmp_path / "a.parquet", ReadOptions(), Rejects(1)))
    assert (account["scanned"], account["statements"], account["rejected"]) == (3, 2, 1)


def test_id_rows_of_a_benchmark_are_no_statements(tmp_path: Path) -> None:
    for name, rows in {
        "ent_ids": "0\thttp://{}/a\n1\thttp://{}/b\nbroken\n",
        "triples": "0\t0\t1\n0\t0\t1\nbroken\n",
    }.items():
        for side in "12":
            (tmp_path / f"{name}_{side}").write_text(rows.replace("{}", side))
    (tmp_path / "ref_ent_ids").write_text("0\t0\n")
    pair = read(tmp_path, ReadOptions(), Rejects(4))
    assert isinstance(pair, Pair)
    account = account_of(pair.source)
    assert (account["scanned"], account["skipped"], account["rejected"]) == (6, 2, 2)
    assert (account["triples"], account["duplicates"]) == (1, 1)


# Reading: what is lost is noticed


def broken_scanner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scanner loses the last triple of every block."""
    add_block = statements.StatementReader.add_block

    def lossy(self: Any, block: bytes, scanned: Any, *rest: Any) -> None:
        add_block(self, block, replace(scanned, triples=scanned.triples[:, :-1]), *rest)

    monkeypatch.setattr(statements.StatementReader, "add_block", lossy)


def forgotten_doubtful_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements.StatementReader, "_add_doubtful", lambda self, lines: None)


def cut_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream loses the first line of a block, after its lines were counted."""

    def lossy(path: Path) -> Iterator[LineBlock]:
        for block in blocks_of_lines(path):
            yield replace(block, text=block.text.partition(b"\n")[2])

    monkeypatch.setattr("largeea.formats.rdf.blocks_of_lines", lossy)


def dropped_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """The builder loses the last chunk of triples that it was given."""
    gathered = builder._gathered
    monkeypatch.setattr(
        builder, "_gathered", lambda chunks, width: gathered(chunks[:-1] if width == 3 else chunks, width)
    )


def uncounted_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chunk of literals does not reach the builder."""
    monkeypatch.setattr(GraphBuilder, "add_literals", lambda self, *columns: None)


def miscounted_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    distinct = builder.sorted_distinct

    def wrong(rows: Any) -> tuple[Any, int]:
        unique, duplicates = distinct(rows)
        return unique, max(duplicates - 1, 0)

    monkeypatch.setattr(builder, "sorted_distinct", wrong)


def kept_duplicates(monkeypatch: pytest.MonkeyPatch) -> None:
    distinct = builder.sorted_distinct
    monkeypatch.setattr(builder, "sorted_distinct", lambda rows: (rows, distinct(rows)[1]))


@pytest.mark.parametrize(
    ("defect", "complaint"),
    [
        (broken_scanner, "what was scanned in the files"),
        (forgotten_doubtful_lines, "what was scanned in the files"),
        (cut_stream, "what was scanned in the files"),
        (uncounted_statements, "what was scanned in the files"),
        (dropped_chunk, "the statements accepted"),
        (miscounted_duplicates, "the statements accepted"),
        (kept_duplicates, "the statements accepted"),
    ],
)
def test_a_loss_in_reading_is_noticed(
    lines: Path, monkeypatch: pytest.MonkeyPatch, defect: Callable[[pytest.MonkeyPatch], None], complaint: str
) -> None:
    account_of(read_graph(lines, ReadOptions(), Rejects(2)))
    defect(monkeypatch)
    with pytest.raises(RuntimeError, match=complaint):
        account_of(read_graph(lines, ReadOptions(), Rejects(2)))


@pytest.mark.parametrize("name", ["ttl", "jsonld", "rdf"])
def test_a_lost_line_of_a_parsed_format_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser's own count of quads is compared with what the scanner makes of its output."""
    broken_scanner(monkeypatch)
    with pytest.raises(RuntimeError, match="what was scanned in the files"):
        account_of(read_graph(SOUND / f"graph.{name}", ReadOptions(), Rejects(3)))


def test_a_lost_cell_of_a_table_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    add_rows = tables._add_rows

    def lossy(builder: Any, columns: Any, cells: dict[str, Any], titles: Any) -> None:
        add_rows(builder, columns, {name: cell[1:] for name, cell in cells.items()}, titles)

    monkeypatch.setattr(tables, "_add_rows", lossy)
    with pytest.raises(RuntimeError, match="what was scanned in the files"):
        account_of(read_graph(SOUND / "graph.csv"))


# Writing


def answer(*pairs: tuple[int, int], doubtful: int = 0) -> Alignment:
    """Pairs between two graphs of a blank node and four entities; the last `doubtful` ones are doubtful."""
    entities = strings(["_:b", *(f"urn:{letter}" for letter in "abcd")])
    side = KnowledgeGraph(entities, entities, strings(), np.empty((0, 3)))
    found = np.array(pairs).reshape(-1, 2)
    return Alignment(side, side, found, np.ones(len(found)), np.arange(len(found)) < len(found) - doubtful)


def check(alignment: Alignment, format: str) -> None:
    written = write_alignment(alignment, io.BytesIO(), format)
    doubtful = write_doubtful(alignment, io.BytesIO())
    unmatched = write_unmatched(alignment, io.BytesIO())
    same = write_same_iri(alignment, io.BytesIO())
    linkable = linkable_entities(alignment.source, alignment.target)
    answers_add_up(linkable, written.pairs, written.linked, doubtful, unmatched, same)


def test_entities_with_equal_iris_have_an_answer() -> None:
    both = Links(np.array([[3, 3]]))
    check(replace(answer((1, 2), (2, 1)), same=both), "sssom")
    with pytest.raises(RuntimeError, match=r"can be linked and those written .* differ \(4 and 5\)"):
        check(replace(answer((1, 2), (3, 1)), same=both), "sssom")


@pytest.mark.parametrize("format", FORMATS)
def test_every_entity_has_an_answer(format: str) -> None:
    for pairs in [(), ((1, 1),), ((1, 2), (2, 1), (4, 4))]:
        check(answer(*pairs), format)
    check(answer((1, 2), (2, 1), (4, 4), doubtful=2), format)


@pytest.mark.parametrize(
    ("pairs", "complaint"),
    [
        (((0, 1),), r"source entities that can be linked and those written .* \(4 and 5\)"),
        (((1, 1), (1, 2)), r"accepted pairs written and the source entities in them differ \(2 and 1\)"),
        (((1, 2), (2, 2)), r"accepted pairs written and the target entities in them differ \(2 and 1\)"),
        (((1, 2), (2, 1), (1, 1)), r"accepted pairs written and the source entities .* \(3 and 2\)"),
    ],
)
def test_blank_nodes_and_second_answers_are_noticed(
    pairs: tuple[tuple[int, int], ...], complaint: str
) -> None:
    for format in FORMATS:
        with pytest.raises(RuntimeError, match=complaint):
            check(answer(*pairs), format)


@pytest.mark.parametrize("format", ["sssom", "tsv"])
def test_a_row_that_a_writer_skips_is_noticed(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = tsv._lines
    monkeypatch.setattr(tsv, "_lines", lambda columns: lines(columns)[1:])
    with pytest.raises(RuntimeError, match="the accepted pairs written and the source entities in them"):
        check(answer((1, 2), (2, 1)), format)


@pytest.mark.parametrize("format", ["same-as", "alignment-api"])
def test_a_row_that_another_writer_skips_is_noticed(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    joined = text.joined
    for module in ("same_as", "alignment_api"):
        monkeypatch.setattr(f"largeea.formats.links.{module}.joined", lambda *parts: joined(*parts)[1:])
    with pytest.raises(RuntimeError, match="the accepted pairs written and the source entities in them"):
        check(answer((1, 2), (2, 1)), format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_lost_batch_is_noticed(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writers' own count would not show it: the entities in the batch have no answer at all."""
    part = text.part
    monkeypatch.setattr(text, "part", lambda alignment, rows: part(alignment, rows[1:]))
    with pytest.raises(RuntimeError, match=r"source entities that can be linked and those written"):
        check(answer((1, 2), (2, 1)), format)


def test_an_unmatched_entity_that_is_not_written_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Alignment, "unmatched_target_ids", property(lambda alignment: np.array([1, 2, 3], np.int32))
    )
    with pytest.raises(RuntimeError, match=r"target entities that can be linked .* differ \(4 and 3\)"):
        check(answer(), "sssom")
