"""The parts of the builder on answers known by hand."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from largeea.datasets.dbp1m.distil import dump_format
from largeea.datasets.dbp1m.resources import Languages, canonical, listed
from largeea.datasets.dbp1m.select import Sizes, choose, induced, linked_neighbours, one_to_one
from largeea.datasets.dbp1m.sides import SideGraph, follow_redirects
from largeea.graph import KnowledgeGraph, strings


def graph(size: int, *triples: tuple[int, int, int]) -> KnowledgeGraph:
    names = pa.nulls(size, pa.large_string())
    rows = np.array(triples, np.int32).reshape(-1, 3)
    return KnowledgeGraph(strings([f"urn:{i:03d}" for i in range(size)]), names, strings(["r", "s"]), rows)


@pytest.mark.parametrize(
    ("iri", "language"),
    [
        ("http://dbpedia.org/resource/Berlin", "en"),
        ("http://en.dbpedia.org/resource/Berlin", "en"),
        ("https://fr.dbpedia.org/resource/AC/DC", "fr"),
        ("http://zh-min-nan.dbpedia.org/resource/A", "zh-min-nan"),
        ("http://dbpedia.org/resource/", None),
        ("http://dbpedia.org/ontology/Place", None),
        ("http://fr.dbpedia.org/property/nom", None),
        ("http://www.wikidata.org/entity/Q64", None),
        ("http://x.y.dbpedia.org/resource/A", None),
        ("http://notdbpedia.org/resource/A", None),
        ("urn:dbpedia.org/resource/A", None),
        ("http:/", None),
        ("_:b0", None),
    ],
)
def test_the_language_of_an_iri(iri, language):
    found = Languages(strings(["http://de.dbpedia.org/resource/X", iri]))
    assert found.counts(np.array([1], np.int32)) == ({language: 1} if language else {})
    assert found.are("de").tolist() == [True, False]
    assert found.are("xx").tolist() == [False, False]
    if language:
        assert found.are(language).tolist() == [False, True]
        assert found.pairs(np.array([0, 0]), np.array([1, 1])) == {f"de-{language}": 2}


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("http://dbpedia.org/resource/Caf%C3%A9", "http://dbpedia.org/resource/Café"),
        ("http://dbpedia.org/resource/Caf%c3%a9", "http://dbpedia.org/resource/Café"),
        ("http://en.dbpedia.org/resource/Café", "http://dbpedia.org/resource/Café"),
        ("https://fr.dbpedia.org/resource/A", "http://fr.dbpedia.org/resource/A"),
        ("http://dbpedia.org/resource/Player_%28band%29", "http://dbpedia.org/resource/Player_(band)"),
        ("http://dbpedia.org/resource/AC%2fDC", "http://dbpedia.org/resource/AC%2FDC"),
        ("http://dbpedia.org/resource/Who%3F", "http://dbpedia.org/resource/Who%3F"),
        ("http://dbpedia.org/resource/100%25", "http://dbpedia.org/resource/100%25"),
        ("http://dbpedia.org/resource/Two%20words", "http://dbpedia.org/resource/Two%20words"),
        ("http://dbpedia.org/resource/Latin1_%e9t%e9", "http://dbpedia.org/resource/Latin1_%E9t%E9"),
        ("http://dbpedia.org/resource/100%", "http://dbpedia.org/resource/100%"),
        ("http://dbpedia.org/resource/Plain", "http://dbpedia.org/resource/Plain"),
    ],
)
def test_spellings(written, meant):
    assert canonical(strings(["http://other", written])).to_pylist() == ["http://other", meant]
    assert canonical(strings([meant])).to_pylist() == [meant]


def test_languages_are_listed_by_frequency():
    assert listed({"fr": 2, "en": 1000, "de": 2}) == "en (1,000), de (2), fr (2)"
    assert listed({}) == "none"
    assert listed({f"l{i}": 1 for i in range(20)}).endswith(", ...")


def test_redirects_are_followed_to_the_end():
    texts = strings(list("abcdefghij"))
    #  a -> b -> c;  d -> e and d -> c: the first by IRI is c;  f -> g -> h -> f;  i -> f;  j -> j
    ways = np.array([[0, 1], [1, 2], [3, 4], [3, 2], [5, 6], [6, 7], [7, 5], [8, 5], [9, 9]], np.int32)
    moved, loops = follow_redirects(ways, texts)
    assert moved.tolist() == [2, 2, 2, 2, 4, 5, 6, 7, 8, 9]
    assert loops == 4
    again, _ = follow_redirects(ways[::-1], texts)
    assert again.tolist() == moved.tolist()


def test_a_long_chain_and_a_loop_of_two():
    count = 1000
    chain = np.column_stack([np.arange(count - 1), np.arange(1, count)])
    ways = np.concatenate([chain, [[count, count + 1], [count + 1, count]]]).astype(np.int32)
    moved, loops = follow_redirects(ways, strings([f"{i:05d}" for i in range(count + 2)]))
    assert set(moved[:count].tolist()) == {count - 1}
    assert (moved[count:].tolist(), loops) == ([count, count + 1], 2)


def test_no_redirects():
    moved, loops = follow_redirects(np.empty((0, 2), np.int32), strings(["a", "b"]))
    assert (moved.tolist(), loops) == ([0, 1], 0)


def test_one_to_one():
    pairs = np.array([[0, 0], [1, 1], [1, 2], [2, 3], [3, 3], [4, 4], [4, 5], [5, 5]], np.int32)
    strength = np.array([1, 2, 1, 1, 1, 2, 2, 1])
    #  0-0 has no rival; 1-1 is stronger than 1-2; 2-3 and 3-3 are alike; 4-4, 4-5 too; 5-5 is weaker than 4-5
    assert one_to_one(pairs, strength).tolist() == [[0, 0], [1, 1]]
    assert one_to_one(pairs[:0], strength[:0]).tolist() == []


def test_linked_neighbours_are_distinct_and_others():
    made = graph(4, (0, 0, 1), (0, 1, 1), (1, 0, 0), (0, 0, 2), (3, 0, 3), (3, 0, 1))
    linked = np.array([False, True, False, True])
    assert linked_neighbours(made, linked).tolist() == [1, 1, 0, 1]


def test_an_induced_graph_keeps_order_and_drops_unused_relations():
    made = graph(4, (0, 0, 1), (1, 1, 3), (2, 1, 3))
    part = induced(made, np.array([False, True, True, True]))
    assert part.entities.to_pylist() == ["urn:001", "urn:002", "urn:003"]
    assert part.relations.to_pylist() == ["s"]
    assert part.triples.tolist() == [[0, 0, 2], [1, 0, 2]]


def star(leaves: int, extra: int = 0) -> KnowledgeGraph:
    """A hub (the last entity) joined to `leaves` others; the first `extra` of them to the next one too."""
    rows = [(leaf, 0, leaves) for leaf in range(leaves)]
    return graph(leaves + 1, *rows, *((leaf, 1, leaf + 1) for leaf in range(extra)))


def side(made: KnowledgeGraph, ends: list[int]) -> SideGraph:
    return SideGraph(made, np.array(ends, np.int32), 0, 0, 0)


@pytest.mark.parametrize(("linked", "found"), [(4, False), (5, True), (6, True)])
def test_unknown_entities_have_five_linked_neighbours(linked, found):
    ends = list(range(linked))
    chosen = choose(side(star(8), ends), side(star(8), ends), np.ones(linked, bool), Sizes())
    assert chosen.kept_source.tolist() == [i < linked for i in range(8)] + [found]


def test_an_entity_with_a_link_that_was_left_out_is_not_unknown():
    """Its counterpart may well be there: to call it unknown would be wrong."""
    ends = [0, 1, 2, 3, 4, 8, 8]
    others = [0, 1, 2, 3, 4, 6, 7]
    chosen = choose(side(star(8), ends), side(star(8), others), np.ones(7, bool), Sizes())
    assert (chosen.stated, chosen.conflicting) == (7, 2)
    assert not chosen.kept_source[8]
    assert chosen.kept_target[8]
    nowhere = choose(
        side(star(8), [*ends[:5], 8]), side(star(8), [*others[:5], -1]), np.ones(6, bool), Sizes()
    )
    assert not nowhere.kept_source[8], "its counterpart is in no triple, but it has one"


def test_sizes_take_the_best_connected_links_then_unknown_entities():
    made = star(8, extra=3)  # 0 to 3 have more triples than 4 to 7
    ends = list(range(7))
    limited = choose(side(made, ends), side(made, ends), np.ones(7, bool), Sizes(links=5))
    assert limited.links.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3], [4, 4]]
    assert limited.kept_source.sum() == 6
    full = choose(side(made, ends), side(made, ends), np.ones(7, bool), Sizes(links=5, source=5))
    assert (full.kept_source.sum(), full.kept_target.sum()) == (5, 6)
    small = choose(side(made, ends), side(made, ends), np.ones(7, bool), Sizes(target=2))
    assert small.links.tolist() == [[1, 1], [2, 2]]
    assert (small.kept_source.sum(), small.kept_target.sum()) == (2, 2)


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a.ttl", "# started\n<http://a> <http://b> <http://c> .\n", "n-triples"),
        (
            "a.ttl",
            '<http://a> <http://b> "x"@en . # so\nbroken\n<http://a> <http://b> <http://c> .',
            "n-triples",
        ),
        ("a.ttl", "@prefix x: <http://x/> .\nx:a x:b x:c .\n", "turtle"),
        ("a.ttl", "<http://a>\n  <http://b> <http://c> ;\n  <http://d> <http://e> .\n", "turtle"),
        ("a.nt", "whatever\n", "n-triples"),
        ("a.tql", "# x\n<http://a> <http://b> <http://c> <http://g> .\n", "n-triples"),
    ],
)
def test_the_syntax_of_a_dump(tmp_path, name, text, format):
    (tmp_path / name).write_text(text)
    assert dump_format(tmp_path / name) == format
