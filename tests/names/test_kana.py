from __future__ import annotations

import pytest

from largeea.graph import strings
from largeea.names.kana import romanised
from largeea.names.labels import latinised


@pytest.mark.parametrize(
    ("kana", "latin"),
    [
        ("デヴィッド", "deviddo"),
        ("シャッター", "shatta"),
        ("マッチ", "matchi"),
        ("チェコ", "cheko"),
        ("フィリピン", "firipin"),
        ("ジョージ", "joji"),
        ("ウィリアム", "wiriamu"),
        ("クォーク", "kuoku"),
        ("デュッセルドルフ", "dyusserudorufu"),
        ("きょうと", "kyouto"),
        ("がっこう", "gakkou"),
        ("アッ", "a"),
        ("東京タワー", "東京tawa"),
        ("Tシャツ", "Tshatsu"),
    ],
)
def test_kana_are_read_as_syllables(kana: str, latin: str) -> None:
    assert romanised(kana) == latin


def test_names_in_kana_become_latin_words() -> None:
    names = ["デヴィッド・リンチ", "ジョン＝ポール", "ﾃﾞｳﾞｨｯﾄﾞ", "Ｔシャツ", None]
    assert latinised(strings(names)).to_pylist() == ["deviddo rinchi", "jon poru", "deviddo", "tshatsu", None]
