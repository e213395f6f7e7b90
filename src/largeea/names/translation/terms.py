"""Terms in names and their translations, from dictionaries and glossaries."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import islice

import numpy as np

from largeea.graph import strings
from largeea.names.labels import normalised
from largeea.plugins import optional

CHUNK = 1 << 16
"""Entries of a dictionary that are in memory at a time."""


def folded(texts: Iterable[str | None]) -> list[str]:
    """Normalised texts in which variants of a Han character are one character; "" for a missing text."""
    return one_form(plain(texts))


def plain(texts: Iterable[str | None]) -> list[str]:
    """Normalised texts; "" for a missing one."""
    words: list[str] = normalised(strings(texts)).fill_null("").to_pylist()
    return words


def one_form(texts: list[str]) -> list[str]:
    """Normalised texts in which variants of a Han character are one character: 龍 and 竜 are 龙."""
    return "\n".join(texts).translate(_simplified()).split("\n") if texts else []


@cache
def _simplified() -> dict[int, str]:
    """The simplified form of the Han characters that have one."""
    if find_spec("opencc") is None:
        return {}
    opencc = optional("opencc", "cjk")
    characters = [chr(point) for point in range(0x3400, 0xA000)]
    traditional = opencc.OpenCC("jp2t").convert("\n".join(characters))
    simplified = opencc.OpenCC("t2s").convert(traditional).split("\n")
    return {
        ord(one): other
        for one, other in zip(characters, simplified, strict=True)
        if one != other and len(other) == 1
    }


@cache
def _folded_characters() -> dict[int, str]:
    """How each character is folded by itself: a letter, nothing for a mark, a space for the others."""
    characters = [chr(point) for point in (*range(0x20, 0xD800), *range(0xE000, 0x10000))]
    return {
        ord(one): other or " " * (not unicodedata.combining(one))
        for one, other in zip(characters, folded(characters), strict=True)
        if one != other
    }


def adjacent_characters(names: list[str]) -> set[str]:
    """All pairs of characters that follow each other in some name."""
    points = np.frombuffer("\n".join(names).encode("utf-32-le"), np.uint32).astype(np.uint64)
    pairs = np.unique(points[:-1] << np.uint64(32) | points[1:])
    return {chr(pair >> 32) + chr(pair & 0xFFFFFFFF) for pair in pairs.tolist()}


def occurring(
    entries: Iterator[tuple[str, str]], adjacent: set[str], translations: Callable[[str], list[str]]
) -> Iterator[tuple[str, str]]:
    """Folded terms, and normalised translations, of the entries whose terms may occur in names.

    `adjacent` are the pairs of characters of the names; a term has no other pairs. `translations` gives those
    in what a dictionary says of a term.
    """
    while chunk := list(islice(entries, CHUNK)):
        terms = "\n".join(term for term, _ in chunk).translate(_folded_characters()).split("\n")
        kept = [
            (term, translation)
            for term, (_, entry) in zip(terms, chunk, strict=True)
            if all(term[at : at + 2] in adjacent for at in range(len(term) - 1))
            for translation in translations(entry)
        ]
        texts = folded(translation for _, translation in kept)
        yield from ((term, text) for (term, _), text in zip(kept, texts, strict=True) if text)
