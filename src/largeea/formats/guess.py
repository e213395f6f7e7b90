"""`Guess`: what the columns of a table were taken for, and what is not clear."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from largeea.errors import InputError
from largeea.formats.columns import Columns

_MOST_SHOWN = 20
"""Columns that an error message lists."""


@dataclass(frozen=True)
class Guess:
    """The columns as guessed, what each column was taken for and why, and what is not clear."""

    columns: Columns
    roles: tuple[tuple[str, str, str], ...]
    """Header, role and reason of each column."""
    doubts: tuple[str, ...] = ()

    def refuse_doubts(self, path: Path | str) -> None:
        """Raise an error that names the doubts and the option to give, if there are doubts."""
        if not self.doubts:
            return
        roles = [f"  {title or 'no header'}: {role} ({reason})" for title, role, reason in self.roles]
        shown = [*roles[:_MOST_SHOWN], *(["  ..."] if len(roles) > _MOST_SHOWN else [])]
        guessed = shlex.quote(self.columns.to_text())
        raise InputError(
            f"it is not clear what the columns are: {'; '.join(self.doubts)}. Best guess:\n"
            + "\n".join(shown)
            + f"\nIf it is right, give --columns {guessed}, otherwise correct it. "
            "The parts are subject (the id), name, aliases, links (ids of other rows) and attributes "
            "(values), or subject, relation and object. If two tables differ, give --source-columns and "
            "--target-columns",
            path,
        )
