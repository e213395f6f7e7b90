from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from largeea.graph import strings
from largeea.names.labels import bare_names, composed, normalised

often = settings(deadline=None, max_examples=100, database=None, derandomize=True)
text = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs", "Cn"]))


def normal(*names: str | None) -> list[str | None]:
    return normalised(strings(names)).to_pylist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ｆｕｌｌ　Ｗｉｄｔｈ", "full width"),
        ("ﬁne", "fine"),
        ("x²", "x2"),
        ("Ⅷ", "viii"),
        ("MÜNCHEN", "munchen"),
        ("Mu\u0308nchen", "munchen"),
        ("Côte d'Ivoire", "cote d ivoire"),
        ("Việt Nam", "viet nam"),
        ("İstanbul", "istanbul"),
        ("ΑΘΉΝΑ", "αθηνα"),
        ("Ёлка", "елка"),
        ("  St.-Étienne   (Loire) ", "st etienne loire"),
        ("AC/DC_(band)", "ac dc band"),
        ("auto\u00admatic", "automatic"),
    ],
)
def test_alphabets_lose_form_case_accents_and_punctuation(name: str, expected: str) -> None:
    assert normal(name) == [expected]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("東京都", "東京都"),
        ("ガンダム", "ガンダム"),
        ("ｶﾞﾝﾀﾞﾑ", "ガンダム"),
        ("한국어", "한국어"),
        ("हिन्दी", "हिन्दी"),
        ("தமிழ்", "தமிழ்"),
        ("ประเทศไทย", unicodedata.normalize("NFKC", "ประเทศไทย")),
        ("العَرَبِيَّة", "العربية"),
        ("שָׁלוֹם", "שלום"),
        ("ශ්\u200dරී ලංකා", "ශ්රී ලංකා"),
    ],
)
def test_other_scripts_keep_what_spells_a_sound(name: str, expected: str) -> None:
    assert normal(name) == [expected]


def test_old_versions_of_pyarrow_leave_letters_and_marks_apart() -> None:
    names = strings(["カ\u3099ンタ\u3099ム", None, "plain", "\u1112\u1161\u11ab"])
    assert composed(names, by_arrow=False).to_pylist() == ["ガンダム", None, "plain", "한"]
    assert composed(names).to_pylist() == composed(names, by_arrow=False).to_pylist()


def test_voiced_and_unvoiced_kana_are_different_words() -> None:
    plain, voiced = normal("カキ", "ガギ")
    assert plain != voiced


@pytest.mark.parametrize(
    "name", ["", "   ", "!?", "🎉", "❤\ufe0f", "👨\u200d👩\u200d👧", "\u0301", "—", "\u200f"]
)
def test_nothing_to_compare_is_null(name: str) -> None:
    assert normal(name) == [None]


def test_null_stays_null_and_places_stay() -> None:
    assert normal(None, "A", "", "b") == [None, "a", None, "b"]
    assert normal() == []


@often
@given(st.lists(text))
def test_a_normal_form_is_normal(names: list[str]) -> None:
    once = normal(*names)
    assert normal(*once) == once
    for name in once:
        if name is not None:
            assert name == " ".join(name.split(" "))
            assert name == unicodedata.normalize("NFKC", name)
            assert all(unicodedata.category(c)[0] in "LMN" for c in name.replace(" ", ""))


@often
@given(text)
def test_composed_or_not_is_the_same(name: str) -> None:
    forms = [unicodedata.normalize(form, name) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    assert len(set(normal(name, *forms))) == 1


def test_names_without_their_brackets() -> None:
    names = ["Mercury (planet)", "Mercury", "東京 （曲）", "X [1] (2)", "(I Can't Get No)", "()", "", None]
    assert bare_names(strings(names)).to_pylist() == [
        "Mercury",
        None,
        "東京",
        "X [1]",
        None,
        None,
        None,
        None,
    ]
