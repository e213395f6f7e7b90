"""One small graph in every format, and everything `read` accepts as a place."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox
import pytest

import largeea
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.formats import GRAPH_FORMATS, SUFFIXES, ReadOptions, files_of, read, read_graph, recognise
from largeea.formats.tables import Columns

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstd.compress,
}
EX = "http://example.org/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
NT = r"""<http://example.org/Paris> <http://example.org/capitalOf> <http://example.org/France> .
<http://example.org/France> <http://example.org/has> <http://example.org/Paris> .
<http://example.org/Paris> <http://www.w3.org/2000/01/rdf-schema#label> "Parigi \"la bella\"\n\u00e9 🗼"@it .
<http://example.org/Paris> <http://www.w3.org/2000/01/rdf-schema#label> "Paris" .
<http://example.org/Paris> <http://example.org/population> "2102650"^^<INTEGER> .
<http://example.org/Bor%C3%A9al> <http://example.org/in> <http://example.org/France> .
""".replace("INTEGER", INTEGER)
TRIPLES = [("Paris", "capitalOf", "France"), ("France", "has", "Paris"), ("Bor%C3%A9al", "in", "France")]


def in_syntax(format: ox.RdfFormat) -> bytes:
    triples = (quad.triple for quad in ox.parse(NT, format=ox.RdfFormat.N_TRIPLES))
    return ox.serialize(triples, format=format, prefixes={"ex": EX, "rdfs": LABEL.removesuffix("label")})


def parquet() -> bytes:
    sink = io.BytesIO()
    columns = [[EX + cell for cell in column] for column in zip(*TRIPLES, strict=True)]
    pq.write_table(pa.table(dict(zip(("head", "relation", "tail"), columns, strict=True))), sink)
    return sink.getvalue()


RDF = {
    ".nt": NT.encode(),
    ".nq": NT.replace(" .\n", " <urn:graph> .\n").encode(),
    ".ttl": in_syntax(ox.RdfFormat.TURTLE),
    ".trig": in_syntax(ox.RdfFormat.TRIG),
    ".rdf": in_syntax(ox.RdfFormat.RDF_XML),
    ".jsonld": in_syntax(ox.RdfFormat.JSON_LD),
}
ROWS = [tuple(EX + cell for cell in row) for row in TRIPLES]
TABLES = {
    ".tsv": "".join("\t".join(row) + "\n" for row in ROWS).encode(),
    ".csv": "".join(",".join(row) + "\r\n" for row in [("subject", "relation", "object"), *ROWS]).encode(),
    ".parquet": parquet(),
}


def assert_same(one, other):
    for column in ("entities", "names", "relations"):
        assert getattr(one, column).equals(getattr(other, column)), column
    for column in ("predicates", "values", "tags"):
        assert getattr(one.attributes, column).equals(getattr(other.attributes, column)), column
    np.testing.assert_array_equal(one.triples, other.triples)
    np.testing.assert_array_equal(one.attributes.rows, other.attributes.rows)


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The whole graph, and its triples alone, checked by hand."""
    folder = tmp_path_factory.mktemp("expected")
    (folder / "a.nt").write_text(NT)
    (folder / "b.nt").write_text("".join(line + "\n" for line in NT.splitlines() if '"' not in line))
    whole, triples = read_graph(folder / "a.nt"), read_graph(folder / "b.nt")
    assert whole.entities.to_pylist() == [EX + name for name in ("Bor%C3%A9al", "France", "Paris")]
    assert whole.names.to_pylist() == ["Boréal", "France", "Paris"]
    assert whole.relations.to_pylist() == [EX + name for name in ("capitalOf", "has", "in")]
    assert whole.triples.tolist() == [[0, 2, 1], [1, 1, 2], [2, 0, 1]]
    assert set(whole.attributes.values.to_pylist()) == {'Parigi "la bella"\né 🗼', "Paris", "2102650"}
    assert whole.attributes.tags.to_pylist() == ["", "@it", INTEGER]
    assert len(whole.attributes) == 3
    return {"rdf": whole, "table": triples}


@pytest.mark.parametrize("packing", COMPRESS)
@pytest.mark.parametrize("suffix", [*RDF, *TABLES])
def test_every_format_gives_the_same_graph(tmp_path, expected, suffix, packing):
    path = tmp_path / f"graph{suffix}{packing}"
    path.write_bytes(COMPRESS[packing]((RDF | TABLES)[suffix]))
    assert_same(read_graph(path), expected["rdf" if suffix in RDF else "table"])


@pytest.mark.parametrize("suffix", [*RDF, *TABLES])
def test_the_format_is_known_by_name_option_or_content(tmp_path, expected, suffix):
    format = SUFFIXES[suffix]
    wanted = expected["rdf" if suffix in RDF else "table"]
    path = tmp_path / "no-suffix"
    path.write_bytes((RDF | TABLES)[suffix])
    assert_same(read_graph(path, ReadOptions(format=format)), wanted)
    if suffix not in (".csv", ".trig"):
        assert_same(read_graph(path), wanted)
        packed = tmp_path / "no-suffix.gz"
        packed.write_bytes(gzip.compress((RDF | TABLES)[suffix]))
        assert_same(read_graph(packed), wanted)


def test_every_format_is_tried_above():
    elsewhere = {"xlsx"}  # not text: tests/formats/test_table_workbooks.py
    assert {SUFFIXES[suffix] for suffix in (*RDF, *TABLES)} == set(GRAPH_FORMATS) - elsewhere


@pytest.mark.parametrize(
    ("start", "format"),
    [
        (b"\xef\xbb\xbf# a comment\n\n<urn:a> <urn:b> <urn:c> .\n", "n-triples"),
        (b"_:a <urn:b> _:c .\r\n", "n-triples"),
        (b"# baseURI: http://x\n@prefix a: <urn:a> .", "turtle"),
        (b"PREFIX a: <urn:a>\n", "turtle"),
        (b"<!-- comment -->\n<rdf:RDF", "rdf-xml"),
        (b'<?xml version="1.0"?>', "rdf-xml"),
        (b'\n {"@id": 1}', "json-ld"),
        (b"a\tb\tc\n", "tsv"),
    ],
)
def test_the_beginning_tells_the_format(tmp_path, start, format):
    (tmp_path / "x").write_bytes(start)
    assert recognise(tmp_path / "x") == format


def test_an_unknown_format_lists_the_known(tmp_path):
    (tmp_path / "x.doc").write_bytes(b"Dear Sir or Madam,\n")
    with pytest.raises(InputError, match=r"x\.doc: unknown format; known: csv, json-ld, n-quads.*--format"):
        read(tmp_path / "x.doc")
    with pytest.raises(UsageError, match=r"unknown format 'docx'; known: csv, json-ld, n-quads, n-triples"):
        read(tmp_path / "x.doc", ReadOptions(format="docx"))


# Several files


@pytest.fixture
def parts(tmp_path):
    for number, line in enumerate(NT.splitlines()):
        (tmp_path / f"part{number}.nt").write_text(line)
    (tmp_path / "readme.md").write_text("not a graph")
    return tmp_path


def test_several_files_are_one_graph(parts, expected):
    files = sorted(parts.glob("part*.nt"))
    for place in (
        parts,
        str(parts),
        files,
        [str(file) for file in reversed(files)],
        f"{parts}/part*.nt",
        parts / "p*.nt",
    ):
        graph = read(place)
        assert_same(graph, expected["rdf"])
        assert graph.counts.files == 6
    assert_same(read([files[0], parts / "part[1-3].nt", *files[4:]]), expected["rdf"])


def test_files_of_several_formats_are_one_graph(tmp_path, expected):
    (tmp_path / "a.csv").write_bytes(TABLES[".csv"])
    (tmp_path / "b.ttl.xz").write_bytes(lzma.compress(RDF[".ttl"]))
    (tmp_path / "c.nt").write_text(NT)
    assert_same(read(tmp_path), expected["rdf"])


def test_the_files_meant_are_listed_in_order(parts):
    names = [f"part{number}.nt" for number in range(6)]
    assert [file.name for file in files_of(parts)] == names
    assert [file.name for file in files_of(f"{parts}/part*")] == names
    (parts / "deep" / "er").mkdir(parents=True)
    (parts / "deep" / "er" / "x.nt").write_text(NT)
    assert [file.name for file in files_of(f"{parts}/**/x.nt")] == ["x.nt"]
    assert [file.name for file in files_of(parts)] == names
    odd = parts / "[odd] name*.nt"
    odd.write_text(NT)
    assert files_of(odd) == [odd]


def test_malformed_lines_count_across_files(tmp_path):
    for name in ("a.nt", "b.nt", "c.tsv"):
        (tmp_path / name).write_text("rubbish\n" if name != "c.tsv" else "a\tb\tc\nrubbish\n")
    (tmp_path / "d.nt").write_text(NT)
    with pytest.warns(
        LargeEAWarning, match=r"3 malformed .* were left out of 10 read; the first: .*a\.nt:1: "
    ):
        assert read_graph(tmp_path, ReadOptions(max_errors=3)).counts.rejected == 3
    with pytest.raises(InputError, match=r"c\.tsv:2: .*\n.*\nThat makes 3 malformed line\(s\); 2 allowed"):
        read_graph(tmp_path, ReadOptions(max_errors=2))


def test_places_without_a_graph(tmp_path):
    with pytest.raises(
        InputError, match=r"holds no graph file \(\.nt, .*\) and is not a benchmark folder \(OpenEA: "
    ):
        read(tmp_path)
    for place in (tmp_path / "missing.nt", f"{tmp_path}/*.nt"):
        with pytest.raises(InputError, match="no such file or folder; check the path, or the pattern"):
            read(place)
    (tmp_path / "empty.nt").touch()
    with pytest.raises(InputError, match=r"empty\.nt: the file is empty"):
        read(tmp_path)
    (tmp_path / "empty.nt").write_text("# nothing\n\n")
    with pytest.raises(InputError, match=r"empty\.nt: holds no triples"):
        read(tmp_path / "empty.nt")
    for name, content in {"a.ttl": "@prefix a: <urn:a> .", "b.jsonld": "{}", "c.json": "[]"}.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(InputError, match="holds no triples"):
            read(tmp_path / name)


def test_a_pair_is_no_graph(tmp_path):
    for name in ("rel_triples_1", "rel_triples_2"):
        (tmp_path / name).write_text("a\tp\tb\n")
    (tmp_path / "ent_links").write_text("a\ta\n")
    with pytest.raises(UsageError, match="is a benchmark folder with two graphs"):
        read_graph(tmp_path)


def test_options_reach_the_readers(tmp_path):
    (tmp_path / "a.tsv").write_text("1\t\troot\n2\t1\tleaf\n")
    options = ReadOptions(columns=Columns("1", None, "2", "3"))
    graph = largeea.read(tmp_path / "a.tsv", options)
    assert graph.names.to_pylist() == ["root", "leaf"]


def test_json_ld_with_its_own_context(tmp_path):
    document = {"@context": {"label": LABEL, "knows": {"@id": EX + "knows", "@type": "@id"}}, "@id": EX + "a"}
    (tmp_path / "a.json").write_text(json.dumps(document | {"label": "A", "knows": [EX + "b", EX + "c"]}))
    graph = read(tmp_path / "a.json")
    assert graph.names.to_pylist() == ["A", "b", "c"]
    assert graph.triples.tolist() == [[0, 0, 1], [0, 0, 2]]


def test_paths_may_be_plain_strings_and_relative(tmp_path, monkeypatch, expected):
    monkeypatch.chdir(tmp_path)
    Path("a.nt").write_text(NT)
    assert_same(read("a.nt"), expected["rdf"])
    assert_same(read("*.nt"), expected["rdf"])
