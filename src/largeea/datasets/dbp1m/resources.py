"""DBpedia IRIs: the language of a resource, and canonical spellings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import quote_from_bytes, unquote_to_bytes

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from largeea.errors import UsageError
from largeea.graph import Bool, Int32, Int64, Strings, strings
from largeea.graph.interning import Bytes, StringTable

_LANGUAGE = r"[a-z][a-z0-9_-]*"
_MAIN = "en"
_RESOURCES = np.frombuffer(b"dbpedia.org/resource/", np.uint8)
_SPELLED_OTHERWISE = r"%|^https://|^http://en\.dbpedia\.org/"
_ENGLISH = re.compile(r"^https?://(?:en\.)?dbpedia\.org/")
_ENCODED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_STAYS_ENCODED = frozenset('"#%/<>?[\\]^`{|} ')
"""Characters that must stay escaped: not allowed in an IRI, or with another meaning there."""
_LANGUAGES_SHOWN = 12


def check_languages(languages: tuple[str, str]) -> None:
    """Check that these are two different language codes of the form used in DBpedia's host names."""
    for language in languages:
        if not re.fullmatch(_LANGUAGE, language):
            raise UsageError(
                f"--languages: {language!r} is not a language code; give two like 'en fr', 'de zh-yue'"
            )
    if languages[0] == languages[1]:
        raise UsageError(f"--languages: {languages[0]!r} twice; source and target need one language each")


class Languages:
    """The language of each node of a block; `dbpedia.org` itself is English."""

    def __init__(self, nodes: Strings) -> None:
        _, offsets, text = nodes.buffers()
        data, places = np.frombuffer(text, np.uint8), np.frombuffer(offsets, np.int64, len(nodes) + 1)
        found = StringTable()
        self._codes = found.number(data, *_language_spans(data, places[:-1], places[1:]))
        self._names = [name or _MAIN for name in found.strings().to_pylist()]

    def are(self, language: str) -> Bool:
        """Mask of the nodes that belong to a language, `[nodes]`."""
        codes = [code for code, name in enumerate(self._names) if name == language]
        return np.isin(self._codes, codes)

    def counts(self, nodes: Int32) -> Counter[str]:
        """How often each language occurs."""
        codes = self._codes[nodes]
        counts = Counter[str]()
        for code, count in enumerate(np.bincount(codes[codes >= 0]).tolist()):
            counts[self._names[code]] += count
        return +counts

    def pairs(self, head: Int32, tail: Int32) -> Counter[str]:
        """How often each pair of languages occurs, such as `en-fr`."""
        one, two, known = self._codes[head].astype(np.int64), self._codes[tail], len(self._names)
        packed = (one * known + two)[(one >= 0) & (two >= 0)]
        counts = Counter[str]()
        for pair, count in enumerate(np.bincount(packed).tolist()):
            if count:
                counts[f"{self._names[pair // known]}-{self._names[pair % known]}"] += count
        return counts


@njit(cache=True, nogil=True)
def _language_spans(data: Bytes, starts: Int64, ends: Int64) -> tuple[Int64, Int64]:
    """Start and end of the language in each IRI; empty on the main host, start -1 for other IRIs."""
    firsts, lasts = np.full(len(starts), -1, np.int64), ends.copy()
    for i in range(len(starts)):
        at, end = starts[i], ends[i]
        if end - at < 8 or data[at] != 104:
            continue
        while at < end and data[at] != 47:
            at += 1
        first = at + 2
        last = first
        while last < end and data[last] != 46 and data[last] != 47:
            last += 1
        host = first if _goes_on(data, first, end) else last + 1
        if _goes_on(data, host, end):
            firsts[i], lasts[i] = first, max(first, host - 1)
    return firsts, lasts


@njit(cache=True, nogil=True)
def _goes_on(data: Bytes, at: int, end: int) -> bool:
    """Whether the host and path of DBpedia resources start at `at`, followed by a title."""
    size = len(_RESOURCES)
    return bool(end - at > size and (data[at : at + size] == _RESOURCES).all())


def respelled(iris: Strings) -> tuple[Int64, Strings]:
    """Positions of IRIs that are not spelled canonically, and their canonical spellings.

    Releases disagree on percent-encoding and on `en.`. Escapes of characters that an IRI may hold are
    resolved (`Caf%C3%A9` is `Café`); others stay, with upper-case hex digits. English resources are on `http://dbpedia.org`.
    """
    suspects = np.flatnonzero(np.asarray(pc.match_substring_regex(iris, _SPELLED_OTHERWISE)))
    written = iris.take(pa.array(suspects))
    spelled = strings([_respelled(iri) for iri in written.to_pylist()])
    differ = np.asarray(pc.not_equal(written, spelled), bool)
    return suspects[differ], spelled.filter(pa.array(differ))


def canonical(iris: Strings) -> Strings:
    """The IRIs, each in its canonical spelling."""
    positions, spelled = respelled(iris)
    mask = np.zeros(len(iris), bool)
    mask[positions] = True
    return pc.replace_with_mask(iris, pa.array(mask), spelled)


def _respelled(iri: str) -> str:
    iri = _ENGLISH.sub("http://dbpedia.org/", iri)
    iri = "http" + iri.removeprefix("https") if iri.startswith("https://") else iri
    return _ENCODED.sub(lambda run: _decoded(run.group()), iri)


def _decoded(run: str) -> str:
    """Decode a run of percent-escapes, except for characters that must stay escaped."""
    try:
        text = unquote_to_bytes(run).decode("utf-8")
    except UnicodeDecodeError:
        return run.upper()
    return "".join(_encoded(c) if c in _STAYS_ENCODED or not c.isprintable() else c for c in text)


def _encoded(character: str) -> str:
    return quote_from_bytes(character.encode(), safe="")


def listed(counts: Mapping[str, int]) -> str:
    """Text list of languages, or pairs of them, with their counts, most frequent first."""
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = ", ".join(f"{name} ({count:,})" for name, count in ranked[:_LANGUAGES_SHOWN])
    return shown + (", ..." if len(ranked) > _LANGUAGES_SHOWN else "") or "none"
