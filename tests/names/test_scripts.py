from __future__ import annotations

import numpy as np
import pytest

from largeea.graph import strings
from largeea.names.scripts import SCRIPTS, script_shares, scripts_of


@pytest.mark.parametrize(
    ("name", "script"),
    [
        ("Zürich", "Latin"),
        ("Việt Nam", "Latin"),
        ("Αθήνα", "Greek"),
        ("Москва", "Cyrillic"),
        ("ירושלים", "Hebrew"),
        ("القاهرة", "Arabic"),
        ("हिन्दी", "Devanagari"),
        ("ประเทศไทย", "Thai"),
        ("서울", "Hangul"),
        ("東京", "Han"),
        ("東京タワー", "Kana"),
        ("日の出", "Kana"),
        ("ｶﾞﾝﾀﾞﾑ", "Kana"),
        ("LIFE (中島美嘉單曲)", "Han"),
        ("Modula-2 語", "Latin"),
        ("Երևան", "Armenian"),
        ("თბილისი", "Georgian"),
        ("ঢাকা", "Bengali"),
        ("சென்னை", "Tamil"),
        ("አዲስ አበባ", "Ethiopic"),
        ("ᏣᎳᎩ", "another script"),
    ],
)
def test_the_script_of_most_letters(name: str, script: str) -> None:
    assert SCRIPTS[scripts_of(strings([name]))[0]] == script


def test_names_without_letters_have_no_script() -> None:
    assert scripts_of(strings(["", None, "1984", "—"])).tolist() == [-1] * 4
    assert len(scripts_of(strings())) == 0


def test_shares_are_of_names_with_letters() -> None:
    shares = script_shares(strings(["Rome", "Paris", "北京", "Москва", None, "42"]))
    assert dict(zip(SCRIPTS, shares, strict=True)) == pytest.approx(
        dict.fromkeys(SCRIPTS, 0) | {"Latin": 0.5, "Han": 0.25, "Cyrillic": 0.25}
    )
    assert np.isclose(script_shares(strings([None])).sum(), 0)
