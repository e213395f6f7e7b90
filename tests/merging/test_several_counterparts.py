"""Merged graphs of runs in which entities have several counterparts, or duplicates in one graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest

import largeea
from largeea.errors import UsageError
from largeea.finished import FinishedRun
from largeea.merging import merge_run
from largeea.schema_mapping import schema_mapping

Aligned = Callable[..., Path]
Loaded = Callable[[Path], ox.Store]

MANY = """@prefix m: <http://m.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
m:ann1 rdfs:label "Ann" ; <http://p/born> "1961" ; m:in m:ulm .
m:ann2 rdfs:label "Ann" ; <http://p/born> "1962" ; m:in m:ulm .
m:ben rdfs:label "Ben" ; <http://p/born> "1970" ; m:knows m:ann2 .
m:ulm rdfs:label "Ulm" .
"""
ONE = """@prefix o: <http://o.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
o:ann rdfs:label "Ann" ; <http://p/born> "1961" ; o:wohnt o:ulm .
o:ben rdfs:label "Ben" ; <http://p/born> "1970" ; o:kennt o:ann .
o:ulm rdfs:label "Ulm" .
"""
PAIRS = [("ann1", "ann"), ("ann2", "ann"), ("ben", "ben"), ("ulm", "ulm")]
TO_ONE = [(f"http://m.org/{many}", f"http://o.org/{one}") for many, one in PAIRS]
TO_MANY = [(one, many) for many, one in TO_ONE]
KNOWN = "PREFIX m: <http://m.org/> PREFIX o: <http://o.org/> "
BORN = "http://p/born"


def asks(store: ox.Store, pattern: str) -> bool:
    return bool(store.query(f"{KNOWN} ASK {{ {pattern} }}"))


def conflicts(output: Path) -> list[list[str]]:
    rows = output.with_name(f"{output.stem}.conflicts.tsv").read_text().splitlines()[1:]
    return [row.split("\t") for row in rows]


@pytest.mark.parametrize("canonical", ["source", "target"])
@pytest.mark.parametrize("cardinality", ["n:1", "1:n", "n:m"])
def test_all_counterparts_get_one_iri(
    aligned: Aligned, loaded: Loaded, tmp_path: Path, cardinality: str, canonical: str
) -> None:
    many_first = cardinality != "1:n"
    sides = [{"m.ttl": MANY}, {"o.ttl": ONE}]
    run = aligned(
        *(sides if many_first else reversed(sides)),
        TO_ONE if many_first else TO_MANY,
        cardinality=cardinality,
    )
    output = tmp_path / "merged.nt"
    merged = merge_run(run, output, canonical=canonical)
    store = loaded(output)
    ann = "m:ann1" if many_first == (canonical == "source") else "o:ann"
    ulm, ben = ann[:2] + "ulm", ann[:2] + "ben"
    assert asks(store, f'{ann} <{BORN}> "1961", "1962" ; m:in {ulm} ; o:wohnt {ulm}')
    assert asks(store, f"{ben} m:knows {ann} ; o:kennt {ann}")
    assert len({quad.subject for quad in store}) == 3, "Ann, Ben and Ulm"
    assert (merged.links, merged.source.written + merged.target.written) == (4, 10 + 7)
    values = ["1962", "1961"] if many_first else ["1961", "1962"]
    entity = ann.replace("m:", "http://m.org/").replace("o:", "http://o.org/")
    assert conflicts(output) == [[entity, BORN, *values]]


def test_both_iris_are_kept_with_a_link_for_each_pair(
    aligned: Aligned, loaded: Loaded, tmp_path: Path
) -> None:
    run = aligned({"m.ttl": MANY}, {"o.ttl": ONE}, TO_ONE, cardinality="n:1")
    merged = merge_run(run, tmp_path / "m.nt", keep_both=True)
    same = "<http://www.w3.org/2002/07/owl#sameAs>"
    assert merged.link_statements == 4
    assert asks(
        loaded(tmp_path / "m.nt"), f"m:ann1 {same} o:ann . m:ann2 {same} o:ann . m:ben m:knows m:ann2"
    )


def test_relations_of_all_counterparts_count_in_the_mapping_of_the_schemas(
    aligned: Aligned, tmp_path: Path
) -> None:
    many, one = MANY + "m:ann1 m:likes m:ben .", ONE + "o:ann o:mag o:ben ."
    run = aligned({"m.ttl": many}, {"o.ttl": one}, TO_ONE, cardinality="n:1")
    found = {
        (one.source.removeprefix("http://m.org/"), one.target.removeprefix("http://o.org/")): one.support
        for one in schema_mapping(FinishedRun(run), threshold=0)
        if one.kind == "relation" and not one.inverse
    }
    assert found == {("in", "wohnt"): 1, ("knows", "kennt"): 1, ("likes", "mag"): 1}, "a fact counts once"


@pytest.fixture
def duplicates(tmp_path: Path) -> Path:
    """A run that has found that the two of Ann are the same."""
    (tmp_path / "many.ttl").write_text(MANY)
    (tmp_path / "known.tsv").write_text("http://m.org/ann2\thttp://m.org/ann1\n")
    settings = {"decision": {"threshold": 1.0, "doubtful": 1.0}}
    place = tmp_path / "run"
    largeea.dedupe_files(tmp_path / "many.ttl", place, seeds=tmp_path / "known.tsv", config=settings)
    return place


def test_a_graph_is_written_once_without_its_duplicates(
    duplicates: Path, loaded: Loaded, tmp_path: Path
) -> None:
    output = tmp_path / "merged.nq"
    merged = merge_run(duplicates, output, provenance="graphs")
    assert (merged.links, merged.written, merged.target.written) == (1, 10, 0)
    store = loaded(output)
    assert {quad.graph_name.value for quad in store} == {"urn:largeea:source"}
    assert {quad.subject.value.rpartition("/")[2] for quad in store} == {"ann1", "ben", "ulm"}
    assert asks(store, "GRAPH ?g { m:ben m:knows m:ann1 }")
    assert conflicts(output) == [["http://m.org/ann1", BORN, "1961", "1962"]]


def test_or_with_links_between_them(duplicates: Path, loaded: Loaded, tmp_path: Path) -> None:
    merged = merge_run(duplicates, tmp_path / "m.nt", keep_both=True, provenance="prov")
    store = loaded(tmp_path / "m.nt")
    assert asks(store, "m:ann1 <http://www.w3.org/2002/07/owl#sameAs> m:ann2 ; m:in ?t . m:ann2 m:in ?t")
    assert merged.link_statements == 1
    derived = store.quads_for_pattern(None, ox.NamedNode("http://www.w3.org/ns/prov#wasDerivedFrom"), None)
    assert Counter(quad.object.value for quad in derived) == {"urn:largeea:source": 1}


def test_one_graph_has_one_schema(duplicates: Path) -> None:
    with pytest.raises(UsageError, match="searched duplicates in one graph"):
        schema_mapping(FinishedRun(duplicates))
