"""Names in other scripts, translated by a glossary, by CLDR and by the dictionaries that are installed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from largeea.config import NamesConfig, as_config
from largeea.datasets.demo import demo_pair
from largeea.errors import InputError, LargeEAWarning
from largeea.experiments.bench import bench
from largeea.graph import KnowledgeGraph, Links, strings
from largeea.graph.same_iri import matched_kinds
from largeea.names import choice
from largeea.names.channel import name_rows
from largeea.names.choice import chosen_for, foreign_scripts
from largeea.names.rows import Names
from largeea.names.translation import lexicon_fingerprint, readings, selection, translate_names
from largeea.names.translation.dictionaries import CC_CEDICT, CLDR, GEONAMES, JMDICT, JMNEDICT
from largeea.names.translation.glossary import both_directions, read_glossary
from largeea.names.translation.glosses import name_readings, translations_in
from largeea.names.translation.numbers import with_plain_numbers
from largeea.names.translation.person_names import equal_name_parts
from largeea.names.translation.segmentation import Term, Terms
from largeea.names.translation.selection import Candidates
from largeea.names.translation.terms import adjacent_characters, folded, occurring
from largeea.planning.sizes import Sizes
from largeea.planning.stages import stage_rows


def graph(*names: str | None) -> KnowledgeGraph:
    ids = strings([f"urn:{number}" for number in range(len(names))])
    return KnowledgeGraph(ids, strings(names), strings(), np.empty((0, 3)))


def rows(source: KnowledgeGraph, target: KnowledgeGraph) -> dict:
    return name_rows(source, target, matched_kinds(source, target, Links.none()), 8, ())


@pytest.fixture
def only_cldr(monkeypatch: pytest.MonkeyPatch) -> None:
    """As without the extras."""
    monkeypatch.setattr(selection, "CHINESE", {CLDR: True})
    monkeypatch.setattr(selection, "JAPANESE", {CLDR: True})
    monkeypatch.setattr(selection, "person_names_release", lambda: "")


# Entries of dictionaries


@pytest.mark.parametrize(
    ("entry", "translations"),
    [
        ("park (for public recreation)/CL:個|个[ge4]", ["park"]),
        ("Beijing, capital of the People's Republic of China", ["Beijing"]),
        ("surname Li/plum", ["Li", "plum"]),
        ("Dingxi prefecture-level city in Gansu", ["Dingxi", "Dingxi prefecture-level city"]),
        ("Stephen or Steven (name)", ["Stephen", "Steven"]),
        ("to teach; the teaching", ["teach", "teaching"]),
        ("old variant of 書[shu1]/see 書", []),
        ("one of the many long explanations that nobody is called by", []),
    ],
)
def test_an_entry_is_reduced_to_what_a_thing_is_called(entry: str, translations: list[str]) -> None:
    assert translations_in(entry) == translations


def test_names_are_read_with_and_without_long_vowels() -> None:
    assert name_readings("Yuuki (Yūki)") == ["Yuuki", "Yuki"]
    assert name_readings("Oosaka") == ["Oosaka", "Osaka"]


def test_only_terms_that_may_occur_are_kept() -> None:
    adjacent = adjacent_characters(folded(["東京タワー", "コスタ・リカ"]))
    entries = iter([("東京", "Tokyo"), ("京都", "Kyoto"), ("コスタ・リカ", "Costa Rica"), ("京タ", "")])
    assert list(occurring(entries, adjacent, lambda text: [text])) == [
        (folded(["東京"])[0], "tokyo"),
        ("コスタ リカ", "costa rica"),
    ]


# Names cut into terms


@pytest.mark.parametrize(
    ("name", "translation"),
    [
        ("北京大学", "beijing university"),
        ("北京 大学", "beijing university"),
        ("新北京", "新 beijing"),
        ("山口市", "yamaguchi city"),
        ("市山口", "市 yamaguchi"),
        ("李壮飞", "li 壮飞"),
        ("维克 多斯 大学", "维克 多斯 university"),
        ("大学生", "student"),
        ("北京八世 大学", "beijing viii university"),
        ("1998年大学", "1998 university"),
        ("ポッターと北京 大学", "ポッターと beijing university"),
        ("life 大学", "life university"),
        ("санкт петербург вокзал", "saint petersburg вокзал"),
        ("другое", "другое"),
    ],
)
def test_the_fewest_terms_that_leave_least_over(name: str, translation: str) -> None:
    words = {
        "北京": "beijing", "大学": "university", "大学生": "student", "生": "life", "山口": "yamaguchi",
        "市": "city", "多": "many", "санкт петербург": "saint petersburg",
    }  # fmt: skip
    terms = Terms({term: Term(text, 1.0) for term, text in words.items()}, {"市"}, {"李": "li"})
    assert terms.translate(name) == translation


@pytest.mark.parametrize(
    ("number", "roman"),
    [("8", "viii"), ("12", "xii"), ("十", "x"), ("十四", "xiv"), ("二十三", "xxiii"), ("一", "i")],
)
def test_rulers_have_roman_numbers(number: str, roman: str) -> None:
    assert with_plain_numbers(f"王{number}世").split() == ["王", roman]
    assert with_plain_numbers(f"{number}世纪") == f"{number}世纪"


def test_the_translation_that_the_other_graph_has_is_chosen() -> None:
    candidates = Candidates()
    candidates.add([("区", "area"), ("区", "district"), ("洪亮", "resonant")], trusted=True)
    candidates.add([("区", "ward"), ("松井", "matsui"), ("王明", "oumei")], trusted=False)
    assert candidates.best({"area": 2, "district": 10, "matsui": 1}) == {
        "区": Term("district", 1.0),
        "洪亮": Term("resonant", selection.UNKNOWN),
        "松井": Term("matsui", 1.0),
    }


# Glossaries


def test_a_glossary_translates_in_both_directions_and_in_any_script(tmp_path: Path) -> None:
    glossary = tmp_path / "terms.tsv"
    glossary.write_text("# Stations\nBahnhof\tstation\n\nвокзал\tstation\n中央\tcentral\n", "utf-8")
    german, english = graph("Bahnhof Altona", "Köln"), graph("Altona station", "Cologne", None)
    read = Names.from_columns(translate_names(rows(german, english), False, str(glossary), ""))
    assert read.source.latin.to_pylist() == ["station altona", "koln", "bahnhof altona"]
    assert read.source.written.tolist() == [0, 1, 0]
    assert read.target.latin.to_pylist() == ["altona station", "cologne", None]
    chinese = graph("中央 (K)", None)
    read = Names.from_columns(translate_names(rows(english, chinese), False, str(glossary), ""))
    assert read.source.latin.to_pylist() == ["altona station", "cologne", None]
    assert read.target.latin.to_pylist() == ["central k", None, "zhongyang k"]
    assert read.target.bracketed.tolist() == [0, 2]
    assert read.target.bare.to_pylist() == ["central", "zhongyang"]
    back = Names.from_columns(translate_names(rows(english, german), False, str(glossary), ""))
    assert back.source.latin.to_pylist() == ["altona bahnhof", "cologne", None, "altona station"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("a\tb\nc\n", r"terms.tsv:2: has 1 columns: a line needs a term, a tab and its translation"),
        ("# only a remark\n\n", r"terms.tsv: has no terms"),
        ("a\n", r"terms.tsv:1: has 1 columns: a line needs a term, a tab and its translation"),
        ("a\tb\tc\n", r"terms.tsv:1: has 3 columns"),
        ("# x\na\t \n", r"terms.tsv:2: has an empty column"),
        ("a\t\udcff\n", r"terms.tsv:1: is not UTF-8"),
    ],
)
def test_bad_lines_of_a_glossary_are_named(content: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=problem):
        read_glossary(tmp_path / "terms.tsv")


def test_terms_without_letters_are_told(tmp_path: Path) -> None:
    (tmp_path / "terms.tsv").write_text("&\tand\nFluß\tRiver\n", "utf-8")
    with pytest.warns(LargeEAWarning, match=r"1 of 2 pairs have a term without letters and digits"):
        assert both_directions(tmp_path / "terms.tsv") == [("river", "fluß"), ("fluß", "river")]


def test_a_missing_glossary_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"terms.tsv: there is no such file; names.lexicon has to be"):
        lexicon_fingerprint(False, str(tmp_path / "terms.tsv"))


# Scripts that differ


def accuracy(languages: tuple[str, str], **names: object) -> float:
    config = as_config({"names": {"encoder": "ngram"} | names, "without": ["evidence"]})
    figures, _ = bench(demo_pair(languages), "demo", "default", config, train=0.0)
    return float(figures["protocols"]["open"]["hits@1"])


@pytest.mark.usefixtures("only_cldr")
@pytest.mark.filterwarnings("ignore::largeea.errors.LargeEAWarning")
@pytest.mark.parametrize(
    ("languages", "after"),
    [(("ja", "ar"), 0.7), (("zh", "ru"), 0.65), (("ko", "el"), 0.6)],
)
def test_names_in_two_other_scripts_meet_in_english(languages: tuple[str, str], after: float) -> None:
    """CLDR has these very names, so this shows that translation works, not how good it is elsewhere."""
    translated = accuracy(languages)
    assert translated > after
    assert translated > accuracy(languages, dictionaries=False) + 0.15


def test_what_suits_the_scripts_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = list[str]()
    monkeypatch.setattr(choice, "note", notes.append)
    monkeypatch.setattr(choice, "missing_extras", lambda scripts: ["cjk"])
    monkeypatch.setattr(choice, "find_spec", lambda module: None)
    scripts = foreign_scripts(graph("北京", "上海", "Rome", "東京"), graph("Beijing", "Shanghai", "Rome"))
    assert scripts == {"Han": 0.75}
    assert chosen_for(scripts, NamesConfig()).encoder == "ngram"
    (told,) = notes
    assert "75% in Han" in told
    assert "pip install 'largeea[cjk,multilingual]'" in told
    monkeypatch.setattr(choice, "missing_extras", lambda scripts: [])
    monkeypatch.setattr(choice, "find_spec", lambda module: "there")
    chosen = chosen_for(scripts, NamesConfig())
    assert (chosen.encoder, chosen.ngram_weight) == ("use-multilingual", chosen.translation_weight)
    assert chosen_for(scripts, NamesConfig(encoder="bert:x")).encoder == "bert:x"
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("scripts", "encoder"),
    [
        ({"Greek": 0.9}, "ngram"),
        ({"Greek": 0.9, "Kana": 0.6, "Han": 0.3}, "ngram"),
        ({"Greek": 0.1, "Han": 0.8}, "use-multilingual"),
        ({"Arabic": 0.9, "Hangul": 0.9}, "use-multilingual"),
        ({}, "ngram"),
    ],
)
def test_an_encoder_is_chosen_that_reads_most_names(
    scripts: dict[str, float], encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "find_spec", lambda module: "there")
    assert chosen_for(scripts, NamesConfig()).encoder == encoder


@pytest.mark.parametrize(
    ("scripts", "worth"), [({"Arabic": 0.9}, "names in Arabic"), ({"Kana": 0.5, "Han": 0.4}, "DBP15K ZH-EN")]
)
def test_what_the_missing_is_worth_is_said(
    scripts: dict[str, float], worth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = list[str]()
    monkeypatch.setattr(choice, "note", notes.append)
    monkeypatch.setattr(choice, "find_spec", lambda module: None)
    chosen_for(scripts, NamesConfig())
    assert worth in notes[0]


def test_graphs_in_one_script_are_compared_as_they_are() -> None:
    scripts = foreign_scripts(graph("Zürich", "Wien", "東京"), graph("Zurich", "Vienna", "Tōkyō", "東京"))
    assert scripts == {}
    assert chosen_for(scripts, NamesConfig()) == NamesConfig(encoder="ngram")


def test_two_scripts_of_india_differ() -> None:
    assert foreign_scripts(graph("ঢাকা", "কলকাতা"), graph("சென்னை", "மதுரை")) == {"Bengali": 1.0, "Tamil": 1.0}


def test_missing_extras_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    words, places = (one._replace(module="no_such_module") for one in (CC_CEDICT, GEONAMES))
    assert not words.installed
    assert words.release == ""
    monkeypatch.setattr(readings, "CHINESE", {CLDR: True, words: True, places: True})
    monkeypatch.setattr(readings, "person_names_release", lambda: "rigour 1")
    assert readings.missing_extras(["Han"]) == ["cjk"]
    assert readings.missing_extras(["Greek"]) == ["places"]
    monkeypatch.setattr(readings, "person_names_release", lambda: "")
    assert readings.missing_extras(["Han"]) == ["cjk", "person-names"]


@pytest.mark.parametrize(("foreign", "planned"), [(True, True), (False, False)])
def test_translation_is_planned_where_names_are_foreign(foreign: bool, planned: bool) -> None:
    sizes = replace(Sizes.assumed((1000, 1000)), foreign=foreign)
    stages = [row.stage for row in stage_rows(sizes, as_config(None), 10**10, 2)]
    assert ("translated-names" in stages) == planned


# Dictionaries that are installed


@pytest.mark.parametrize(
    ("dictionary", "term", "translation"),
    [
        (CC_CEDICT, "公園", "park"),
        (JMDICT, "図書館", "library"),
        (JMNEDICT, "松井", "matsui"),
        (JMNEDICT, "デヴィッド", "david"),
        (GEONAMES, "トロント", "toronto"),
        (GEONAMES, "서울", "seoul"),
        (CLDR, "Αίγυπτος", "egypt"),
        (CLDR, "საქართველო", "georgia"),
        (CLDR, "香港", "hong kong"),
    ],
)
def test_dictionaries_know_a_term(dictionary, term: str, translation: str) -> None:
    if not dictionary.installed:
        pytest.skip("needs largeea[cjk]")
    scripts = {"Han", "Kana", "Hangul", "Greek", "Georgian"}
    adjacent = adjacent_characters(folded([term]))
    found = list(occurring(dictionary.read(scripts), adjacent, dictionary.translations))
    assert (folded([term])[0], translation) in found


def test_variants_of_a_character_are_one() -> None:
    pytest.importorskip("opencc", reason="needs largeea[cjk]")
    assert len(set(folded(["竜", "龍", "龙"]))) == 1


def test_parts_of_person_names_are_found_in_other_scripts() -> None:
    pytest.importorskip("rigour", reason="needs largeea[person-names]")
    assert list(equal_name_parts(["史密斯", "xyz"], ["smith", "table"])) == [("史密斯", "smith")]
