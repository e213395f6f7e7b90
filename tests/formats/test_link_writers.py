from __future__ import annotations

import csv
import io
import logging
import re
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pyoxigraph
import pytest
import sssom_pydantic
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from largeea.errors import InputError, UsageError
from largeea.formats.links import (
    FORMATS,
    read_links,
    resolve,
    text,
    unmatched,
    write_alignment,
    write_doubtful,
    write_unmatched,
)
from largeea.formats.links.namespaces import MOST_PREFIXES, Prefixes, by_frequency, split
from largeea.graph import KnowledgeGraph, strings
from largeea.matching.alignment import Alignment

BERLIN, BERLIN_DE = "http://dbpedia.org/resource/Berlin", "http://de.dbpedia.org/resource/Berlin"
PLAIN_TABLES = {"tsv", "parquet"}

iri_characters = st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zs", "Zl", "Zp"])
namespaces = st.sampled_from(
    [
        "http://dbpedia.org/resource/",
        "http://fr.dbpedia.org/resource/",
        "https://example.org/a,b(c)#",
        'http://x.org/"q"/',
        "urn:entity:",
        "dbr:",
        "skos:",
        "no:",
        "ns1:",
        "HTTP://X.ORG/é%20/",
        "",
    ]
)
iris = st.builds(str.__add__, namespaces, st.text(iri_characters, min_size=1, max_size=12))
labels = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
nodes = st.dictionaries(iris, labels, min_size=1, max_size=12)


def graph(named: dict[str, str | None]) -> KnowledgeGraph:
    entities = sorted(named)
    return KnowledgeGraph(strings(entities), strings(map(named.get, entities)), strings(), np.empty((0, 3)))


def aligned(
    source: dict[str, str | None],
    target: dict[str, str | None],
    accepted: list[bool] | None = None,
    confidence: list[float] | None = None,
    evidence: tuple[str, ...] = ("name", "structure"),
) -> Alignment:
    """The i-th source entity (by IRI) with the i-th target entity, as far as both reach."""
    n = min(len(source), len(target)) if accepted is None else len(accepted)
    return Alignment(
        graph(source),
        graph(target),
        np.column_stack([np.arange(n)] * 2),
        np.linspace(1, 0.1, n) if confidence is None else np.array(confidence),
        np.ones(n, bool) if accepted is None else np.array(accepted),
        {name: np.full(n, 0.25) for name in evidence},
    )


def many(count: int, namespace: str = "http://x.org/{}") -> Alignment:
    return aligned(*({namespace.format(f"{side}{i:06}"): f"{i}" for i in range(count)} for side in "st"))


def written(alignment: Alignment, format: str) -> bytes:
    file = io.BytesIO()
    write_alignment(alignment, file, format)
    return file.getvalue()


def shown(name: str | None) -> str:
    """A name as it stands in a text file: control characters but tab and line breaks are spelt out."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", lambda c: f"\\x{ord(c[0]):02x}", name or "")


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter="\t"))


# Every format


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=nodes, target=nodes, data=st.data())
def test_what_is_written_is_read_back(name, source, target, data, tmp_path):
    n = min(len(source), len(target))
    accepted = [True, *data.draw(st.lists(st.booleans(), min_size=n - 1, max_size=n - 1))]
    weights = st.floats(0, 1, width=32)
    confidence = data.draw(st.lists(weights, min_size=n, max_size=n))
    alignment = aligned(source, target, accepted, confidence)
    path = tmp_path / FORMATS[name].file_name
    write_alignment(alignment, path, name)

    table = read_links(path)
    links = resolve(table, alignment.source, alignment.target)

    expected = alignment.links.canonical()
    assert links.pairs.tolist() == expected.pairs.tolist()
    if name != "same-as":
        assert links.weight.tolist() == expected.weight.tolist()
    assert table.ignored == (accepted.count(False) if name in PLAIN_TABLES else 0)


@pytest.mark.parametrize("name", FORMATS)
def test_many_batches_are_one_file(name, tmp_path, monkeypatch):
    whole = written(many(10), name)
    monkeypatch.setattr(text, "BATCH_ROWS", 3)
    path = tmp_path / "links"
    path.write_bytes(written(many(10), name))
    assert len(read_links(path)) == 10
    if name == "parquet":
        assert pq.ParquetFile(path).num_row_groups == 4
    else:
        assert path.read_bytes() == whole


@pytest.mark.parametrize("name", FORMATS)
def test_same_alignment_same_bytes(name):
    assert written(many(5), name) == written(many(5), name)


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_alignment_is_a_sound_file(name):
    data = written(many(0), name)
    assert name != "alignment-api" or list(pyoxigraph.parse(data, pyoxigraph.RdfFormat.RDF_XML))
    assert name != "parquet" or pq.read_table(io.BytesIO(data)).schema == many(3).to_table().schema


def test_formats_have_the_documented_file_names():
    assert {format.name: format.file_name for format in FORMATS.values()} == {
        "sssom": "alignment.sssom.tsv",
        "same-as": "alignment.nt",
        "alignment-api": "alignment.rdf",
        "tsv": "alignment.tsv",
        "parquet": "alignment.parquet",
    }


def test_unknown_format_lists_the_known_ones():
    with pytest.raises(UsageError, match="'owl'; known are alignment-api, parquet, same-as, sssom, tsv"):
        written(many(1), "owl")


# SSSOM


def sssom_mappings(data: bytes, path: Path):
    """Read by a foreign implementation: pairs of full IRIs, and what it makes of the file."""
    path.write_bytes(data)
    mappings, converter, mapping_set, errors = sssom_pydantic.read(path, return_errors=True)
    assert errors == []
    pairs = [(converter.expand_reference(m.subject), converter.expand_reference(m.object)) for m in mappings]
    return pairs, mappings, mapping_set


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=nodes, target=nodes)
def test_sssom_means_the_same_to_another_implementation(source, target, tmp_path):
    alignment = aligned(source, target)
    pairs, mappings, _ = sssom_mappings(written(alignment, "sssom"), tmp_path / "alignment.sssom.tsv")
    assert pairs == list(zip(sorted(source), sorted(target), strict=False))
    assert [m.confidence for m in mappings] == pytest.approx(alignment.confidence.tolist(), abs=1e-7)
    for mapping, iri in zip(mappings, sorted(source), strict=False):
        assert (mapping.subject_name or "") == shown(source[iri]).strip()


def test_sssom_file_as_a_whole(caplog, tmp_path):
    alignment = aligned({BERLIN: "Berlin\tcity"}, {BERLIN_DE: 'die "Stadt"'}, confidence=[0.875])
    data = written(alignment, "sssom")
    header, body = data.decode().split("subject_id", 1)
    assert [line for line in header.splitlines() if "mapping_tool_version" not in line] == [
        "#curie_map:",
        '#  dbpedia-de: "http://de.dbpedia.org/resource/"',
        '#  dbr: "http://dbpedia.org/resource/"',
        '#  owl: "http://www.w3.org/2002/07/owl#"',
        '#  semapv: "https://w3id.org/semapv/vocab/"',
        '#mapping_set_id: "https://w3id.org/sssom/mappings/af86bd34-b7dc-5b11-83fe-cb2738dad1f4"',
        '#mapping_set_version: "8f3c34e31057"',
        '#license: "https://w3id.org/sssom/license/unspecified"',
        '#mapping_tool: "LargeEA"',
    ]
    assert body == (
        "\tsubject_label\tpredicate_id\tobject_id\tobject_label\tmapping_justification\tconfidence\n"
        'dbr:Berlin\t"Berlin\tcity"\towl:sameAs\tdbpedia-de:Berlin\t"die ""Stadt"""\t'
        "semapv:CompositeMatching\t0.875\n"
    )
    with caplog.at_level(logging.WARNING):
        _, mappings, mapping_set = sssom_mappings(data, tmp_path / "alignment.sssom.tsv")
    assert not caplog.records
    assert mappings[0].mapping_tool.name == "LargeEA"
    assert str(mapping_set.license).endswith("unspecified")


def test_sssom_says_composite_only_if_names_and_structure_count():
    by_name = ("name", "semantic", "strings")
    for evidence, process in (
        (("name",), "Lexical"),
        (by_name, "Lexical"),
        ((*by_name, "neighbours"), "Composite"),
        (("structure",), "Structural"),
        ((), "Unspecified"),
    ):
        data = written(aligned({BERLIN: None}, {BERLIN_DE: None}, evidence=evidence), "sssom")
        assert f"semapv:{process}Matching" in data.decode()


def test_sssom_falls_back_to_schemes_beyond_the_most_frequent_namespaces(tmp_path):
    rare = {f"http://x.org/{i:03}/{n}": None for i in range(MOST_PREFIXES + 50) for n in range(1 + (i < 9))}
    rare |= {f"urn:{i:03}:0": None for i in range(3)} | {f"{i:03}/0": None for i in range(3)}
    targets = {f"http://y.org/{i}": None for i in range(len(rare))}
    data = written(aligned(rare, targets), "sssom")
    pairs, _, _ = sssom_mappings(data, tmp_path / "alignment.sssom.tsv")
    assert [source for source, _ in pairs] == sorted(rare)
    assert '\n#  http: "http:"\n' in data.decode()
    assert "\nhttp://x.org/240/0\t" in data.decode()
    assert data.decode().count("\n#  ns") <= MOST_PREFIXES + 1


def test_sssom_id_names_the_pairs_not_the_day():
    first, second = (written(many(n), "sssom").splitlines() for n in (3, 4))
    named = [line for line in first if b"mapping_set_id" in line]
    assert len(named) == 1
    assert named[0] not in second


@settings(deadline=None)
@given(st.lists(st.text(st.sampled_from("aé#/:"), min_size=1), min_size=1), st.integers(0, 3))
def test_iris_are_split_after_the_last_separator_that_leaves_a_rest(texts, skipped):
    namespace, rest = split(strings(["x/y"] * skipped + texts).slice(skipped))
    for whole, head, tail in zip(texts, namespace.to_pylist(), rest.to_pylist(), strict=True):
        assert (head, tail) == re.fullmatch(r"(.*[#/:])?(.+)", whole).groups(default="")


def test_prefixes_are_customary_or_numbered_by_frequency_then_alphabet():
    columns = [strings(["http://b/1", "http://a/1", "http://c/1", BERLIN]), strings(["http://c/2", "wd:Q1"])]
    assert Prefixes.of(by_frequency(columns)).curie_map == {
        "dbr": "http://dbpedia.org/resource/",
        "ns1": "http://c/",
        "ns2": "http://a/",
        "ns3": "http://b/",
        "ns4": "wd:",
    }


# The other formats


def test_same_as_is_strict_n_triples():
    pairs = {'http://x.org/a<b>\\{|}^`"é 😀': None, "urn:x:y": None}, {"http://y.org/1": None, "urn:z": None}
    data = written(aligned(*pairs), "same-as").decode()
    assert data.splitlines()[1] == "<urn:x:y> <http://www.w3.org/2002/07/owl#sameAs> <urn:z> ."
    escaped = "a\\u003Cb\\u003E\\u005C\\u007B\\u007C\\u007D\\u005E\\u0060\\u0022é\\u0020😀"
    assert data.splitlines()[0].startswith(f"<http://x.org/{escaped}> ")
    statements = list(pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_TRIPLES, lenient=True))
    assert [s.subject.value for s in statements] == sorted(pairs[0])


def test_alignment_api_is_sound_rdf_with_the_cells_of_the_standard():
    alignment = aligned({BERLIN: None, BERLIN + "?a&b": None}, {BERLIN_DE: None, BERLIN_DE + "'<": None})
    data = written(alignment, "alignment-api")
    api = "http://knowledgeweb.semanticweb.org/heterogeneity/alignment#"
    found: dict[str, list[str]] = {}
    for statement in pyoxigraph.parse(data, pyoxigraph.RdfFormat.RDF_XML, lenient=True):
        found.setdefault(statement.predicate.value.removeprefix(api), []).append(statement.object.value)
    assert found["entity1"] == sorted([BERLIN, BERLIN + "?a&b"])
    assert found["entity2"] == sorted([BERLIN_DE, BERLIN_DE + "'<"])
    assert found["measure"] == ["1", "0.1"]
    assert found["relation"] == ["=", "="]
    assert (found["level"], found["type"], found["xml"]) == (["0"], ["11"], ["yes"])
    assert found["onto1"] == ["http://dbpedia.org/resource/"]
    assert found["onto2"] == ["http://de.dbpedia.org/resource/"]


def test_alignment_api_replaces_what_xml_cannot_hold():
    data = written(aligned({"urn:a\x00\x1f\uffffb": None}, {"urn:c": None}), "alignment-api")
    assert "urn:a���b" in data.decode()
    assert list(pyoxigraph.parse(data, pyoxigraph.RdfFormat.RDF_XML, lenient=True))


def test_tsv_has_every_pair_with_its_status_and_evidence():
    alignment = aligned(
        {BERLIN: "a\r\nb", "urn:x": None}, {BERLIN_DE: '"', "urn:y": ""}, [True, False], [1, 0.1]
    )
    assert rows_of(written(alignment, "tsv")) == [
        {
            "source": BERLIN,
            "target": BERLIN_DE,
            "confidence": "1",
            "status": "accepted",
            "source_name": "a\r\nb",
            "target_name": '"',
            "evidence_name": "0.25",
            "evidence_structure": "0.25",
        },
        {
            "source": "urn:x",
            "target": "urn:y",
            "confidence": "0.1",
            "status": "doubtful",
            "source_name": "",
            "target_name": "",
            "evidence_name": "0.25",
            "evidence_structure": "0.25",
        },
    ]


@settings(max_examples=60, deadline=None)
@given(source=nodes, target=nodes)
def test_tsv_keeps_names_but_shows_control_characters(source, target):
    names = [row["source_name"] for row in rows_of(written(aligned(source, target), "tsv"))]
    assert names == [shown(source[iri]) for iri in sorted(source)][: len(target)]


@pytest.mark.parametrize("name", ["tsv", "sssom", "same-as", "alignment-api"])
def test_no_control_character_reaches_a_text_file(name, tmp_path):
    """Ids with those of C1, which IRIs must not have but graphs made by hand may, are read back as well."""
    controls = "".join(map(chr, [*range(32), *range(127, 160)]))
    alignment = aligned({"urn:a\x9bb": f"x{controls}y"}, {"urn:\x85": controls})
    data = written(alignment, name)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", data.decode())
    if name in ("same-as", "alignment-api"):
        (tmp_path / "links").write_bytes(data)
        table = read_links(tmp_path / "links")
        assert (table.source.to_pylist(), table.target.to_pylist()) == (["urn:a\x9bb"], ["urn:\x85"])


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("x")'])
def test_what_a_spreadsheet_takes_for_a_formula_stays_a_name(formula, tmp_path):
    """These files are for programs: an apostrophe against spreadsheets would be wrong data for all others."""
    alignment = aligned({formula: formula}, {"urn:b": formula})
    row = rows_of(written(alignment, "tsv"))[0]
    assert (row["source"], row["source_name"], row["target_name"]) == (formula, formula, formula)
    (tmp_path / "links.tsv").write_bytes(written(alignment, "tsv"))
    assert read_links(tmp_path / "links.tsv").source.to_pylist() == [formula]


def test_parquet_is_the_table():
    alignment = aligned({BERLIN: "Berlin", "urn:x": None}, {BERLIN_DE: None, "urn:y": ""}, [True, False])
    table = pq.read_table(io.BytesIO(written(alignment, "parquet")))
    assert table.equals(alignment.to_table())


# What was not accepted


def test_doubtful_pairs_have_names_confidence_and_evidence(tmp_path):
    source = {BERLIN: "Berlin", "urn:a": "tab\there", "urn:b": None}
    target = {BERLIN_DE: "Berlin", "urn:c": "c", "urn:d": None}
    alignment = aligned(source, target, [True, False, False], [1, 0.5, 0.25])
    assert write_doubtful(alignment, tmp_path / "doubtful.tsv") == {"source": 2, "target": 2}
    assert rows_of((tmp_path / "doubtful.tsv").read_bytes()) == rows_of(written(alignment, "tsv"))[1:]


def test_a_doubtful_pair_is_a_link_once_its_status_says_so(tmp_path):
    alignment = aligned({"urn:a": "a", "urn:b": "b"}, {"urn:c": "c", "urn:d": "d"}, [False, False])
    path = tmp_path / "doubtful.tsv"
    write_doubtful(alignment, path)
    with pytest.raises(InputError, match="holds no links"):
        read_links(path)
    path.write_bytes(path.read_bytes().replace(b"doubtful", b"accepted", 1))
    assert read_links(path).source.to_pylist() == ["urn:a"]


def test_no_doubtful_pairs_leave_a_header(tmp_path):
    assert write_doubtful(many(3), tmp_path / "doubtful.tsv") == {"source": 0, "target": 0}
    assert (tmp_path / "doubtful.tsv").read_bytes().startswith(b"source\ttarget\tconfidence\tstatus")
    assert rows_of((tmp_path / "doubtful.tsv").read_bytes()) == []


def test_unmatched_lists_both_sides_without_blank_nodes(tmp_path):
    source = {BERLIN: "Berlin", "urn:a": "tab\there", "urn:b": None, "_:blank": None}
    target = {BERLIN_DE: "Berlin", "urn:c": "c"}
    alignment = Alignment(graph(source), graph(target), np.array([[1, 0]]), np.ones(1), np.ones(1, bool))
    assert write_unmatched(alignment, tmp_path / "unmatched.tsv") == {"source": 2, "target": 1}
    free = "no likely candidate, or all are in other pairs"
    assert rows_of((tmp_path / "unmatched.tsv").read_bytes()) == [
        {"side": "source", "entity": "urn:a", "name": "tab\there", "reason": free},
        {"side": "source", "entity": "urn:b", "name": "", "reason": "no name"},
        {"side": "target", "entity": "urn:c", "name": "c", "reason": free},
    ]


def test_unmatched_names_the_namesake_that_is_in_another_pair(tmp_path, monkeypatch):
    monkeypatch.setattr(unmatched, "BATCH_ROWS", 2)
    source = {"urn:a": "x", "urn:b": "y", "urn:c": "x", "urn:d": "z", "urn:e": "y"}
    target = {"urn:p": "x", "urn:q": "y", "urn:r": "z"}
    alignment = aligned(source, target, [True, True])
    write_unmatched(alignment, tmp_path / "unmatched.tsv")
    assert [row["reason"] for row in rows_of((tmp_path / "unmatched.tsv").read_bytes())] == [
        "same name as urn:p, which is in another pair",
        "no likely candidate, or all are in other pairs",
        "same name as urn:q, which is in another pair",
        "no likely candidate, or all are in other pairs",
    ]
