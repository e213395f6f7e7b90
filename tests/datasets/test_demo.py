from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from collections import Counter

import numpy as np
import pytest
from babel.localedata import locale_identifiers

from largeea.datasets.cldr import cldr_world
from largeea.datasets.demo import ENTITIES_DROPPED, FACTS_DROPPED, demo_pair
from largeea.errors import UsageError
from largeea.formats.vocabularies import LABEL
from largeea.graph import KnowledgeGraph, Pair


def names_of(graph: KnowledgeGraph) -> list[str | None]:
    return graph.names.to_pylist()


def linked_names(pair: Pair) -> list[tuple[str | None, str | None]]:
    source, target = names_of(pair.source), names_of(pair.target)
    return [(source[i], target[j]) for i, j in pair.links.pairs.tolist()]


def folded(name: str | None) -> str:
    decomposed = unicodedata.normalize("NFKD", (name or "").casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def share_of_equal_names(pair: Pair) -> float:
    return float(np.mean([bool(a and b) and folded(a) == folded(b) for a, b in linked_names(pair)]))


def bytes_of(pair: Pair) -> bytes:
    columns: list[bytes] = [pair.links.pairs.tobytes()]
    for graph in (pair.source, pair.target):
        columns += [graph.triples.tobytes(), graph.attributes.rows.tobytes()]
        for text in (graph.entities, graph.names, graph.relations, graph.attributes.values):
            columns.append(repr(text.to_pylist()).encode())
    return b"".join(columns)


def named_triples(graph: KnowledgeGraph) -> Counter[tuple[str, str, str]]:
    """Triples in words, between entities whose name nobody else in the graph has."""
    names, uses = names_of(graph), Counter(names_of(graph))
    relations = [relation.rsplit(":", 1)[1] for relation in graph.relations.to_pylist()]
    return Counter(
        (str(names[head]), relations[relation], str(names[tail]))
        for head, relation, tail in graph.triples.tolist()
        if names[head] and names[tail] and uses[names[head]] == uses[names[tail]] == 1
    )


@pytest.fixture(scope="module")
def english_french() -> Pair:
    return demo_pair()


@pytest.fixture(scope="module")
def twins() -> Pair:
    """The same language on both sides: there, names tell what belongs together."""
    return demo_pair(("en", "en"))


@pytest.mark.parametrize("languages", [("en", "fr"), ("en", "en"), ("zh_Hant", "sr-Latn"), ("aa", "ff")])
def test_both_graphs_are_canonical(languages: tuple[str, str]) -> None:
    pair = demo_pair(languages)
    for side, graph in enumerate((pair.source, pair.target), start=1):
        for column in (graph.entities.to_pylist(), graph.relations.to_pylist()):
            assert column == sorted(set(column))
        triples = [tuple(triple) for triple in graph.triples.tolist()]
        assert triples == sorted(set(triples))
        assert set(graph.triples[:, 1]) == set(range(len(graph.relations)))
        assert set(graph.triples[:, [0, 2]].ravel()) <= set(range(graph.size))
        assert all(iri.startswith(f"urn:demo:{side}:") for iri in graph.entities.to_pylist())
        counts = graph.counts
        assert counts.statements == counts.triples + counts.literals
        assert (counts.triples, counts.literals) == (len(graph.triples), len(graph.attributes))
    links = pair.links.pairs.tolist()
    assert links == sorted(links)
    assert all(len(set(column)) == len(links) for column in zip(*links, strict=True))


def test_names_are_also_there_as_labels_in_the_language() -> None:
    graph = demo_pair(("en", "zh-Hant")).target
    attributes = graph.attributes
    assert attributes.predicates.to_pylist() == [LABEL]
    assert attributes.tags.to_pylist() == ["@zh-hant"]
    values = attributes.values.to_pylist()
    labels = {entity: values[value] for entity, _, value, _ in attributes.rows.tolist()}
    assert labels == {entity: name for entity, name in enumerate(names_of(graph)) if name is not None}
    assert len(labels) == len(attributes)


@pytest.mark.parametrize(
    ("head", "relation", "tail"),
    [
        (("territory", "FR"), "uses-currency", ("currency", "EUR")),
        (("territory", "FR"), "used-currency", ("currency", "FRF")),
        (("territory", "JP"), "official-language", ("language", "ja")),
        (("territory", "SU"), "succeeded-by", ("territory", "UA")),
        (("territory", "AT"), "follows-usage-of", ("territory", "150")),
        (("territory", "UZ"), "usual-script", ("script", "Latn")),
        (("language", "uz"), "written-in", ("script", "Cyrl")),
        (("language", "de_AT"), "variety-of-language", ("language", "de")),
        (("language", "de_AT"), "variety-of-territory", ("territory", "AT")),
        (("language", "ka"), "main-territory", ("territory", "GE")),
        (("script", "Hira"), "typical-language", ("language", "ja")),
        (("city", "Asia/Kolkata"), "located-in", ("territory", "IN")),
        (("city", "Asia/Kolkata"), "keeps-time", ("time", "India")),
        (("city", "Africa/Cairo"), "filed-under", ("territory", "002")),
    ],
)
def test_knows_facts_of_every_kind(head: tuple[str, str], relation: str, tail: tuple[str, str]) -> None:
    world = cldr_world()
    row = [world.things.index(head), world.relations.index(relation), world.things.index(tail)]
    assert row in world.facts.tolist()


def test_links_join_an_entity_with_its_translation(english_french: Pair) -> None:
    expected = {
        "Germany": "Allemagne",
        "Iceland": "Islande",
        "Swiss Franc": "franc suisse",
        "British Pound": "livre sterling",
        "Cyrillic": "cyrillique",
        "Japanese": "japonais",
        "Swiss German": "suisse allemand",
        "London": "Londres",
        "Hong Kong": "Hong Kong",
        "Knox, Indiana": "Knox [Indiana]",
        "Kathmandu": "Katmandou",
        "Central European Time": "heure d’Europe centrale",
    }
    translated = dict(linked_names(english_french))
    found = expected.keys() & translated.keys()
    assert len(found) >= len(expected) // 2
    assert {name: translated[name] for name in found} == {name: expected[name] for name in found}


def test_links_are_right_and_complete(twins: Pair) -> None:
    assert all(source == target for source, target in linked_names(twins))
    uses = [Counter(names_of(graph)) for graph in (twins.source, twins.target)]
    certain = {name for name in uses[0] if name and uses[0][name] == uses[1][name] == 1}
    linked = {source for source, _ in linked_names(twins)}
    # A name may be left over on either side of two different things: Guernsey the island and the city.
    assert len(certain - linked) < 0.01 * len(certain)


def test_each_side_lacks_its_own_entities_and_facts(twins: Pair) -> None:
    entities = len(cldr_world().things)
    for graph in (twins.source, twins.target):
        assert graph.size / entities == pytest.approx(1 - ENTITIES_DROPPED, abs=0.02)
        assert len(twins.links) / graph.size == pytest.approx(1 - ENTITIES_DROPPED, abs=0.02)
    source, target = named_triples(twins.source), named_triples(twins.target)
    both = {name for name, _ in linked_names(twins)}
    comparable = [fact for fact in source if fact[0] in both and fact[2] in both]
    assert np.mean([fact in target for fact in comparable]) == pytest.approx(1 - FACTS_DROPPED, abs=0.04)


def test_ids_say_nothing(english_french: Pair) -> None:
    source, target = english_french.links.source, english_french.links.target
    assert abs(np.corrcoef(source, target)[0, 1]) < 0.1
    numbers = [
        graph.entities.take(ends).to_pylist()
        for graph, ends in ((english_french.source, source), (english_french.target, target))
    ]
    same = [a.rsplit(":", 1)[1] == b.rsplit(":", 1)[1] for a, b in zip(*numbers, strict=True)]
    assert np.mean(same) < 0.01


def test_names_help_but_do_not_solve_it(english_french: Pair) -> None:
    assert 0.2 < share_of_equal_names(english_french) < 0.6
    assert share_of_equal_names(demo_pair(("en", "zh"))) < 0.05
    assert 1300 < english_french.source.size < 2200
    assert len(english_french.source.triples) > 3000


def test_a_language_that_lacks_names_leaves_entities_unnamed() -> None:
    afar, english = demo_pair(("aa", "en")).source, demo_pair(("en", "en")).source
    assert afar.named.mean() < 0.5 < 0.9 < english.named.mean()
    assert "Germany" in names_of(english)
    assert "Germany" not in names_of(afar)
    assert not {"DE", "de", "EUR", "Latn"} & set(names_of(afar))
    assert afar.size > 0.8 * english.size


def test_a_city_that_cldr_does_not_list_is_called_like_the_end_of_its_zone(twins: Pair) -> None:
    names = set(names_of(twins.source)) | set(names_of(twins.target))
    assert {"Salta", "Rio Gallegos", "New York", "Kolkata"} <= names


@pytest.mark.parametrize("language", sorted(locale_identifiers())[::40])
def test_any_locale_works_and_no_entity_is_without_statement(language: str) -> None:
    pair = demo_pair((language, "en"), seed=3)
    for graph in (pair.source, pair.target):
        assert (graph.named | (graph.degrees() > 0)).all()
    assert len(pair.links) > 1000


def test_the_seed_decides_everything(english_french: Pair) -> None:
    assert bytes_of(demo_pair(seed=0)) == bytes_of(english_french)
    assert bytes_of(demo_pair(seed=1)) != bytes_of(english_french)


def test_another_process_makes_the_same_bytes(english_french: Pair) -> None:
    script = (
        "import sys; from largeea.datasets.demo import demo_pair; pair = demo_pair();"
        "text = repr([(g.entities.to_pylist(), g.names.to_pylist(), g.triples.tolist())"
        " for g in (pair.source, pair.target)] + pair.links.pairs.tolist());"
        "sys.stdout.buffer.write(text.encode())"
    )
    graphs = (english_french.source, english_french.target)
    expected = [(g.entities.to_pylist(), names_of(g), g.triples.tolist()) for g in graphs]
    environment = os.environ | {"PYTHONHASHSEED": "4711", "PYTHONPATH": os.pathsep.join(sys.path)}
    made = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, check=True)
    assert made.stdout.decode() == repr(expected + english_french.links.pairs.tolist())


@pytest.mark.parametrize(
    ("written", "advice"),
    [("french", "fr"), ("en_GBR", "en_GB"), ("xx", "pt_BR"), ("", "ja"), ("_", "fr"), ("中文", "zh")],
)
def test_an_unknown_language_is_refused_with_advice(written: str, advice: str) -> None:
    with pytest.raises(UsageError) as refusal:
        demo_pair(("en", written))
    message = str(refusal.value)
    assert repr(written) in message
    assert advice in message.split("for instance")[1].replace(",", "").split()
