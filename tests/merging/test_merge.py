"""Merged graphs of pairs small enough to know every statement."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

import largeea
from largeea.cli import run as command
from largeea.formats.streams import open_bytes
from largeea.merging import merge_run

Aligned = Callable[..., Path]
Loaded = Callable[[Path], ox.Store]

SOURCE = """@prefix s: <http://s.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
s:anna rdfs:label "Anna" ; s:lives s:ulm ; s:knows [ rdfs:label "someone" ] .
s:ulm rdfs:label "Ulm" .
"""
TARGET = """@prefix t: <http://t.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
t:a rdfs:label "Anna B." ; t:wohnt t:u ; t:mag t:kaffee ; t:kennt [ rdfs:label "jemand" ] .
t:u rdfs:label "Ulm" .
t:kaffee rdfs:label "Kaffee" .
"""
LINKS = [("http://s.org/anna", "http://t.org/a"), ("http://s.org/ulm", "http://t.org/u")]
OKKAM = "http://www.okkam.org/oaie/"
ENTITIES = "PREFIX s: <http://s.org/> PREFIX t: <http://t.org/> "


def asks(store: ox.Store, pattern: str) -> bool:
    return bool(store.query(f"{ENTITIES} ASK {{ {pattern} }}"))


def test_linked_entities_get_the_iri_of_the_source(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    merged = merge_run(aligned({"s.ttl": SOURCE}, {"t.ttl": TARGET}, LINKS), tmp_path / "m.nt")
    store = loaded(tmp_path / "m.nt")
    assert asks(store, "s:anna s:lives s:ulm ; t:wohnt s:ulm ; t:mag t:kaffee")
    assert not asks(store, "t:a ?p ?o")
    assert not asks(store, "?s ?p t:u")
    assert (merged.links, merged.source.written, merged.target.written) == (2, 5, 7)
    assert merged.written == len(store) + 1, "both graphs say that Ulm is called Ulm"


def test_or_the_iri_of_the_target(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    run = aligned({"s.ttl": SOURCE}, {"t.ttl": TARGET}, LINKS)
    merge_run(run, tmp_path / "m.ttl", canonical="target")
    store = loaded(tmp_path / "m.ttl")
    assert asks(store, "t:a s:lives t:u ; t:wohnt t:u")
    assert not asks(store, "s:anna ?p ?o")


def test_both_iris_are_kept_with_a_link(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    run = aligned({"s.ttl": SOURCE}, {"t.ttl": TARGET}, LINKS)
    merged = merge_run(run, tmp_path / "m.nt", keep_both=True)
    store = loaded(tmp_path / "m.nt")
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    assert asks(store, f"s:anna {same} t:a ; s:lives s:ulm . s:ulm {same} t:u . t:a t:wohnt t:u")
    assert merged.link_statements == 2
    assert merged.written == len(store) == 5 + 7 + 2


def test_classes_and_properties_are_linked_by_their_own_predicates(
    aligned: Aligned, loaded: Loaded, tmp_path: Path
) -> None:
    def ontology(side: str) -> str:
        return (
            f"@prefix : <http://{side}.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
            f":Town{side} a owl:Class . :in{side} a owl:ObjectProperty . :u :in{side} :d . :u a :Town{side} ."
        )

    links = [(f"http://s.org/{name}s", f"http://t.org/{name}t") for name in ("Town", "in")]
    run = aligned({"s.ttl": ontology("s")}, {"t.ttl": ontology("t")}, links, match="all")
    merge_run(run, tmp_path / "both.nt", keep_both=True)
    both = loaded(tmp_path / "both.nt")
    assert asks(both, "s:Towns <http://www.w3.org/2002/07/owl#equivalentClass> t:Townt")
    assert asks(both, "s:ins <http://www.w3.org/2002/07/owl#equivalentProperty> t:int")
    merge_run(run, tmp_path / "one.nt")
    one = loaded(tmp_path / "one.nt")
    assert asks(one, "t:u s:ins t:d ; a s:Towns"), "a linked property is replaced where it is a predicate"


def test_links_below_the_threshold_are_not_used(loaded: Loaded, tmp_path: Path) -> None:
    for side, text in (("s", SOURCE), ("t", TARGET)):
        (tmp_path / f"{side}.ttl").write_text(text)
    run = tmp_path / "run"
    largeea.align(tmp_path / "s.ttl", tmp_path / "t.ttl", config={"without": ["evidence"]}, folder=run)
    assert merge_run(run, tmp_path / "all.nt").links > 0, "found by their names, with less than certainty"
    assert merge_run(run, tmp_path / "none.nt", threshold=1.0).links == 0
    assert asks(loaded(tmp_path / "none.nt"), "t:u ?p ?o")


def test_equal_iris_need_no_link(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    shared = TARGET.replace("t:u ", "<http://s.org/ulm> ")
    run = aligned({"s.ttl": SOURCE}, {"t.ttl": shared}, LINKS[:1])
    merged = merge_run(run, tmp_path / "m.nt", keep_both=True)
    assert merged.link_statements == 1
    assert asks(loaded(tmp_path / "m.nt"), "s:anna s:lives s:ulm . t:a t:wohnt s:ulm")


def test_blank_nodes_of_both_graphs_and_of_several_files_stay_apart(
    aligned: Aligned, loaded: Loaded, tmp_path: Path
) -> None:
    def lines(side: str, town: str) -> str:
        return f'_:b <http://p> "{side} {town}" .\n<http://{side}.org/{town}> <http://has> _:b .\n'

    source = {f"{town}.nt": lines("s", town) for town in ("bonn", "ulm")}
    run = aligned(source, {"t.nt": lines("t", "bonn")}, [("http://s.org/bonn", "http://t.org/bonn")])
    merged = merge_run(run, tmp_path / "m.nt")
    store = loaded(tmp_path / "m.nt")
    assert merged.written == len(store) == 6
    rows = store.query("SELECT ?v (COUNT(?v) AS ?n) { ?b <http://p> ?v . ?e <http://has> ?b } GROUP BY ?v")
    assert {(row["v"].value, row["n"].value) for row in rows} == {
        ("s bonn", "1"),
        ("s ulm", "1"),
        ("t bonn", "1"),
    }


LITERALS = r"""<http://s.org/a> <http://p> "quote \" backslash \\ tab \t line \n return \r end" .
<http://s.org/a> <http://p> "caf\u00E9 \U0001F600 €"@fr-CA .
<http://s.org/a> <http://p> "from right to left"@ar--rtl .
<http://s.org/a> <http://p> "01.50"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<http://s.org/a> <http://p> "text"^^<http://www.w3.org/2001/XMLSchema#string> .
<http://s.org/a> <http://p> "" .
<http://s.org/a> <http://p> "\\n is not a line" .
<http://s.org/a> <http://p> "http://t.org/b" .
<http://s.org/\u00e9> <http://p> <http://s.org/a> .  # comment
"""


def test_literals_survive_to_the_last_character(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    target = '<http://t.org/b> <http://p> "b" .\n'
    run = aligned({"s.nt": LITERALS}, {"t.nt": target}, [("http://s.org/a", "http://t.org/b")])
    merge_run(run, tmp_path / "m.nt")
    expected = ox.Store()
    expected.load(LITERALS.encode() + target.replace("t.org/b", "s.org/a").encode(), ox.RdfFormat.N_TRIPLES)
    assert set(loaded(tmp_path / "m.nt")) == set(expected)


RDF_XML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">
<rdf:Description rdf:about="http://s.org/a"><e:name xml:lang="de">M\xfcller</e:name></rdf:Description>
</rdf:RDF>""".encode("latin-1")
JSON_LD = '{"@id": "http://t.org/b", "http://e.org/size": 12, "http://e.org/in": {"@id": "http://t.org/c"}}'


def test_every_syntax_and_encoding_becomes_the_same_statements(
    aligned: Aligned, loaded: Loaded, tmp_path: Path
) -> None:
    run = aligned(
        {"s.rdf.gz": gzip.compress(RDF_XML)}, {"t.jsonld": JSON_LD}, [("http://s.org/a", "http://t.org/b")]
    )
    merge_run(run, tmp_path / "m.nt")
    pattern = 's:a <http://e.org/name> "Müller"@de ; <http://e.org/size> 12 ; <http://e.org/in> t:c'
    assert asks(loaded(tmp_path / "m.nt"), pattern)


def test_keys_of_tables_become_iris_of_their_side(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    source = "subject,relation,object\nanna,lives in,ulm\nulm,100%,bonn\nanna,lives in,ulm\n"
    target = "subject,relation,object\nanna,lives in,anne\n"
    run = aligned({"s.csv": source}, {"t.csv": target}, [("anna", "anne")])
    merged = merge_run(run, tmp_path / "m.nt", bases=("http://s.org/", "http://t.org/"))
    store = loaded(tmp_path / "m.nt")
    assert asks(store, "s:anna <http://s.org/lives%20in> s:ulm . s:ulm <http://s.org/100%25> s:bonn")
    assert asks(store, "t:anna <http://t.org/lives%20in> s:anna"), "equal keys of two tables mean nothing"
    assert (merged.source.read, merged.source.duplicates, merged.source.written) == (3, 1, 2)
    assert not merged.source.from_files


def test_a_benchmark_folder_is_merged_from_its_stored_graphs(
    aligned: Aligned, loaded: Loaded, tmp_path: Path
) -> None:
    files = {
        "rel_triples_1": "http://s.org/anna\tr\thttp://s.org/bert\n",
        "rel_triples_2": 'http://t.org/anne\tr\thttp://t.org/"b"\n',
        "attr_triples_1": 'http://s.org/anna\tname\t"A \\ B"@en\nhttp://s.org/anna\tx\t"1"@1-\n',
        "ent_links": "http://s.org/anna\thttp://t.org/anne\n",
    }
    run = aligned(files, None, [("http://s.org/anna", "http://t.org/anne")])
    merged = merge_run(run, tmp_path / "m.nt")
    store = loaded(tmp_path / "m.nt")
    assert asks(store, "s:anna <urn:largeea:source:r> s:bert ; <urn:largeea:target:r> <http://t.org/%22b%22>")
    assert asks(store, r's:anna <urn:largeea:source:name> "A \\ B"@en ; <urn:largeea:source:x> "1"')
    assert merged.source.without_tag == 1, "1- is not a language"


def test_malformed_statements_are_accounted_for(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    bad = '# comment\n<http://s.org/a> <http://p> "1" .\n<http://s.org/a> broken\n\n'
    bad += '<http://s.org/a> <http://p> "2"@not_a_language .\n'
    with pytest.warns(largeea.LargeEAWarning, match="left out"):
        run = aligned({"s.nt": bad}, {"t.nt": '<http://t.org/b> <http://p> "1" .\n'}, [])
    account = merge_run(run, tmp_path / "m.nt").source
    assert (account.read, account.malformed, account.written, account.without_tag) == (3, 1, 2, 1)
    assert asks(loaded(tmp_path / "m.nt"), 's:a <http://p> "1", "2" . t:b <http://p> "1"')


def test_named_graphs_tell_where_a_statement_comes_from(
    aligned: Aligned, loaded: Loaded, tmp_path: Path
) -> None:
    run = aligned({"s.ttl": SOURCE}, {"t.ttl": TARGET}, LINKS)
    bases = ("http://example.org/s#", "http://example.org/t#")
    merge_run(run, tmp_path / "m.nq", provenance="graphs", bases=bases)
    store = loaded(tmp_path / "m.nq")
    assert asks(store, "GRAPH <http://example.org/s> { s:anna s:lives s:ulm }")
    assert asks(store, "GRAPH <http://example.org/t> { s:anna t:wohnt s:ulm }")
    assert not asks(store, "s:anna ?p ?o"), "the default graph is empty"
    merge_run(run, tmp_path / "both.nq", provenance="graphs", keep_both=True)
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    assert asks(loaded(tmp_path / "both.nq"), f"GRAPH <urn:largeea:links> {{ s:ulm {same} t:u }}")


def test_prov_statements_describe_the_merge(aligned: Aligned, loaded: Loaded, tmp_path: Path) -> None:
    run = aligned({"s.ttl": SOURCE}, {"t.ttl": TARGET}, LINKS)
    merged = merge_run(run, tmp_path / "m.nt", provenance="prov")
    store = loaded(tmp_path / "m.nt")
    prov = "http://www.w3.org/ns/prov#"
    pattern = (
        f"?m a <{prov}Entity> ; <{prov}wasGeneratedBy> ?a ; <{prov}wasDerivedFrom> ?g ."
        f"?a a <{prov}Activity> ; <{prov}used> ?g ; <{prov}wasAssociatedWith> ?w ."
        '?g <http://www.w3.org/2000/01/rdf-schema#label> "s.ttl"'
    )
    assert asks(store, pattern)
    assert merged.written == merged.source.written + merged.target.written + merged.provenance_statements
    assert merge_run(run, tmp_path / "plain.nt").provenance_statements == 0


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_output_is_the_same_text_and_the_same_bytes_again(
    aligned: Aligned, tmp_path: Path, suffix: str
) -> None:
    run = aligned({"s.ttl": SOURCE}, {"t.ttl": TARGET}, LINKS)
    merge_run(run, tmp_path / "m.nt")
    merge_run(run, tmp_path / f"a.nt{suffix}")
    merge_run(run, tmp_path / f"b.nt{suffix}")
    with open_bytes(tmp_path / f"a.nt{suffix}") as stream:
        assert stream.read() == (tmp_path / "m.nt").read_bytes()
    assert (tmp_path / f"a.nt{suffix}").read_bytes() == (tmp_path / f"b.nt{suffix}").read_bytes()


def test_the_command_prints_the_account(
    aligned: Aligned, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = aligned({"s.ttl": SOURCE}, {"t.ttl": TARGET}, LINKS)
    output = str(tmp_path / "m.nt")
    assert command(["merge", str(run), "-o", output, "-q", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["written"], said["links"], said["source"]["read"]) == (12, 2, 5)
    assert command(["merge", str(run), "-o", output, "-q"]) == 0
    assert "12 statements written" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "links"),
    [("anatomy", []), ("restaurants", [(f"{OKKAM}restaurant1-Address0", f"{OKKAM}restaurant2-Address0")])],
)
def test_real_files_lose_nothing(
    aligned: Aligned,
    loaded: Loaded,
    tmp_path: Path,
    shared_data: Path,
    name: str,
    links: list[tuple[str, str]],
) -> None:
    """The merged graph is what pyoxigraph reads from both files, with the linked IRIs replaced."""
    places = [shared_data / "real_rdf" / name / f"{side}.rdf.gz" for side in ("source", "target")]
    run = aligned({"s.rdf.gz": places[0].read_bytes()}, {"t.rdf.gz": places[1].read_bytes()}, links)
    merged = merge_run(run, tmp_path / "m.nt.zst")
    used = largeea.read_links(run / "alignment.sssom.tsv")
    assert merged.links == len(used) > 0
    replaced = dict(zip(used.target.to_pylist(), used.source.to_pylist(), strict=True))

    def canonical(term: Any) -> Any:
        return ox.NamedNode(replaced.get(term.value, term.value)) if isinstance(term, ox.NamedNode) else term

    wanted = set()
    for place in places:
        with open_bytes(place) as stream:
            for quad in _named(ox.parse(stream.read(), ox.RdfFormat.RDF_XML)):
                wanted.add((canonical(quad.subject), quad.predicate, canonical(quad.object)))
    found = _named(loaded(tmp_path / "m.nt.zst"))
    assert {(quad.subject, quad.predicate, quad.object) for quad in found} == wanted


def _named(quads: Iterable[ox.Quad]) -> Iterator[ox.Quad]:
    """The statements without blank nodes, whose labels differ."""
    return (quad for quad in quads if not {type(quad.subject), type(quad.object)} & {ox.BlankNode})
