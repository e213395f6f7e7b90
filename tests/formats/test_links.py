from __future__ import annotations

import bz2
import gzip
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from largeea.errors import InputError, UsageError
from largeea.formats.links import FORMATS, LinkTable, model, read_judged, read_links, resolve, same_as
from largeea.graph import KnowledgeGraph, strings

SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
CELL = (
    '<map><Cell><entity1 rdf:resource="urn:{0}"/><entity2 rdf:resource="urn:{1}"/>'
    "<measure>{2}</measure><relation>{3}</relation></Cell></map>\n"
)


@pytest.fixture
def file(tmp_path):
    def make(content: str | bytes, name: str = "links") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


def rows(table: LinkTable) -> list[tuple[str, str]]:
    return list(zip(table.source.to_pylist(), table.target.to_pylist(), strict=True))


def graph(*entities: str) -> KnowledgeGraph:
    return KnowledgeGraph(
        strings(sorted(entities)), strings([None] * len(entities)), strings(), np.empty((0, 3))
    )


def fails(path: Path, message: str, line: int | None = None, format: str | None = None) -> None:
    place = f"{path}: " if line is None else f"{path}:{line}: "
    with pytest.raises(InputError, match="^" + re.escape(place) + ".*" + message) as caught:
        read_links(path, format)
    assert (caught.value.path, caught.value.line) == (path, line)


# Plain tables


def test_two_columns_as_they_are(file):
    table = read_links(file('urn:a\turn:b\n\n"q"\t"r\r\nurn:é#,%\turn:c'))
    assert rows(table) == [("urn:a", "urn:b"), ('"q"', '"r'), ("urn:é#,%", "urn:c")]
    assert table.line.tolist() == [1, 3, 4]
    assert table.weight is None
    assert table.ignored == 0


def test_third_column_is_a_confidence(file):
    table = read_links(file("urn:a\turn:b\t0.5\nurn:c\turn:d\t\n"))
    assert table.weight.tolist() == [0.5, 1.0]
    fails(
        file("urn:a\turn:b\t0.5\nurn:c\turn:d\thigh\n"),
        "confidence 'high' is not a number between 0 and 1",
        2,
    )
    fails(file("urn:a\turn:b\t7\n"), "confidence '7' is not a number between 0 and 1", 1)
    fails(file("urn:a\turn:b\tnan\n"), "'nan' is not a number", 1)


def test_header_names_the_columns_and_only_accepted_rows_are_links(file):
    table = read_links(
        file(
            "\ufeffSource\ttarget\tname\tstatus\tconfidence\r\n"
            'urn:a\turn:b\t"two\nlines, one ""cell"""\taccepted\t0.5\r\n'
            "urn:c\turn:d\t\treview\t0.1\r\n"
            "urn:e\turn:f\t\taccepted\t\r\n"
        )
    )
    assert rows(table) == [("urn:a", "urn:b"), ("urn:e", "urn:f")]
    assert table.line.tolist() == [2, 5]
    assert table.weight.tolist() == [0.5, 1.0]
    assert table.ignored == 1


def test_broken_text_is_told_by_its_line(file):
    fails(file("urn:a urn:b\n"), "has 1 tab-separated columns; links are given as two", 1)
    fails(file("a\tb\tc\td\n"), "has 4 tab-separated columns", 1)
    fails(file("urn:a\turn:b\nurn:c\n"), "has 1 tab-separated columns, but the rows before it have 2", 2)
    fails(file(b"urn:a\turn:b\nurn:\xff\turn:c\n"), "is not UTF-8", 2)
    fails(file("urn:a\turn:b\n\turn:c\n"), "the source of this link is empty", 2)
    fails(file("urn:a\turn:b\nurn:c\t\n"), "the target of this link is empty", 2)
    fails(file('source\ttarget\nurn:a\turn:b\n"urn:c\turn:d\n'), "unexpected end of data", 3)
    fails(file("source\ttarget\n"), "holds no link")


def test_parquet_tables(tmp_path, file):
    path = tmp_path / "links.parquet"
    columns = {"target": ["urn:b", "urn:d"], "source": ["urn:a", "urn:c"], "note": [1, 2]}
    pq.write_table(pa.table(columns), path)
    table = read_links(path)
    assert rows(table) == [("urn:a", "urn:b"), ("urn:c", "urn:d")]
    assert table.line is None
    assert table.weight is None

    pq.write_table(pa.table(columns | {"confidence": [0.5, None], "status": ["accepted", "doubtful"]}), path)
    table = read_links(path)
    assert rows(table) == [("urn:a", "urn:b")]
    assert (table.weight.tolist(), table.ignored) == ([0.5], 1)

    pq.write_table(pa.table({"source": ["urn:a"], "goal": ["urn:b"]}), path)
    fails(path, "lacks the column target of a table of links; it has source, goal")
    pq.write_table(pa.table({"source": ["urn:a", None], "target": ["urn:b", "urn:c"]}), path)
    fails(path, "the source or target of 1 links is empty")
    pq.write_table(pa.table({"source": ["urn:a"], "target": ["urn:b"], "confidence": [2.0]}), path)
    fails(path, "a confidence is not a number between 0 and 1")
    pq.write_table(pa.table({"source": [["urn:a"]], "target": ["urn:b"]}), path)
    fails(path, r"column 'source' is of type list<.*>, which is not text")
    fails(file(path.read_bytes()[:-20]), "is not a readable Parquet file")
    pq.write_table(pa.table({"source": ["urn:a"], "target": ["urn:b"], "confidence": ["high"]}), path)
    fails(path, "its confidences are not numbers")
    pq.write_table(pa.table([["urn:a"], ["urn:b"], ["urn:c"]], names=["source", "target", "source"]), path)
    fails(path, "has more than one column 'source'; give them different names")


# SSSOM


SSSOM = """\
# curie_map:
#   a: "http://a.org/"   # quoted
#   b: 'http://b.org/#'
#   c: http://c.org/x_
# mapping_set_id: https://example.org/set
# other: "x"
subject_id\tpredicate_id\tpredicate_modifier\tobject_id\tobject_label\tconfidence
"""


def test_sssom_rows_of_equivalence(file):
    content = (
        "a:1\towl:sameAs\t\tb:2\tlabel\t0.5\n"
        'a:2\tskos:exactMatch\t\tc:3\t"a\nb"\t\n'
        "a:3\towl:sameAs\tNot\tb:4\t\t\n"
        "a:4\tskos:broadMatch\t\tb:5\t\t\n"
        "a:5\towl:equivalentClass\t\thttp://d.org/1\t\t\n"
        'a:6:"x"#%,()\towl:equivalentProperty\t\tb:é\t\t\n'
    )
    table = read_links(file(SSSOM + content))
    assert rows(table) == [
        ("http://a.org/1", "http://b.org/#2"),
        ("http://a.org/2", "http://c.org/x_3"),
        ("http://a.org/5", "http://d.org/1"),
        ('http://a.org/6:"x"#%,()', "http://b.org/#é"),
    ]
    assert table.line.tolist() == [8, 9, 13, 14]
    assert table.weight.tolist() == [0.5, 1, 1, 1]
    assert table.ignored == 2
    assert rows(table.negated) == [("http://a.org/3", "http://b.org/#4")]
    assert table.negated.line.tolist() == [11]


@pytest.mark.parametrize("modifier", ["Not", "not", " NOT "])
def test_the_modifier_not_in_any_case_negates(file, modifier):
    judged = read_judged(file(SSSOM + f"a:1\towl:sameAs\t{modifier}\tb:2\t\t\n"))
    assert len(judged.confirmed) == 0
    assert rows(judged.rejected) == [("http://a.org/1", "http://b.org/#2")]


def test_rows_that_are_no_links_are_told(file, caplog):
    link, negated = "a:1\towl:sameAs\t\tb:2\t\t\n", "a:1\towl:sameAs\tNot\tb:3\t\t\n"
    with caplog.at_level("INFO", "largeea"):
        read_judged(file(SSSOM + link + negated + "a:4\tskos:broadMatch\t\tb:5\t\t\n"))
    assert "1 rows are not read as links" in caplog.text, "a negated row is read"


def test_sssom_may_be_bare_of_metadata(file):
    table = read_links(file("subject_id\tpredicate_id\tobject_id\nskos:a\towl:sameAs\thttp://b.org/\n"))
    assert rows(table) == [("http://www.w3.org/2004/02/skos/core#a", "http://b.org/")]
    assert table.weight is None


def test_sssom_that_cannot_be_used(file):
    fails(file(SSSOM + "x:1\towl:sameAs\t\tb:2\t\t\n"), "'x:1' has the prefix 'x', which the curie_map", 8)
    fails(file(SSSOM + "a:1\towl:sameAs\t\tb:2\n"), "has 4 tab-separated columns", 8)
    fails(file(SSSOM + "a:1\towl:sameAs\tNever\tb:2\t\t\n"), "predicate_modifier 'Never' is unknown", 8)
    fails(
        file(SSSOM + "a:1\tskos:broadMatch\t\tb:2\t\t\n"),
        r"holds no links, read as sssom \(1 rows were left out\)",
    )
    fails(
        file("#mapping_set_id: x\nsubject_id\tobject_id\n"), "lacks the columns predicate_id of an SSSOM file"
    )
    fails(file("#curie_map:\n"), "lacks the columns")
    fails(
        file('#curie_map:\n#  a: "\\q"\nsubject_id\tpredicate_id\tobject_id\n'),
        "cannot read .* in the curie_map",
        2,
    )


# N-Triples


def test_same_as_statements(file, monkeypatch):
    monkeypatch.setattr(same_as, "_READ_BYTES", 10)
    table = read_links(
        file(
            "# links\n\n"
            f"<urn:a> <{SAME_AS}> <urn:\\u0062> .\r\n"
            f"<urn:a>\t<urn:other>\t<urn:c>.\n"
            f"_:blank <{SAME_AS}> <urn:c> .\n"
            f'<urn:a> <{SAME_AS}> "a\\nliteral" .\n'
            f"  # more\n<http://x.org/a b> <{SAME_AS}> <http://y.org/é> . # odd\n"
        )
    )
    assert rows(table) == [("urn:a", "urn:b"), ("http://x.org/a b", "http://y.org/é")]
    assert table.line.tolist() == [3, 8]
    assert table.ignored == 3


@pytest.mark.parametrize("block", [10, 1 << 20])
def test_malformed_statements_are_told_by_their_line(file, monkeypatch, block):
    monkeypatch.setattr(same_as, "_READ_BYTES", block)
    good = f"<urn:a> <{SAME_AS}> <urn:b> .\n".encode()
    fails(file(good + b"\n<urn:a> <urn:b>\n"), "is not valid N-Triples", 3)
    fails(
        file(good + b"\n<urn:a> <urn:b> <urn:c>\n" + good),
        "is not valid N-Triples: Quads must be followed by a dot",
        3,
    )
    fails(file(good + b"# \xff\n" + good + b"urn:a\n"), "is not valid N-Triples", 4)
    fails(file(good + good + b"<urn:a> <urn:b> <urn:\xff> .\n"), "is not valid N-Triples.*UTF-8", 3)
    fails(file(b"<urn:a> <urn:b> <urn:c> .\n"), r"holds no links, read as same-as \(1 rows")


# Alignment API


def test_cells_of_equivalence(file):
    cells = CELL.format("a", "b&amp;&#233;", "0.5", "=") + CELL.format("c", "d", "1", "&lt;")
    cells += CELL.format("e", "f", " ", "fr.inrialpes.exmo.align.impl.rel.EquivRelation")
    document = (
        f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF SYSTEM "align.dtd">\n<rdf:RDF {RDF} xmlns="urn:x">\n'
    )
    table = read_links(file(f"{document}<Alignment>\n{cells}</Alignment></rdf:RDF>"))
    assert rows(table) == [("urn:a", "urn:b&é"), ("urn:e", "urn:f")]
    assert table.line.tolist() == [5, 7]
    assert table.weight.tolist() == [0.5, 1]
    assert table.ignored == 1


def test_xml_that_cannot_be_used(file):
    fails(file(f"<rdf:RDF {RDF}>\n<Cell>\n</rdf:RDF>"), "is not well-formed XML: mismatched tag", 3)
    fails(file(f"<rdf:RDF {RDF}>\n"), "is not well-formed XML: no element found", 2)
    fails(file(f"<rdf:RDF {RDF}>\n<Cell/></rdf:RDF>"), "the source of this link is empty", 2)
    fails(file(f"<rdf:RDF {RDF}/>"), "holds no link")


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY x "text">',
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY % x SYSTEM "http://127.0.0.1/x"> %x;',
        '<!ENTITY y "ha"><!ENTITY x "&y;&y;&y;&y;&y;&y;&y;&y;">',
    ],
)
def test_xml_entities_are_refused(file, declaration):
    cell = CELL.format("a", "b&x;", "1", "=")
    document = f'<?xml version="1.0"?>\n<!DOCTYPE rdf:RDF [{declaration}]>\n<rdf:RDF {RDF}>{cell}</rdf:RDF>'
    fails(file(document), "uses the XML entity '[xy]'; entities are refused", 2)


def test_undeclared_xml_entities_are_refused(file):
    document = (
        '<!DOCTYPE rdf:RDF SYSTEM "align.dtd">\n' + f"<rdf:RDF {RDF}><relation>&x;</relation></rdf:RDF>"
    )
    fails(file(document), "uses the XML entity 'x'", 2)


# Any file


def test_compressed_files(tmp_path):
    content = b"urn:a\turn:b\n"
    (tmp_path / "links.tsv.gz").write_bytes(gzip.compress(content))
    (tmp_path / "links.tsv.bz2").write_bytes(bz2.compress(content))
    for path in tmp_path.iterdir():
        assert rows(read_links(path)) == [("urn:a", "urn:b")]


def test_missing_and_empty_files(file, tmp_path):
    for path in (tmp_path / "absent.tsv", file("")):
        for format in (None, *FORMATS):
            with pytest.raises(InputError, match=re.escape(str(path))):
                read_links(path, format)


def test_format_can_be_forced(file):
    path = file(f"<urn:a> <{SAME_AS}> <urn:b> .\n")
    assert rows(read_links(path, "same-as")) == [("urn:a", "urn:b")]
    fails(path, "tab-separated", 1, format="tsv")
    with pytest.raises(UsageError, match="known are alignment-api, parquet, same-as, sssom, tsv"):
        read_links(path, "csv")


def test_more_rows_than_one_chunk(file, monkeypatch):
    monkeypatch.setattr(model, "CHUNK_ROWS", 4)
    table = read_links(file("".join(f"urn:a{i}\turn:b{i}\t0.{i}\n" for i in range(10))))
    assert rows(table) == [(f"urn:a{i}", f"urn:b{i}") for i in range(10)]
    assert table.line.tolist() == list(range(1, 11))
    assert table.weight.tolist() == pytest.approx([i / 10 for i in range(10)])


# Resolution


def test_resolved_links_are_sorted_and_single(file):
    table = read_links(file("urn:b\turn:x\t0.1\nurn:a\turn:y\t0.2\nurn:b\turn:x\t0.3\n"))
    links = resolve(table, graph("urn:a", "urn:b"), graph("urn:x", "urn:y"))
    assert links.pairs.tolist() == [[0, 1], [1, 0]]
    assert links.weight.tolist() == pytest.approx([0.2, 0.3])


def test_unknown_entities_are_counted_and_shown(file):
    path = file("urn:a\turn:x\nurn:1\turn:x\nurn:a\turn:2\nurn:3\turn:4\nurn:5\turn:x\n")
    with pytest.raises(InputError) as caught:
        resolve(read_links(path), graph("urn:a", "urn:b"), graph("urn:x"))
    assert str(caught.value).splitlines() == [
        f"{path}:2: 4 of 5 links name entities that are not there "
        "(3 in the source graph, 2 in the target graph):",
        f"  {path}:2: source urn:1",
        f"  {path}:3: target urn:2",
        f"  {path}:4: source urn:3",
        f"  {path}:4: target urn:4",
        "IRIs must be equal to the letter. Check that the links belong to these two graphs, "
        "or remove the lines that name other entities.",
    ]


def test_swapped_columns_are_noticed(file):
    table = read_links(file("urn:x\turn:a\nurn:y\turn:b\n"))
    with pytest.raises(InputError, match="With its columns swapped, 2 of 2 links would be found"):
        resolve(table, graph("urn:a", "urn:b"), graph("urn:x", "urn:y"))
    assert len(resolve(table, graph("urn:x", "urn:y"), graph("urn:a", "urn:b"))) == 2


def test_rows_of_tables_without_lines_are_shown_by_number(tmp_path):
    path = tmp_path / "links.parquet"
    pq.write_table(pa.table({"source": ["urn:a", "urn:b"], "target": ["urn:x", "urn:x"]}), path)
    with pytest.raises(InputError, match=re.escape(f"{path}, row 2: source urn:b")):
        resolve(read_links(path), graph("urn:a"), graph("urn:x"))


# Real files


def test_real_link_files(shared_data):
    table = read_links(shared_data / "rdf_samples" / "geonamesjp_links.nt")
    assert rows(table)[0] == (
        "http://ja.dbpedia.org/resource/流山市",
        "http://geonames.jp/resource/千葉県流山市",
    )
    assert len(table) + table.ignored == len(table.path.read_bytes().splitlines())
    assert len(read_links(shared_data / "rdf_samples" / "linkedgeodata_links.nt.bz2")) > 100_000
    assert len(read_links(shared_data / "ids15k_en_de_v1" / "ent_links")) == 10_500
