"""Which decisions count: the latest of each author about each pair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, get_args

from largeea.formats.vocabularies import SKOS

Kind = Literal["same", "different", "unsure", "none"]
"""What a person says about a pair; `none` takes an earlier decision back."""
Verdict = Literal["same", "different", "unsure", "none", "conflict"]
"""What all authors together say about a pair."""
Pair = tuple[str, str]
"""The IRIs of a source and a target entity."""
EXACT_MATCH = SKOS + "exactMatch"


@dataclass(frozen=True)
class Decision:
    """What an author says about a pair. Decisions of one `action` are made together and undone together."""

    source: str
    target: str
    kind: Kind
    author: str
    action: str = ""
    time: str = ""
    undoes: str = ""
    """The action that this decision undoes; empty for a decision of its own."""
    source_label: str = ""
    target_label: str = ""
    predicate: str = EXACT_MATCH
    """The predicate that links the pair if both are the same."""
    comment: str = ""

    @property
    def pair(self) -> Pair:
        """The IRIs of both entities."""
        return self.source, self.target


@dataclass(frozen=True)
class Conflict:
    """A pair that some authors call the same and others different; it is neither confirmed nor rejected."""

    source: str
    target: str
    same: tuple[str, ...]
    different: tuple[str, ...]


class Reviews:
    """All decisions about a run, in the order in which they were made."""

    def __init__(self, decisions: Iterable[Decision] = ()) -> None:
        self.decisions: list[Decision] = []
        self.ignored = 0
        """Lines of the file that are torn or are not decisions."""
        self._latest: dict[Pair, dict[str, Decision]] = {}
        self._stacks: dict[str, dict[str, list[Decision]]] = {}
        for decision in decisions:
            self.add(decision)

    def add(self, decision: Decision) -> None:
        """Take the next decision into account."""
        self.decisions.append(decision)
        by_author = self._latest.setdefault(decision.pair, {})
        before = by_author.get(decision.author)
        by_author[decision.author] = decision
        stack = self._stacks.setdefault(decision.author, {})
        if decision.undoes:
            stack.pop(decision.undoes, None)
        else:
            restored = replace(decision, kind="none" if before is None else before.kind)
            stack.setdefault(decision.action, []).append(restored)

    def first(self, number: int) -> Reviews:
        """Return the state after the first decisions."""
        return Reviews(islice(self.decisions, number))

    def of(self, pair: Pair) -> dict[str, Kind]:
        """Return what each author says about a pair."""
        found = self._latest.get(pair, {}).values()
        return {said.author: said.kind for said in found if said.kind != "none"}

    def verdict(self, pair: Pair) -> Verdict:
        """Return what all authors together say; who is unsure does not count beside those who decided."""
        said = set(self.of(pair).values())
        if {"same", "different"} <= said:
            return "conflict"
        kinds: tuple[Kind, ...] = get_args(Kind)
        return next((kind for kind in kinds if kind in said), "none")

    def last_action(self, author: str) -> list[Decision]:
        """Return what undoing the author's last action restores, a decision for each of its pairs."""
        stack = self._stacks.get(author, {})
        return stack[next(reversed(stack))] if stack else []

    @property
    def pairs(self) -> list[Pair]:
        """Every pair with a decision that counts, in the order of their first decisions."""
        return [pair for pair in self._latest if self.of(pair)]

    @property
    def confirmed(self) -> list[Pair]:
        """The pairs that are the same by every author who decided, as source and target IRI."""
        return self._with("same")

    @property
    def rejected(self) -> list[Pair]:
        """The pairs that are different by every author who decided, as source and target IRI."""
        return self._with("different")

    @property
    def conflicts(self) -> list[Conflict]:
        """The pairs that authors disagree about."""
        return [
            Conflict(*pair, self._authors(pair, "same"), self._authors(pair, "different"))
            for pair in self._with("conflict")
        ]

    def _with(self, verdict: Verdict) -> list[Pair]:
        return [pair for pair in self._latest if self.verdict(pair) == verdict]

    def _authors(self, pair: Pair, kind: Kind) -> tuple[str, ...]:
        return tuple(sorted(author for author, said in self.of(pair).items() if said == kind))
