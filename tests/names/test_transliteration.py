"""Names of other scripts in Latin letters, as people who speak the language romanise them."""

from __future__ import annotations

import pytest
from anyascii import anyascii
from hypothesis import given
from hypothesis import strategies as st

from largeea.config import as_config
from largeea.datasets.demo import demo_pair
from largeea.experiments.bench import bench
from largeea.graph import strings
from largeea.names import labels
from largeea.names.labels import latinised
from largeea.names.transliteration import transliterated
from largeea.names.transliteration.kana import romanised


@pytest.mark.parametrize(
    ("kana", "latin"),
    [
        ("デヴィッド", "deviddo"),
        ("シャッター", "shatta"),
        ("マッチ", "matchi"),
        ("チェコ", "cheko"),
        ("フィリピン", "firipin"),
        ("ジョージ", "joji"),
        ("ウィリアム", "wiriam"),
        ("クォーク", "kuok"),
        ("デュッセルドルフ", "dyusserdorf"),
        ("フランクフルト", "frankfrto"),
        ("ブルース", "brus"),
        ("アップル", "appr"),
        ("きょうと", "kyouto"),
        ("すずき", "suzuki"),
        ("がっこう", "gakkou"),
        ("アッ", "a"),
        ("東京タワー", "東京tawa"),
        ("Tシャツ", "Tshats"),
    ],
)
def test_kana_are_read_as_syllables(kana: str, latin: str) -> None:
    assert romanised(kana) == latin


def test_names_in_kana_become_latin_words() -> None:
    names = ["デヴィッド・リンチ", "ジョン＝ポール", "ﾃﾞｳﾞｨｯﾄﾞ", "Ｔシャツ", None]
    assert latinised(strings(names)).to_pylist() == ["deviddo rinchi", "jon por", "deviddo", "tshats", None]


@pytest.mark.parametrize(
    ("name", "latin"),
    [
        # Cyrillic: signs that are not spoken do not divide a word, and ъ is a vowel in Bulgarian
        ("Большой театр", "bolshoi teatr"),
        ("Объединение", "obedinenie"),
        ("България", "balgariya"),
        # Arabic and Persian
        ("پاکستان", "pakstan"),
        ("بغداد", "bghdad"),
        ("يوسف", "yusf"),
        ("بنیامین", "bnyamin"),
        ("مُحَمَّد", "mhmd"),
        ("وهران", "whran"),
        # Hebrew
        ("תל אביב", "tl abib"),
        ("ירושלים", "yroshlim"),
        ("חיפה", "hipa"),
        # Greek
        ("Μπαράκ Ομπάμα", "barak obama"),
        ("Ευριπίδης", "evripidis"),
        ("Λευκωσία", "lefkosia"),
        ("Ουρανός", "ouranos"),
        ("Αγγλία", "anglia"),
        # Hangul
        ("서울", "seoul"),
        ("박근혜", "bakgeunhye"),
        ("독일", "dogil"),
        ("알렉산드리아", "alleksandria"),
        ("크리스", "kris"),
        # Scripts of India: vowels that no sign writes
        ("महात्मा गांधी", "mahatma gandhi"),
        ("मुम्बई", "mumbai"),
        ("कर्नाटक", "karnatak"),
        ("ಕರ್ನಾಟಕ", "karnataka"),
        ("മലയാളം", "malayalam"),
        ("ગુજરાત", "gujrat"),
        ("ਪੰਜਾਬ", "panjab"),
        ("චන්ද්‍රිකා", "candrika"),
        # Thai and Lao: vowels before consonants, mute letters
        ("เชียงใหม่", "chiangmai"),
        ("โตเกียว", "tokiaw"),
        ("เกาะ", "kaoa"),
        ("จอห์น", "chon"),
        ("ໂລກ", "lok"),
        # Scripts that anyascii reads well
        ("北京", "beijing"),
        ("თბილისი", "tbilisi"),
        ("አዲስ አበባ", "adis abeba"),
    ],
)
def test_each_script_is_read_by_its_own_rules(name: str, latin: str) -> None:
    assert latinised(strings([name])).to_pylist() == [latin]


LETTERS = st.characters(categories=["Lu", "Ll", "Lo", "Mn", "Mc", "Nd"])


@given(st.lists(st.text(LETTERS, max_size=12), max_size=5))
def test_a_name_is_read_alone_as_among_others(names: list[str]) -> None:
    read = transliterated(names)
    assert read == [one for name in names for one in transliterated([name])]
    assert all(
        character.isascii() and (character.isalnum() or character == " ") for character in "".join(read)
    )


@pytest.mark.filterwarnings("ignore::largeea.errors.LargeEAWarning")
@pytest.mark.parametrize(("language", "gain"), [("ar", 0.1), ("he", 0.1), ("th", 0.05), ("ko", 0.05)])
def test_rules_find_more_than_single_characters(
    language: str, gain: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of CLDR against English ones, without dictionaries."""
    config = as_config({"names": {"encoder": "ngram", "dictionaries": False}, "without": ["evidence"]})

    def accuracy() -> float:
        figures, _ = bench(demo_pair((language, "en")), "demo", "default", config, train=0.0)
        return float(figures["protocols"]["open"]["hits@1"])

    by_rules = accuracy()
    monkeypatch.setattr(labels, "transliterated", lambda names: [anyascii(name) for name in names])
    assert by_rules > accuracy() + gain
