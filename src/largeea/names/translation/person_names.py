"""Parts of person names in different scripts, which the package rigour knows by number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec

from largeea.plugins import optional


def person_names_release() -> str:
    """Name and version of the package that `equal_name_parts` needs; "" if it is not installed."""
    return f"rigour {version('rigour')}" if find_spec("rigour") else ""


def equal_name_parts(words: Iterable[str], others: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a word and another one that are the same given or family name.

    For each word, those that share more of its numbers come first.
    """
    bearers = defaultdict[str, list[str]](list)
    for other in others:
        for number in _numbers(other):
            bearers[number].append(other)
    for word in words:
        shared = Counter(other for number in _numbers(word) for other in bearers.get(number, ()))
        yield from ((word, other) for other in sorted(shared, key=lambda other: (-shared[other], other)))


def _numbers(word: str) -> set[str]:
    """The numbers of the names that a word may be."""
    rigour = optional("rigour.names", "person-names", "to find person names in other scripts")
    found = rigour.analyze_names(rigour.NameTypeTag.PER, [word], phonetics=False, numerics=False)
    name = rigour.SymbolCategory.NAME
    return {symbol.id for part in found for symbol in part.symbols if symbol.category == name}
