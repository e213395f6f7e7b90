"""`Columns`: what each column of a table is, and its text form for `--columns`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from largeea.errors import InputError, UsageError

ROLES = ("subject", "relation", "object", "name", "aliases", "links", "attributes")
_SEVERAL = ("aliases", "links", "attributes")
_SIGNS = ",=+"
"""Headers that have these signs cannot be written in `--columns`; their numbers can."""


@dataclass(frozen=True)
class Columns:
    """The role of each column, given by its header or its number from 1.

    With a relation column, a row is a statement about its subject. Without one it is a record: `object` and
    `links` hold ids of other rows, and their headers are the relations; `name` holds the main name,
    `aliases` other names, and `attributes` values to compare.
    """

    subject: str = "1"
    relation: str | None = "2"
    object: str | None = "3"
    name: str | None = None
    attributes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Columns:
        """Columns from text such as `subject=id,name=label,links=parent,attributes=rank+year`."""
        given: dict[str, str] = {}
        for part in text.split(","):
            role, equals, column = (word.strip() for word in part.partition("="))
            if not equals or not column or role not in ROLES or role in given:
                again = " a second time" if role in given else ""
                raise UsageError(
                    f"--columns has {part!r}{again}; write for example "
                    "subject=id,name=label,links=parent,attributes=rank+year "
                    f"(parts: {', '.join(ROLES)}; columns by header or by number; "
                    f"several with +: {', '.join(_SEVERAL)})"
                )
            given[role] = column
        if "subject" not in given:
            raise UsageError("--columns must say which column is the subject, for example subject=1")
        if "relation" in given and "object" not in given:
            raise UsageError("--columns has a relation but no object; name the column of the object too")
        several = {
            role: tuple(one.strip() for one in given.get(role, "").split("+") if one.strip())
            for role in _SEVERAL
        }
        return cls(given["subject"], given.get("relation"), given.get("object"), given.get("name"), **several)

    def to_text(self) -> str:
        """What to write after `--columns` to get these columns."""
        parts = {role: getattr(self, role) for role in ROLES}
        words = {
            role: part if isinstance(part, str) else "+".join(part or ()) for role, part in parts.items()
        }
        return ",".join(f"{role}={word}" for role, word in words.items() if word)

    @property
    def used(self) -> list[str]:
        """All columns that have a role."""
        optional = (self.relation, self.object, self.name)
        several = (*self.aliases, *self.links, *self.attributes)
        return [self.subject, *(column for column in optional if column is not None), *several]

    @property
    def needed(self) -> list[str]:
        """The columns in which a row must not be empty."""
        if self.relation is None or self.object is None:
            return [self.subject]
        return [self.subject, self.relation, self.object]

    @property
    def identifiers(self) -> list[str]:
        """The columns with ids of entities or relations, each once."""
        ids = (self.subject, self.relation, self.object, *self.links)
        return list(dict.fromkeys(column for column in ids if column))

    @property
    def stating(self) -> list[str]:
        """The columns whose cells are statements about the subject, one each."""
        single = [column for column in (self.object, self.name) if column]
        return [*single, *self.aliases, *self.links, *self.attributes]


def reference(titles: Sequence[str], at: int, by_header: bool) -> str:
    """How to name the column at this position in `--columns`: by its header, else by its number."""
    title = titles[at]
    usable = title.strip() == title != "" and not any(sign in title for sign in _SIGNS)
    return title if by_header and usable and titles.count(title) == 1 else str(at + 1)


def place_of(column: str, titles: Sequence[str], path: Path | str) -> int:
    """The position of the column that has this header or, if none has, this number."""
    if titles.count(column) > 1:
        numbers = " and ".join(str(at + 1) for at, title in enumerate(titles) if title == column)
        raise InputError(
            f"has {titles.count(column)} columns {column!r}; give them different names, or their numbers "
            f"({numbers}) in --columns",
            path,
        )
    if column in titles:
        return titles.index(column)
    if column.isdigit() and 1 <= int(column) <= len(titles):
        return int(column) - 1
    raise InputError(f"has no column {column!r}; it has {', '.join(titles)} (or numbers from 1)", path)
