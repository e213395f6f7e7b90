"""What the first cells of a column show: how many differ, of which kind they are, how long they are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.header import KINDS, words_of
from largeea.graph import Strings
from largeea.graph.lookup import are_in, distinct

_OF_ONE_KIND = 0.9
_INTEGER = r"^-?\d{1,18}$"
_LONG = 100
_KINDS_IN_WORDS = {
    "number": "numbers",
    "date": "dates",
    "code": "codes",
    "text": "text",
    "iri": "IRIs",
    "": "empty",
}


@dataclass(frozen=True)
class ColumnFacts:
    """The column at position `at`: words of its header, its distinct values, and counts of its cells."""

    at: int
    words: tuple[str, ...]
    values: Strings
    """Distinct values, white space trimmed, without empty ones."""
    rows: int
    filled: int
    kind: str
    """The kind of nearly all cells, see `header.KINDS`; `text` if they differ, nothing if all are empty."""
    mean_length: float
    first: str | None

    @property
    def whole(self) -> str:
        """The words of the header, joined with `_`."""
        return "_".join(self.words)

    @property
    def distinct(self) -> int:
        """Number of distinct values."""
        return len(self.values)

    @property
    def distinct_share(self) -> float:
        """Distinct values for each cell that is not empty."""
        return self.distinct / self.filled if self.filled else 0.0

    @property
    def can_be_id(self) -> bool:
        """Whether every row has another value, and the values are not dates, fractions or long texts."""
        if not self.rows or self.filled < self.rows or self.distinct < self.filled:
            return False
        return (
            self.kind != "date" and (self.kind != "number" or self.are_integers) and self.mean_length < _LONG
        )

    @cached_property
    def are_integers(self) -> bool:
        """Whether all values are integers."""
        return bool(pc.all(pc.match_substring_regex(self.values, _INTEGER)).as_py())

    @cached_property
    def density(self) -> float:
        """For integers, how many of the numbers in their range occur; 1 for anything else."""
        if not self.distinct or not self.are_integers:
            return 1.0
        numbers = np.asarray(self.values.cast(pa.int64()))
        return self.distinct / (float(numbers.max()) - float(numbers.min()) + 1)

    @property
    def is_row_number(self) -> bool:
        """Whether this is a column without header that counts the rows, as data frames write it."""
        if self.words or not self.can_be_id or not self.are_integers:
            return False
        return self.first in ("0", "1") and self.density == 1.0

    @property
    def in_words(self) -> str:
        """The kind in words."""
        return _KINDS_IN_WORDS[self.kind]

    def share_found_in(self, other: ColumnFacts) -> float:
        """The share of the distinct values that are values of the other column."""
        if not self.distinct:
            return 0.0
        return float(are_in(self.values, other.values).sum()) / self.distinct

    def shares_values_with(self, other: ColumnFacts) -> bool:
        """Whether any value is in both columns."""
        return self.share_found_in(other) > 0


def facts_of(at: int, title: str, cells: Strings) -> ColumnFacts:
    """The facts of one column, from its cells `[rows]`."""
    filled = pc.utf8_trim_whitespace(cells).drop_null()
    filled = filled.filter(pc.not_equal(filled, ""))
    values = distinct(filled)
    length = pc.mean(pc.utf8_length(filled)).as_py() if len(filled) else 0.0
    first = filled[0].as_py() if len(filled) else None
    return ColumnFacts(at, words_of(title), values, len(cells), len(filled), _kind(values), length, first)


def _kind(values: Strings) -> str:
    if not len(values):
        return ""
    least = _OF_ONE_KIND * len(values)
    counts = (
        (kind, pc.sum(pc.match_substring_regex(values, pattern)).as_py()) for kind, pattern in KINDS.items()
    )
    return next((kind for kind, count in counts if count >= least), "text")
