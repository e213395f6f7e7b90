"""Real data is read, and its counts are those of its README."""

from __future__ import annotations

import bz2
from pathlib import Path

import pyoxigraph as ox
import pytest

from largeea.formats import ReadOptions, read, read_graph
from largeea.formats.tables import Columns
from largeea.graph import Pair
from largeea.runs.accounting import account_of

PAIRS = {
    "ids15k_en_de_v1": ((15_000, 15_000), (47_676, 50_419), 10_500),
    "dbp15k_fr_en": ((19_661, 19_993), (105_998, 115_722), 15_000),
    "dbp15k_zh_en": ((19_388, 19_572), (70_414, 95_142), 15_000),
    "srprs_en_de": ((15_000, 15_000), (38_363, 37_377), 4_500 + 10_500),
    "d_w_15k_v1": ((15_000, 15_000), (38_265, 42_746), 15_000),
}
RDF = ("dbpedia.owl", "geonamesjp_links.nt", "linkedgeodata_links.nt.bz2")


def pair_of(folder: Path) -> Pair:
    pair = read(folder)
    assert isinstance(pair, Pair)
    return pair


@pytest.mark.parametrize("name", PAIRS)
def test_benchmark_folders(shared_data, name):
    entities, triples, links = PAIRS[name]
    pair = pair_of(shared_data / name)
    assert (pair.source.size, pair.target.size) == entities
    assert (pair.source.counts.statements, pair.target.counts.statements) == triples
    assert len(pair.links) == links
    for graph in (pair.source, pair.target):
        assert account_of(graph)["rejected"] == 0


def test_entities_without_a_name_have_none(shared_data):
    """4,500 entities of each side are known by an opaque number only, all others by their DBpedia title."""
    pair = pair_of(shared_data / "ids15k_en_de_v1")
    for graph in (pair.source, pair.target):
        nameless = graph.entities.filter(~graph.named)
        assert len(nameless) == 4_500
        assert all(iri.as_py().startswith("urn:entity:") for iri in nameless)


def test_wikidata_items_are_codes(shared_data):
    pair = pair_of(shared_data / "d_w_15k_v1")
    assert pair.source.named.mean() > 0.99
    assert not pair.target.named.any()


def test_official_splits(shared_data):
    folds = pair_of(shared_data / "d_w_15k_v1").folds
    assert list(folds) == ["1", "2", "3", "4", "5"]
    assert {(len(train), len(test)) for train, test in folds.values()} == {(3_000, 10_500)}
    train, test = pair_of(shared_data / "srprs_en_de").folds["1"]
    assert (len(train), len(test)) == (4_500, 10_500)


@pytest.mark.parametrize(("year", "entities"), [("2021", 2_320_000), ("2024", 2_610_000)])
def test_a_taxonomy_of_millions(shared_data, year, entities):
    path = shared_data / "ncbi_taxonomy" / f"{year}.tsv.xz"
    graph = read_graph(path, ReadOptions(columns=Columns.parse("subject=1,object=2,name=4")))
    assert round(graph.size, -4) == entities
    assert len(graph.triples) == graph.size
    assert graph.named.all()
    assert account_of(graph)["rejected"] == 0


@pytest.mark.parametrize("name", RDF)
def test_rdf_files_as_pyoxigraph_reads_them(shared_data, name):
    path = shared_data / "rdf_samples" / name
    content = bz2.decompress(path.read_bytes()) if path.suffix == ".bz2" else path.read_bytes()
    format = ox.RdfFormat.RDF_XML if path.suffix == ".owl" else ox.RdfFormat.N_TRIPLES
    nodes, triples, literals = set(), 0, 0
    for triple in {quad.triple for quad in ox.parse(content, format=format)}:
        is_literal = isinstance(triple.object, ox.Literal)
        nodes.update([triple.subject] if is_literal else [triple.subject, triple.object])
        triples, literals = triples + (not is_literal), literals + is_literal
    graph = read_graph(path)
    account_of(graph)
    assert (graph.size, len(graph.triples), len(graph.attributes)) == (len(nodes), triples, literals)
