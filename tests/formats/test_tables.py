from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from contents import triples
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions, decoding, delimited, read_graph
from largeea.formats.delimited import read_delimited
from largeea.formats.rejects import Rejects
from largeea.formats.tables import Columns

often = settings(deadline=None, max_examples=80, database=None, derandomize=True)


def options(columns: str | None = None, max_errors: int = 0) -> ReadOptions:
    return ReadOptions(columns=None if columns is None else Columns.parse(columns), max_errors=max_errors)


def refused(path, message, line=None, columns=None):
    with pytest.raises(InputError, match=message) as caught:
        read_graph(path, options(columns))
    assert (caught.value.path, caught.value.line) == (path, line)


# What the columns mean


def test_three_columns_are_subject_relation_object(file):
    for path in (
        file("a.tsv", "a\tp\tb\nb\tp\tc\n"),
        file("a.csv", "a,p,b\r\nb,p,c"),
        file("a.txt", "a\tp\tb\nb\tp\tc"),
    ):
        assert triples(read_graph(path)) == [("a", "p", "b"), ("b", "p", "c")]


@pytest.mark.parametrize(
    "header", ["head,relation,tail", "Subject,Predicate,Object", "s,p,o", '"source","rel","target"']
)
def test_customary_headers_are_recognised(file, header):
    assert triples(read_graph(file("a.csv", f"{header}\na,p,b\n"))) == [("a", "p", "b")]


def test_a_header_in_another_order_is_obeyed(file):
    path = file("a.tsv", "\n\nobject\tnote\tsubject\tpredicate\nb\tx\ta\tp\n")
    assert triples(read_graph(path)) == [("a", "p", "b")]


def test_columns_by_name_or_number(file):
    path = file("a.csv", "id,parent,label,rank,year\n1,,Root,top,2000\n2,1,Leaf,,\n3,1,,low,2001\n")
    named = read_graph(path, options("subject=id,object=parent,name=label,attributes=rank+year"))
    assert triples(named) == [("2", "parent", "1"), ("3", "parent", "1")]
    assert named.names.to_pylist() == ["Root", "Leaf", None]
    words = named.attributes
    found = {(e, words.predicates[p].as_py(), words.values[v].as_py()) for e, p, v, _ in words.rows.tolist()}
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    assert found == {
        *((0, label, "Root"), (1, label, "Leaf")),
        *((0, "rank", "top"), (2, "rank", "low"), (0, "year", "2000"), (2, "year", "2001")),
    }
    numbered = file("b.csv", "1,,Root\n2,1,Leaf\n")
    assert triples(read_graph(numbered, options("subject=1,object=2,name=3"))) == [("2", "column2", "1")]


def test_names_alone_make_a_graph(file):
    graph = read_graph(file("a.csv", "id,label\n1,One\n2,Two\n"), options("subject=id,name=label"))
    assert graph.names.to_pylist() == ["One", "Two"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("object=2", "must say which column is the subject"),
        ("subject=1,relation=2", "a relation but no object"),
        ("subject", "'subject'; write for example subject=id"),
        ("subject=1,colour=2", "'colour=2'; write for example"),
        ("", "''; write for example"),
        ("subject=1,name=", "'name='; write for example"),
        ("subject=1,name=2,name=3", "'name=3' a second time; write for example"),
    ],
)
def test_a_mapping_that_makes_no_sense(columns, message):
    with pytest.raises(UsageError, match=message):
        Columns.parse(columns)


def test_wrong_columns_are_named(file):
    refused(
        file("a.csv", "id,parent\n1,2\n"),
        "no column 'label'; it has id, parent",
        columns="subject=id,name=label",
    )
    refused(
        file("b.csv", "1,2\n"),
        r"no column '3'; it has column1, column2 \(or numbers",
        columns="subject=1,object=3",
    )
    refused(file("c.csv", "Berlin,Germany\n"), "not clear what the columns are: the first row may be data")
    refused(file("e.tsv", "\n\n"), "holds no rows")
    refused(file("f.csv", "subject,relation,object\n"), "holds a header but no rows below it")
    refused(
        file("g.csv", "id,name,name\n1,a,b\n"),
        r"2 columns 'name'; .* their numbers \(2 and 3\)",
        columns="subject=id,name=name",
    )


def test_rows_that_lack_a_cell(file):
    statements = file("a.tsv", "a\tp\tb\n\tp\tb\na\t\tb\na\tp\t\n")
    rejects = Rejects(max_errors=3)
    graph = read_graph(statements, rejects=rejects)
    assert triples(graph) == [("a", "p", "b")]
    found = [(reject.line, reject.reason) for reject in rejects.lines]
    assert found == [(line, f"nothing in column {line - 1}") for line in (2, 3, 4)]
    assert graph.counts.rejected == 3
    records = file("b.tsv", "a\tb\n\tb\n")
    refused(records, "nothing in column 1", line=2, columns="subject=1,object=2")


# Delimited text


def test_rows_of_another_width_are_rejected_with_their_line(file):
    text = "a\tp\tb\n\nx\ty\r\nb\tp\tc\tmore\nc\tp\ta"
    refused(file("a.tsv", text), r"2 column\(s\) where 3 are needed", line=3)
    rejects = Rejects(max_errors=2)
    graph = read_graph(file("a.tsv", text), rejects=rejects)
    assert triples(graph) == [("a", "p", "b"), ("c", "p", "a")]
    assert [(reject.line, reject.text) for reject in rejects.lines] == [(3, "x\ty"), (4, "b\tp\tc\tmore")]


def test_bad_encoding_is_rejected_with_its_line(file):
    path = file("a.csv", b"subject,relation,object\na,p,b\ncaf\xe9,p,b\n")
    refused(path, r"not UTF-8: byte 0xe9", line=3)
    assert read_graph(path, options(), Rejects(1)).counts.rejected == 1


def test_a_byte_order_mark_is_no_part_of_the_header(file):
    assert triples(read_graph(file("a.csv", b"\xef\xbb\xbfsubject,relation,object\na,p,b\n"))) == [
        ("a", "p", "b")
    ]


def test_quotes_mean_something_in_csv_alone(file):
    assert triples(read_graph(file("a.csv", '"a,1",p,"say ""b"""\n'))) == [("a,1", "p", 'say "b"')]
    assert triples(read_graph(file("a.tsv", '"a\tp\tb"\n'))) == [('"a', "p", 'b"')]


def test_an_open_quote_is_refused(file):
    refused(file("a.csv", 'a,p,b\n"a,p,b\nb,p,c\n'), "quoted cell .* does not end", line=2)


cells = st.text(st.sampled_from('ab,"\n é\r'), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    return tmp_path_factory.mktemp("tables") / "rows.csv"


@often
@given(st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=30), st.integers(16, 200))
def test_csv_is_read_as_it_was_written(scratch, rows, block_bytes):
    """Whatever is quoted: separators, quotes, line breaks; wherever the blocks are cut."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    scratch.write_bytes(buffer.getvalue().encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "blocks_of_lines", lambda path: original(path, block_bytes))
        batches = list(read_delimited(scratch, 3, Rejects(), ",", quoted=True))
    found = [
        list(row) for batch in batches for row in zip(*(c.to_pylist() for c in batch.columns), strict=True)
    ]
    lines = np.concatenate([batch.lines for batch in batches]).tolist()
    assert found == rows
    assert sum(batch.found for batch in batches) == len(rows)
    before = np.cumsum([0] + ["".join(row).count("\n") + 1 for row in rows])
    assert lines == (before[:-1] + 1).tolist()


original = delimited.blocks_of_lines
shapes = st.lists(st.integers(0, 5).map(lambda width: "\t".join("cell" for _ in range(width))), min_size=1)


@often
@given(shapes, st.sampled_from(["\n", "\r\n", "\r"]), st.integers(0, 2), st.booleans())
def test_every_row_knows_its_line(scratch, rows, end, skip, rest_in_last):
    scratch.write_bytes((end.join(rows) + end).encode())
    rejects = Rejects(max_errors=len(rows))
    batches = list(read_delimited(scratch, 3, rejects, skip=skip, rest_in_last=rest_in_last))
    if end == "\r":
        return  # one line to us; that nothing breaks is all there is to ask
    kept = [
        number
        for number, row in enumerate(rows, 1)
        if number > skip and (len(row.split("\t")) == 3 or (rest_in_last and len(row.split("\t")) > 3))
    ]
    found = np.concatenate([np.empty(0, int), *(batch.lines for batch in batches)]).tolist()
    assert sorted(found) == kept
    assert sum(len(batch.columns[0]) for batch in batches) == len(kept)
    filled = [number for number, row in enumerate(rows, 1) if row and number > skip]
    assert sorted(reject.line for reject in rejects.lines) == sorted(set(filled) - set(kept))
    assert sum(batch.found for batch in batches) == len(filled)


def test_stray_quotes_and_carriage_returns(file):
    stray = "".join(f'{i}" disk,p,b\n' for i in range(5))
    assert len(read_graph(file("a.csv", stray)).triples) == 5
    rejects = Rejects(max_errors=9)
    graph = read_graph(file("a.tsv", "a\tp\tb\rx\nc\tp\td\nrubbish\n"), rejects=rejects)
    assert triples(graph) == [("a", "p", "b"), ("c", "p", "d")]
    assert [reject.line for reject in rejects.lines] == [1, 3]


# Parquet


def parquet_of(table: pa.Table, **how) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **how)
    return sink.getvalue()


def parquet(**columns) -> bytes:
    return parquet_of(pa.table(columns), row_group_size=2)


def test_parquet_columns_of_any_plain_type(file):
    content = parquet(
        head=[1, 2, 3], relation=pa.array(["p", "p", "q"]).dictionary_encode(), tail=["2", "3", "1"]
    )
    assert triples(read_graph(file("a.parquet", content))) == [
        ("1", "p", "2"),
        ("2", "p", "3"),
        ("3", "q", "1"),
    ]


def test_nulls_in_parquet_are_missing(file):
    path = file(
        "a.parquet", parquet(id=["1", "2", "3"], parent=[None, "1", "2"], label=["One", None, "Three"])
    )
    graph = read_graph(path, options("subject=id,object=parent,name=label"))
    assert triples(graph) == [("2", "parent", "1"), ("3", "parent", "2")]
    assert graph.names.to_pylist() == ["One", None, "Three"]
    statements = file("b.parquet", parquet(s=["a", "a", None], p=["p", None, "p"], o=["b", "b", "b"]))
    refused(statements, "nothing in column p", line=2)
    assert triples(read_graph(statements, options(), Rejects(2))) == [("a", "p", "b")]


def test_parquet_that_cannot_be_used(file, tmp_path):
    refused(file("a.parquet", parquet(s=["a"], p=["p"], o=[["list"]])), "'o' is of type list.*not text")
    refused(file("b.parquet", b"PAR1 not really"), "is not a readable Parquet file")
    refused(file("c.parquet", b""), "the file is empty")
    with pytest.raises(InputError, match="no such file"):
        read_graph(tmp_path / "d.parquet")
    whole = bytearray(parquet(s=["a" * 50] * 99, p=["p"] * 99, o=[f"value {i}" for i in range(99)]))
    whole[40:900] = bytes(860)
    refused(file("e.parquet", bytes(whole)), "is a damaged Parquet file")
    refused(
        file("f.parquet", parquet(s=["a"], p=["p"], o=["b"])),
        "has no column 'x'; it has s, p, o",
        columns="subject=x",
    )


def test_parquet_bombs_are_refused(file):
    """A few kilobytes that hold gigabytes: one long text in every row, or rows without end."""
    ones = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1 << 15, np.int32)), pa.array(["x" * 200_000]))
    path = file("a.parquet", parquet_of(pa.table({"s": ones, "p": ones, "o": ones})))
    assert path.stat().st_size < 100_000
    refused(path, "like a decompression bomb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "EXPANSION_COUNTS_FROM", 1 << 20)
        column = pa.array(["x"]).take(pa.array(np.zeros(1 << 21, np.int64)))
        refused(
            file("b.parquet", parquet_of(pa.table({"s": column, "p": column, "o": column}))),
            "like a decompression bomb",
        )
