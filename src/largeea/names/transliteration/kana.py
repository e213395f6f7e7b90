"""Kana in Latin letters, as Hepburn romanisation reads them, without long vowels and without silent ones.

Ours, because anyascii reads each character by itself: シャッター as "shiyatta", デヴィッド as "devuitdo".
"""

from __future__ import annotations

import re

from anyascii import anyascii

KANA = "ぁ-ゟァ-ヺーヽヾヿ"
"""Range of characters for a regular expression."""
_WITH_SILENT_U = re.compile("[クグスズツフブプムル](?![ァィゥェォャュョー])")
_WITH_SMALL = re.compile("([ぁ-んァ-ヴ])([ぁぃぅぇぉゃゅょァィゥェォャュョ])")
_OTHER_KANA = re.compile("[ぁ-ゟァ-ヺーヽヾヿ]")
_BEFORE_CH = re.compile("[っッ](?=ch)")
_DOUBLING = re.compile("[っッ]+([b-df-hj-np-tv-z]?)")


def romanised(text: str) -> str:
    """The text with its kana in lower-case Latin letters; other characters stay.

    A short u of katakana is left out: mostly it parts the consonants of foreign names, as in クリス, Chris.
    """
    text = _WITH_SILENT_U.sub(lambda kana: anyascii(kana[0])[:-1], text)
    text = _WITH_SMALL.sub(_syllable, text)
    text = _OTHER_KANA.sub(lambda kana: kana[0] if kana[0] in "っッ" else anyascii(kana[0]), text)
    return _DOUBLING.sub(r"\1\1", _BEFORE_CH.sub("t", text))


def _syllable(kana: re.Match[str]) -> str:
    """A kana and the small one behind it: フェ fe, キャ kya, シャ sha, ウィ wi, クォ kuo."""
    base, small = anyascii(kana[1]), anyascii(kana[2])
    onset = base[:-1]
    if base == "u":
        return "w" + small
    if not onset or (onset in ("k", "g") and small[0] != "y"):
        return base + small
    return onset + (small[1:] if onset in ("sh", "ch", "j") and small[0] == "y" else small)
