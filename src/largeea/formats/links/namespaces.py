"""Namespaces of IRIs and the prefixes that stand for them in CURIEs."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from largeea.formats.links.text import joined
from largeea.formats.prefixes import CUSTOMARY
from largeea.formats.streams import in_parallel
from largeea.graph import Int64, Strings, strings
from largeea.graph.lookup import counted, places_in

MOST_PREFIXES = 200
"""This many namespaces, the most frequent ones, get a prefix of their own."""

_PREFIX_OF = {namespace: prefix for prefix, namespace in CUSTOMARY.items()}
_YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
_RESERVED = CUSTOMARY.keys() | _YAML_WORDS

_SEPARATORS = list(b"#/:")
_DBPEDIA_EDITION = re.compile(r"http://([a-z]{2,3}(?:-[a-z]+)*)\.dbpedia\.org/resource/")
_ABBREVIATION = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*):")
_MISLEADING = re.compile(r"ns[0-9]+|https?|urn", re.IGNORECASE)
"""Declared prefixes that look like numbered ones or like the beginning of an IRI are not used."""
_SCHEME = re.compile(r"(?:https?:|urn:)?")


@dataclass(frozen=True, eq=False)
class Prefixes:
    """A CURIE map, ready to apply: an IRI in `namespaces[i]` becomes a CURIE that starts with `heads[i]`."""

    curie_map: dict[str, str]
    namespaces: Strings
    heads: Strings

    @classmethod
    def of(cls, namespaces: list[str], declared: Mapping[str, str] | None = None) -> Prefixes:
        """Prefixes for namespaces, most important first: customary ones, `declared` ones, else ns1, ns2, ...

        Namespaces beyond `MOST_PREFIXES` share the prefix of their scheme, `http: "http:"`, so that a CURIE
        in one of them reads like the IRI itself.
        """
        shared = [_scheme(namespace) for namespace in namespaces[MOST_PREFIXES:]]
        stems = namespaces[:MOST_PREFIXES] + shared
        names = _names(dict.fromkeys(stems), declared or {})
        heads = [
            f"{names[stem]}:{whole.removeprefix(stem)}" for stem, whole in zip(stems, namespaces, strict=True)
        ]
        curie_map = {names[stem]: stem for stem in sorted(names, key=names.__getitem__)}
        return cls(curie_map, strings(namespaces), strings(heads))

    def shorten(self, iris: Strings) -> Strings:
        """IRIs as CURIEs; each must be in one of the namespaces."""
        namespace, rest = split(iris)
        return joined(self.heads.take(pa.array(places_in(namespace, self.namespaces))), rest)


def split(iris: Strings) -> tuple[Strings, Strings]:
    """Each IRI as its namespace, up to the last `#`, `/` or `:` before its last character, and the rest.

    Both are views of the column's own bytes: namespaces and rests alternate between its offsets.
    """
    _, offsets, data = iris.buffers()
    bounds = np.frombuffer(offsets, np.int64)[iris.offset : iris.offset + len(iris) + 1]
    text = np.frombuffer(data or b"", np.uint8)
    separators = np.flatnonzero(np.any([text == separator for separator in _SEPARATORS], axis=0)) + 1
    separators = np.append(0, separators)
    cuts = np.maximum(separators[np.searchsorted(separators, bounds[1:]) - 1], bounds[:-1])
    places = np.append(np.column_stack([bounds[:-1], cuts]), bounds[-1])
    parts = pa.LargeStringArray.from_buffers(2 * len(iris), pa.py_buffer(places), data)
    return parts.take(np.arange(0, len(parts), 2)), parts.take(np.arange(1, len(parts), 2))


def by_frequency(columns: Iterable[Strings]) -> list[str]:
    """The distinct namespaces in columns of IRIs, most frequent first, then in alphabetical order."""
    total: Counter[str] = Counter()
    for namespaces, counts in in_parallel(_namespace_counts, columns):
        total.update(dict(zip(namespaces.to_pylist(), counts.tolist(), strict=True)))
    return sorted(total, key=lambda namespace: (-total[namespace], namespace))


def _namespace_counts(iris: Strings) -> tuple[Strings, Int64]:
    """The distinct namespaces of a column, and how often each occurs."""
    return counted(split(iris)[0])


def _names(namespaces: Iterable[str], declared: Mapping[str, str]) -> dict[str, str]:
    own = {
        namespace: prefix
        for prefix, namespace in reversed(list(declared.items()))
        if prefix.lower() not in _RESERVED and not _MISLEADING.fullmatch(prefix)
    }
    names: dict[str, str] = {}
    taken: set[str] = set()
    numbered = (f"ns{number}" for number in itertools.count(1))
    for namespace in namespaces:
        name = _customary(namespace) or own.get(namespace)
        if name is None or name.lower() in taken:
            name = next(candidate for candidate in numbered if candidate not in taken)
        names[namespace] = name
        taken.add(name.lower())
    return names


def _customary(namespace: str) -> str | None:
    if namespace in _PREFIX_OF:
        return _PREFIX_OF[namespace]
    if edition := _DBPEDIA_EDITION.fullmatch(namespace):
        return f"dbpedia-{edition[1]}"
    abbreviation = _ABBREVIATION.fullmatch(namespace)
    return abbreviation[1] if abbreviation and abbreviation[1].lower() not in _RESERVED else None


def _scheme(namespace: str) -> str:
    scheme = _SCHEME.match(namespace)
    return scheme[0] if scheme else ""
