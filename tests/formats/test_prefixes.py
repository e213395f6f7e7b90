"""Prefixes of files: read from every syntax, used in CURIEs, accepted wherever an IRI is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from largeea import align_files, read_links
from largeea.cli import run
from largeea.errors import InputError, LargeEAWarning, UsageError
from largeea.formats import ReadOptions, read_both, read_graph
from largeea.formats.links import resolve
from largeea.formats.links.namespaces import Prefixes
from largeea.formats.naming import Naming
from largeea.formats.prefixes import MOST_DECLARED, Curies, add_declared, find_entities, last_part
from largeea.graph import KnowledgeGraph, strings
from largeea.web.review.session import Session

TURTLE = """@prefix m: <http://m.org/> . @prefix : <http://empty/> .
m:1 m:name "one" .
PREFIX n: <http://n/>
n:2 m:name "two" .
"""
TRIG = "@prefix m: <http://m.org/> . @prefix n: <http://n/> .\nm:g { m:1 m:p m:2 . }\n"
XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY n "http://n/"> ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:m="http://m.org/" xmlns:n="&n;">
<rdf:Description rdf:about="http://m.org/1"><m:name xmlns:inner="http://i/">one</m:name></rdf:Description>
</rdf:RDF>
"""
JSON = """{"@context": {"m": "http://m.org/", "n": "http://n/", "name": "m:name"},
"@id": "m:1", "name": "one"}"""
BOTH = {"m": "http://m.org/", "n": "http://n/"}


@pytest.mark.parametrize(
    ("name", "text"), [("a.ttl", TURTLE), ("a.trig", TRIG), ("a.rdf", XML), ("a.jsonld", JSON)]
)
def test_every_syntax_tells_its_prefixes(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    prefixes = read_graph(tmp_path / name).prefixes
    assert {name: namespace for name, namespace in prefixes.items() if name != "rdf"} == BOTH


def test_of_several_files_the_first_declaration_counts(tmp_path: Path) -> None:
    (tmp_path / "a.ttl").write_text("@prefix m: <http://m.org/> . m:1 m:p m:2 .")
    (tmp_path / "b.ttl").write_text("@prefix m: <http://other/> . @prefix n: <http://n/> . m:1 m:p n:2 .")
    assert read_graph(tmp_path).prefixes == BOTH


def test_prefixes_are_bounded() -> None:
    known: dict[str, str] = {}
    add_declared(known, {f"p{number}": "http://x/" for number in range(2 * MOST_DECLARED)})
    assert len(known) == MOST_DECLARED
    add_declared(known := {}, {"a": "x" * 3000, "": "http://empty/", "_": "http://x/", "ok": "http://ok/"})
    assert known == {"ok": "http://ok/"}


def graph(*iris: str, **prefixes: str) -> KnowledgeGraph:
    entities = sorted(iris)
    names = strings([None] * len(entities))
    return KnowledgeGraph(strings(entities), names, strings(), np.empty((0, 3)), prefixes=prefixes)


def test_curies_and_back() -> None:
    known = Curies.of(graph(m="http://m.org/", GO="http://purl.obolibrary.org/obo/GO_"))
    for curie, iri in {
        "m:1": "http://m.org/1",
        "dbr:Berlin": "http://dbpedia.org/resource/Berlin",
        "obo:UBERON_1": "http://purl.obolibrary.org/obo/UBERON_1",
    }.items():
        assert known.expand(curie) == iri
        assert known.shorten(iri) == curie
    for text in ("http://m.org/", "http://m.org/a/b", "urn:x:y", "nothing", "x:y", "m://z", ""):
        assert known.expand(text) == text
        assert known.shorten(text) == text
    assert known.expand("GO:1") == "http://purl.obolibrary.org/obo/GO_1"
    texts = strings(["m:1", "x:1", "http://m.org/2", "m://z", None, "m:a/b", "m:"])
    assert known.expand_all(texts).to_pylist() == [
        *("http://m.org/1", "x:1", "http://m.org/2", "m://z", None, "http://m.org/a/b", "m:")
    ]


def test_a_customary_namespace_has_its_customary_prefix() -> None:
    known = Curies.of(graph(res="http://dbpedia.org/resource/", dbo="http://elsewhere/"))
    assert known.shorten("http://dbpedia.org/resource/Berlin") == "dbr:Berlin"
    assert known.expand("res:Berlin") == known.expand("dbr:Berlin")
    assert known.expand("dbo:x") == "http://elsewhere/x"


def test_an_unknown_prefix_is_told_with_the_known_ones() -> None:
    known = Curies.of(graph(m="http://m.org/"))
    assert known.advice("x:1").startswith(". The prefix 'x' is not known; known are m, dbc, ")
    assert not any(map(known.advice, ["m:1", "http://x", "urn:x", "Berlin", "a b:c"]))


def test_entities_are_found_by_iri_and_by_curie() -> None:
    found = find_entities(
        graph("http://m.org/1", "m:2", m="http://m.org/"), strings(["m:1", "m:2", "m:3", "http://m.org/1"])
    )
    assert found.tolist() == [0, 1, -1, 0]


def test_declared_prefixes_stand_in_the_curie_map() -> None:
    namespaces = ["http://m.org/", "http://dbpedia.org/resource/", "http://x/", "http://y/", "http://z/"]
    declared = {
        **{
            "m": "http://m.org/",
            "res": "http://dbpedia.org/resource/",
            "owl": "http://x/",
            "no": "http://y/",
        },
        **{"ns1": "http://z/", "http": "http://x/", "M2": "http://m.org/"},
    }
    assert Prefixes.of(namespaces, declared).curie_map == {
        **{"dbr": "http://dbpedia.org/resource/", "m": "http://m.org/"},
        **{"ns1": "http://x/", "ns2": "http://y/", "ns3": "http://z/"},
    }


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for side in "ab":
        lines = "".join(f'{side}:{n} {side}:title "thing number {n}" .\n' for n in range(12))
        Path(f"{side}.ttl").write_text(f"@prefix {side}: <http://{side}/> .\n{lines}")


def test_labels_by_curie(files: None) -> None:
    naming = Naming(("a:title", "b:title"))
    source, target = read_both(
        "a.ttl", "b.ttl", ReadOptions(naming=naming), ReadOptions().new_rejects("a.ttl")
    )
    assert source.names[0].as_py() == target.names[0].as_py() == "thing number 0"
    assert source.label_predicates == ("http://a/title", "b:title")
    options = ReadOptions(naming=Naming(("c:title",)))
    with pytest.raises(
        UsageError, match=r"no graph has the predicate 'c:title'\. The prefix 'c' is not known"
    ):
        read_both("a.ttl", "b.ttl", options, options.new_rejects("a.ttl"))


def test_a_label_that_no_graph_has_is_told(files: None) -> None:
    options = ReadOptions(naming=Naming(("a:title", "b:titel")))
    with pytest.warns(LargeEAWarning) as told:
        read_both("a.ttl", "b.ttl", options, options.new_rejects("a.ttl"))
    assert [str(one.message) for one in told] == [
        "no graph has literals of the predicate 'b:titel', which was given for names"
    ]


def test_link_files_with_curies(files: None) -> None:
    Path("known.tsv").write_text("a:1\tb:1\nhttp://a/2\tb:2\n")
    graphs = read_graph("a.ttl"), read_graph("b.ttl")
    pairs = resolve(read_links(Path("known.tsv")), *graphs).pairs
    assert [graphs[0].entities[one].as_py() for one in pairs[:, 0].tolist()] == ["http://a/1", "http://a/2"]
    Path("known.tsv").write_text("c:1\tb:1\n")
    with pytest.raises(InputError, match=r"source c:1\n.*The prefix 'c' is not known; known are a, b, "):
        resolve(read_links(Path("known.tsv")), *graphs)


def test_a_run_with_curies_everywhere(files: None, capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.tsv").write_text("a:1\tb:1\n")
    options = ["--label", "a:title", "--label", "b:title", "--links", "known.tsv", "--predicate", "a:same"]
    assert run(["align", "a.ttl", "b.ttl", "-o", "run", *options]) == 0
    text = Path("run/alignment.sssom.tsv").read_text()
    assert '#  a: "http://a/"\n#  b: "http://b/"' in text
    assert "\na:2\tthing number 2\ta:same\tb:2\t" in text
    assert "ns1" not in text
    capsys.readouterr()
    assert run(["explain", "run", "a:2"]) == 0
    assert '= b:2 "thing number 2"' in capsys.readouterr().out
    assert run(["explain", "run", "x:2"]) == 2
    assert "The prefix 'x' is not known; known are a, b, dbc" in capsys.readouterr().err
    assert "a:2" in Path("run/report.html").read_text()


def test_reviews_show_and_store_curies(files: None) -> None:
    align_files("a.ttl", "b.ttl", "run", reading=ReadOptions(naming=Naming(("a:title", "b:title"))))
    session = Session(Path("run"), "Ada")
    detail = session.detail(0, scores=False)
    shown = detail["source"]
    assert shown["curie"] == shown["iri"].replace("http://a/", "a:")
    session.decide(0, "same", None, (shown["iri"], detail["target"]["iri"]))
    assert f"\n{shown['curie']}\t" in Path("run/reviews.tsv").read_text()


def test_an_unknown_prefix_of_the_predicate_is_told_before_the_run(files: None) -> None:
    with pytest.raises(UsageError, match="known prefixes: a, b, dbc"):
        align_files("a.ttl", "b.ttl", "run", predicate="x:same")
    assert not Path("run/alignment.sssom.tsv").exists()


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("http://a/b#c", "c"),
        ("http://a/b/", "b"),
        ("urn:x:y", "y"),
        ("k", "k"),
        ("http://", "http"),
        ("/", "/"),
        ("", ""),
    ],
)
def test_the_last_part_of_an_iri_is_never_empty(iri: str, expected: str) -> None:
    assert last_part(iri) == expected
