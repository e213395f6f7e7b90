"""Guesses the role of each column of a table from its header and its first rows.

A guess has doubts where the table does not tell: the reader then asks for `--columns` instead of going on.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from largeea.formats.column_facts import ColumnFacts, facts_of
from largeea.formats.columns import Columns, reference
from largeea.formats.guess import Guess
from largeea.formats.header import (
    ALIAS_WORDS,
    ID_WORDS,
    LINK_WORDS,
    NAME_WORDS,
    PART_OF_NAME_WORDS,
    TRIPLE_WORDS,
    VALUE_WORDS,
    WEB_WORDS,
    rank_of_name,
    triple_titles,
)
from largeea.graph import Strings

_ALL, _MANY, _FEW = 0.99, 0.9, 0.3
_SPARSE = 0.2
"""Integer ids fill less than this share of their range, so that a value is not among them by chance."""
_SURE_ID_WORDS = {"id", "ids", "identifier", "uri", "iri", "uuid", "guid"}
_SURE_LINK_WORDS = {"parent", "parents", "broader", "narrower", "superclass", "subclass"}
_WEAK_LINK_WORDS = {"nr", "no", "number", "nummer", "code", "key"}
"""Last words of headers of ids, but also of house numbers and the like."""
_ID_REASONS = {
    4: "by its header; every value is different",
    3: "by its header; every value is different",
    2: "IRIs, and every one is different",
    1: "every value is different",
    0: "the only column in which every value is different",
}
_LONGEST_NAME = 80
"""Mean number of characters; longer texts are descriptions."""


def guess_columns(titles: Sequence[str], header: bool | None, sample: Sequence[Strings]) -> Guess:
    """The roles of columns with these headers and these first cells `[columns][rows]`.

    `header` says whether the titles come from the file; None if the first row might be a header.
    """
    if (triple := triple_titles(titles)) is not None and header:
        roles = tuple(zip(triple, ("subject", "relation", "object"), strict=True))
        return Guess(Columns(*triple), tuple((title, role, "by its header") for title, role in roles))
    facts = [
        facts_of(at, title if header else "", cells)
        for at, (title, cells) in enumerate(zip(titles, sample, strict=True))
    ]
    if _are_triples(facts, header):
        roles = tuple(zip(titles, ("subject", "relation", "object"), strict=False))
        return Guess(Columns(), tuple((title, role, "rows are triples") for title, role in roles))
    return _Guessing(titles, header, facts).guess()


def _are_triples(facts: list[ColumnFacts], header: bool | None) -> bool:
    """Whether rows without known headers are triples: few relations, or entities in both other columns."""
    if len(facts) < 3:
        return False
    subject, relation, object = facts[:3]
    if len(facts) > 3 or header:
        customary = any(one.whole in NAME_WORDS or one.whole in ID_WORDS for one in facts)
        return not customary and subject.kind == relation.kind == "iri" and relation.distinct_share < _MANY
    if relation.kind in ("number", "date") and not subject.kind == relation.kind == object.kind:
        return False
    repeated = relation.distinct < relation.filled or relation.kind == "iri" or relation.rows < 3
    return repeated or subject.shares_values_with(object)


class _Guessing:
    """The guess of one table, made role by role."""

    def __init__(self, titles: Sequence[str], header: bool | None, facts: list[ColumnFacts]) -> None:
        self.titles, self.header, self.facts = list(titles), header, facts
        self.roles: dict[int, tuple[str, str]] = {}
        self.doubts: list[str] = []

    def guess(self) -> Guess:
        """All roles, the id first."""
        repeated = sorted({title for title in self.titles if self.titles.count(title) > 1})
        if repeated and self.header:
            self.doubts.append(f"several columns have the header {', '.join(map(repr, repeated))}")
        subject = self._find_id()
        self.roles[subject.at] = "subject", self.reason
        for one in self.facts:
            if not one.filled and one.at not in self.roles:
                self.roles[one.at] = "ignored", "no values, or lists"
            elif one.is_row_number and one.at not in self.roles:
                self.roles[one.at] = "ignored", "row numbers"
        name = self._find_name(subject)
        for one in self.facts:
            if one.at not in self.roles:
                self.roles[one.at] = self._link_or_attribute(one, subject)
        if name is None and not any(role in ("links", "attributes") for role, _ in self.roles.values()):
            self.doubts.append("there are only ids, nothing to compare")
            name = subject.at
        columns = self._columns(self.titles, bool(self.header), subject.at, name)
        if self.header is None:
            cells = [one.first or "" for one in self.facts]
            named = shlex.quote(self._columns(cells, True, subject.at, name).to_text())
            question = "the first row may be data, or a header; if it is a header, give --columns"
            self.doubts.insert(0, f"{question} {named}")
        return Guess(columns, tuple(self._told(name)), tuple(self.doubts))

    def _find_id(self) -> ColumnFacts:
        """The column of ids; its reason is left in `reason`."""
        if (subject := self._find_edges()) is not None:
            return subject
        unique = [one for one in self.facts if one.can_be_id]
        ranked = sorted(unique, key=lambda one: (-_id_rank(one), one.at))
        called_id = [one for one in self.facts if one.whole in _SURE_ID_WORDS]
        if ranked and (not called_id or _id_rank(ranked[0]) > 2):
            best = _id_rank(ranked[0])
            rivals = [one for one in ranked if _id_rank(one) == best]
            self.reason = _ID_REASONS[best]
            if rivals[0].at != 0 and len(rivals) > 1:
                self.doubts.append(f"{self._named(rivals)} could each be the id")
            return ranked[0]
        nearly = max(called_id or self.facts, key=lambda one: (one.distinct_share, -one.at))
        self.reason = "by its header" if called_id else "the most different values"
        if not called_id or min(nearly.distinct, nearly.filled) < _ALL * nearly.rows:
            self.doubts.append(
                f"no id is in every row and different there: {self._named([nearly])} has {nearly.distinct:,} "
                f"values in {nearly.rows:,} rows (rows with the same id are one entity)"
            )
        return nearly

    def _find_edges(self) -> ColumnFacts | None:
        """The subject, if headers are those of subject and object, which may be an edge list."""
        heads, tails = (
            [one for one in self.facts if one.whole in TRIPLE_WORDS[role]] for role in ("subject", "object")
        )
        if not heads or not tails:
            return None
        self.reason = "by its header"
        self.roles[tails[0].at] = "links", "by its header"
        self.doubts.append(f"{self._named([*heads, *tails])} may be links between rows, but have no relation")
        return heads[0]

    def _find_name(self, subject: ColumnFacts) -> int | None:
        """The column of main names, None if there is none; aliases and row names get their roles."""
        free = [one for one in self.facts if one.at not in self.roles]
        for one in free:
            if one.whole in ALIAS_WORDS:
                self.roles[one.at] = "aliases", "by its header"
        titled = [one for one in free if one.at not in self.roles and name_rank(one)]
        titled.sort(key=lambda one: (-name_rank(one), one.at))
        if titled:
            main, *others = titled
            self.roles[main.at] = "name", "by its header"
            for one in others:
                if one.words[0] == main.words[0] or one.whole in NAME_WORDS:
                    self.roles[one.at] = "aliases", "by its header"
            if name_rank(main) == 1 and len(others):
                self.doubts.append(f"{self._named(titled)} could each be the name")
            return main.at
        if name_rank(subject) or subject.kind == "text":
            return subject.at
        parts = [one for one in free if one.whole in PART_OF_NAME_WORDS]
        if parts:
            self.doubts.append(
                f"{self._named(parts)} hold parts of names; a column with whole names is better"
            )
            return None
        texts = [one for one in free if one.at not in self.roles and could_be_name(one)]
        if len(texts) == 1:
            self.roles[texts[0].at] = "name", "the only column of short, different texts"
            return texts[0].at
        if texts:
            self.doubts.append(f"{self._named(texts)} could each be the name")
            self.roles[texts[0].at] = "name", "the first column of short, different texts"
            return texts[0].at
        return None

    def _link_or_attribute(self, one: ColumnFacts, subject: ColumnFacts) -> tuple[str, str]:
        """Whether a column holds ids of other rows, or values."""
        known = one.share_found_in(subject)
        hinted = bool(set(one.words) & LINK_WORDS) and not set(one.words) & VALUE_WORDS
        if one.kind == "iri":
            web = bool(set(one.words) & WEB_WORDS)
            linked = known > 0 or one.distinct_share < _MANY or (subject.kind == "iri" and not web)
            return ("links", "IRIs") if linked else ("attributes", "IRIs that occur once")
        if subject.kind == "number":
            telling = one.kind == "number" and one.distinct > 2 and subject.density < _SPARSE
            linked = known >= _MANY and (hinted or telling)
            if known >= _MANY and not linked and one.words[-1:] and one.words[-1] in _WEAK_LINK_WORDS:
                self.doubts.append(f"{self._named([one])} may hold ids of other rows, or other numbers")
        else:
            linked = known >= 0.5 and one.kind != "date" and (one.distinct > 1 or hinted)
        if not linked and set(one.words) & _SURE_LINK_WORDS and one.kind == subject.kind != "text":
            self.doubts.append(f"{self._named([one])} should hold ids of other rows, but few values are ids")
        return ("links", "ids of other rows") if linked else ("attributes", one.in_words)

    def _columns(self, titles: Sequence[str], by_header: bool, subject: int, name: int | None) -> Columns:
        """The roles as columns, by their headers or by their numbers."""

        def ref(at: int) -> str:
            return reference(titles, at, by_header)

        several = {
            role: tuple(ref(at) for at in sorted(self.roles) if self.roles[at][0] == role)
            for role in ("aliases", "links", "attributes")
        }
        return Columns(ref(subject), None, None, None if name is None else ref(name), **several)

    def _told(self, name: int | None) -> list[tuple[str, str, str]]:
        told = []
        for at, title in enumerate(self.titles):
            role, reason = self.roles[at]
            if at == name and role == "subject":
                role, reason = "subject and name", f"{reason}; no other column has names"
            told.append((title, role, reason))
        return told

    def _named(self, facts: Sequence[ColumnFacts]) -> str:
        return ", ".join(repr(self.titles[one.at]) for one in facts)


def _id_rank(one: ColumnFacts) -> int:
    """4: the header is an id word; 3: it ends or begins with one; 2: IRIs; 1: other values; 0: years etc."""
    if one.whole in ID_WORDS:
        return 4
    if one.words and {one.words[0], one.words[-1]} & ID_WORDS:
        return 3
    if one.kind == "iri" and not set(one.words) & WEB_WORDS:
        return 2
    return 0 if one.kind == "number" and set(one.words) & VALUE_WORDS else 1


def name_rank(one: ColumnFacts) -> float:
    """The rank of its header among headers of names, 0 if its values are not names."""
    return rank_of_name(one.words) if may_be_names(one) else 0


def may_be_names(one: ColumnFacts) -> bool:
    """Whether the values of a column are texts, and many of them are different."""
    return one.kind not in ("iri", "date", "number") and (one.rows < 10 or one.distinct_share >= _FEW)


def could_be_name(one: ColumnFacts) -> bool:
    """Whether a column has short, different texts, and no header that says otherwise."""
    known = set(one.words) & (VALUE_WORDS | WEB_WORDS | ID_WORDS)
    return (
        one.kind == "text" and one.distinct_share >= _MANY and one.mean_length <= _LONGEST_NAME and not known
    )
