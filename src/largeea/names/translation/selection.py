"""The terms of one graph's names, and the translation of each that fits the names of the other graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from anyascii import anyascii

from largeea.names.translation.dictionaries import CC_CEDICT, CHINESE, JAPANESE
from largeea.names.translation.person_names import equal_name_parts, person_names_release
from largeea.names.translation.segmentation import HAN, WORD, Term, Terms
from largeea.names.translation.terms import adjacent_characters, occurring, one_form

JAPANESE_SHARE = 0.1
"""Share of names with kana, of all with kana or Han characters, from which on names are Japanese."""
SURE = 0.9
"""Cost of a term of a glossary; one of a dictionary costs 1."""
UNKNOWN = 1.3
"""Cost of a term of a dictionary whose translation is not in the other graph's names."""
ENDING_SHARE = 0.001
"""Share of the names from which on the Han character that they end with is a word."""


class Candidates:
    """The translations of terms, each with the best rank that it has in a dictionary."""

    def __init__(self) -> None:
        self._ranks: dict[str, dict[str, int]] = {}
        self._trusted: dict[str, str] = {}

    def add(self, entries: Iterable[tuple[str, str]], trusted: bool) -> None:
        """Add the entries of a dictionary; its first translation of a term counts if it is `trusted`."""
        seen = Counter[str]()
        for term, translation in entries:
            ranks = self._ranks.setdefault(term, {})
            ranks[translation] = min(seen[term], ranks.get(translation, seen[term]))
            seen[term] += 1
            if trusted:
                self._trusted.setdefault(term, translation)

    def best(self, vocabulary: Mapping[str, int]) -> dict[str, Term]:
        """By term, the translation that is most frequent in the other graph, relative to its rank.

        `vocabulary` says how many names of the other graph have each word; the rarest word counts.
        """
        chosen = dict[str, Term]()
        for term, ranks in self._ranks.items():
            frequency = {
                text: min(vocabulary.get(word, 0) for word in text.split(" ")) / (1 + rank)
                for text, rank in ranks.items()
            }
            text = max(frequency, key=frequency.__getitem__)
            if frequency[text]:
                chosen[term] = Term(text, 1.0)
            elif term in self._trusted:
                chosen[term] = Term(self._trusted[term], UNKNOWN)
        return chosen


def terms_of(
    names: list[str],
    scripts: Mapping[str, int],
    vocabulary: Mapping[str, int],
    glossary: list[tuple[str, str]],
    use_dictionaries: bool,
) -> Terms:
    """The terms of normalised names, of which so many are in each of the scripts.

    `vocabulary` says how many names of the other graph have each Latin word.
    """
    sure = {term: Term(text, SURE) for term, text in glossary}
    if not use_dictionaries:
        return Terms(sure, sure=sure)
    simplified = one_form(names)
    candidates, surnames = _from_dictionaries(simplified, scripts)
    if person_names_release():
        candidates.add(_person_names(names, vocabulary), trusted=False)
    return Terms(candidates.best(vocabulary) | sure, _endings(simplified), surnames, sure)


def _from_dictionaries(names: list[str], scripts: Mapping[str, int]) -> tuple[Candidates, dict[str, str]]:
    """The translations in the installed dictionaries, and Chinese surnames in Latin letters."""
    candidates, surnames, adjacent = Candidates(), dict[str, str](), adjacent_characters(names)
    japanese = scripts.get("Kana", 0) > JAPANESE_SHARE * (scripts.get("Kana", 0) + scripts.get("Han", 0))
    for dictionary, trusted in (JAPANESE if japanese else CHINESE).items():
        if dictionary.installed and dictionary.serves(scripts):
            entries = list(occurring(dictionary.read(scripts), adjacent, dictionary.translations))
            candidates.add(entries, trusted)
            if dictionary is CC_CEDICT and not japanese:
                surnames = {one: text for one, text in entries if text == anyascii(one).lower()}
    return candidates, surnames


def _person_names(names: list[str], vocabulary: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Folded words of the names, and words of the other graph that are the same given or family name."""
    words = dict.fromkeys(word for name in names for word in name.split(" ") if not word.isascii())
    parts = list(equal_name_parts(words, vocabulary))
    return zip(one_form([word for word, _ in parts]), (other for _, other in parts), strict=True)


def _endings(names: list[str]) -> set[str]:
    """The Han characters that many names of one run end with."""
    runs = [run for run in map(WORD.findall, names) if len(run) == 1 and len(run[0]) > 2]
    counts = Counter(run[0][-1] for run in runs if HAN.match(run[0][-1]))
    return {ending for ending, count in counts.items() if count > ENDING_SHARE * len(names)}
