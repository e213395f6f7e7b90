"""Dictionary entries as translations: what a thing is called, without remarks and explanations."""

from __future__ import annotations

import re

_REMARK = re.compile(r"\([^()]*\)|\[[^\]]*\]")
_REFERENCE = re.compile(
    r"(?:CL:|(?:\w+ )?variant |see |also (?:written|pr)|used in |abbr\.|Taiwan pr|same as |equivalent to )"
)
_LEADING = re.compile(r"^(?:surname|to be|to|the|a|an|one's) ", re.IGNORECASE)
_EXPLANATION = re.compile(r", |: | in | on the | near ")
_HAN = re.compile(r"\S*[\u3400-\u9fff]\S*")
_PLACE = re.compile(
    r"^([A-Z]\S*(?: [A-Z]\S*)*?) (?:\w+-level city|(?:\w+ )?autonomous .*|city|county|district|township|town|"
    r"province|prefecture|region|river|lake|island|state|suburb|municipality)\b.*$",
    re.IGNORECASE,
)
_LONG_VOWEL = re.compile("(?<=o)[ou]|(?<=u)u", re.IGNORECASE)
MAX_WORDS = 6
"""Words of a translation; a longer text explains."""


def translations_in(entry: str) -> list[str]:
    """The translations in an entry whose senses are separated by slashes or semicolons, without repeats.

    "Beijing, capital of China" is Beijing; "Dingxi prefecture-level city in Gansu" may also be called Dingxi.
    """
    found: dict[str, None] = {}
    for sense in re.split("[/;]", _REMARK.sub("", entry)):
        text = sense.strip()
        if _REFERENCE.match(text):
            continue
        text = _EXPLANATION.split(_LEADING.sub("", text))[0]
        for one in _HAN.sub("", text).split(" or "):
            one = one.strip()
            if not one or one.count(" ") >= MAX_WORDS:
                continue
            if place := _PLACE.match(one):
                found[place[1]] = None
            found[one] = None
    return list(found)


def name_readings(entry: str) -> list[str]:
    """The translations in an entry for a name, with and without long vowels: Yuuki and Yuki."""
    readings = [reading for text in translations_in(entry) for reading in (text, _LONG_VOWEL.sub("", text))]
    return list(dict.fromkeys(readings))
