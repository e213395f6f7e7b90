"""Names cut into terms: the fewest terms that leave the fewest tokens over."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import NamedTuple

from largeea.names.translation.numbers import with_plain_numbers
from largeea.names.transliteration.kana import KANA

_HAN = "々〇㐀-\u9fff豈-\ufaff\U00020000-\U0003ffff"
HAN = re.compile(f"[{_HAN}]")
WORD = re.compile(f"[{_HAN}{KANA}]+|[^{_HAN}{KANA} ]+")
"""A run of characters of a script without spaces, which may be several words, or else a word."""
_RUN = re.compile(f"[{_HAN}{KANA}]")
_TORN = re.compile(f"[{_HAN}][{_HAN}]|[ァ-ヿ][ァ-ヿ]")
LONGEST = 12
"""Tokens of a term at most."""
LEFT_OVER = 1.5
"""Cost of a token that is in no term; a term costs about 1."""
LENGTH_BONUS = 0.01
"""Times the squared number of its tokens: what a term costs less, to choose among equally many terms."""


class Term(NamedTuple):
    """A translation, and what it costs to use it."""

    translation: str
    cost: float


class Terms(NamedTuple):
    """What names are translated by.

    translations: of terms of one or several words or characters.
    endings: single characters that end many names, such as 市 (city), and are terms there.
    surnames: single characters that a person's name may start with, in Latin letters.
    sure: terms of a glossary, which may be single characters anywhere.
    """

    translations: Mapping[str, Term]
    endings: Collection[str] = ()
    surnames: Mapping[str, str] = {}
    sure: Collection[str] = ()

    def translate(self, name: str) -> str:
        """A folded name with its terms replaced by their translations; the rest stays.

        In a name of several runs, such as 马罗阿尼·费莱尼, a run is not cut where a part beside a term would
        be left over: names spelt by their sound contain many short words that mean something else.
        """
        if whole := self.translations.get(name.replace(" ", "")):
            return whole.translation
        words = WORD.findall(with_plain_numbers(name))
        runs = sum(_RUN.match(word) is not None for word in words)
        if not runs:
            return self._by_words(name.split(" "))
        return " ".join(self._of_run(word, runs > 1) if _RUN.match(word) else word for word in words)

    def _by_words(self, words: list[str]) -> str:
        pieces = self._cut(words, " ", [True] * len(words))
        return " ".join(piece if term is None else term.translation for piece, term in pieces)

    def _of_run(self, run: str, strict: bool) -> str:
        if term := self.translations.get(run):
            return term.translation
        ending = len(run) > 2 and run[-1] in self.endings
        if len(run) in (2, 3) and run[0] in self.surnames and not ending:
            return f"{self.surnames[run[0]]} {run[1:]}"
        alone = [character in self.sure for character in run]
        alone[-1] = alone[-1] or len(run) == 1 or ending
        pieces = self._cut(run, "", alone)
        if strict and _is_torn(pieces):
            return run
        return " ".join(piece if term is None else term.translation for piece, term in pieces)

    def _cut(self, tokens: str | list[str], space: str, alone: list[bool]) -> list[tuple[str, Term | None]]:
        """The pieces of a name with the lowest total cost, each with its term; tokens left over are joined.

        `alone` says which tokens may be terms by themselves.
        """
        costs, steps = [0.0], list[tuple[int, Term | None]]()
        for end in range(1, len(tokens) + 1):
            best = costs[end - 1] + LEFT_OVER
            step: tuple[int, Term | None] = end - 1, None
            for start in range(max(0, end - LONGEST), end if alone[end - 1] else end - 1):
                term = self.translations.get(space.join(tokens[start:end]))
                if term is None:
                    continue
                cost = costs[start] + term.cost - LENGTH_BONUS * (end - start) ** 2
                if cost < best:
                    best, step = cost, (start, term)
            costs.append(best)
            steps.append(step)
        pieces = list[tuple[str, Term | None]]()
        end = len(tokens)
        while end:
            start, term = steps[end - 1]
            while term is None and start and steps[start - 1][1] is None:
                start -= 1
            pieces.append((space.join(tokens[start:end]), term))
            end = start
        return pieces[::-1]


def _is_torn(pieces: list[tuple[str, Term | None]]) -> bool:
    """Whether a part of one script is cut into a term and something left over; hiragana may be left over."""
    return any(
        (term is None) != (next_term is None) and _TORN.match(piece[-1] + next_piece[0]) is not None
        for (piece, term), (next_piece, next_term) in pairwise(pieces)
    )
