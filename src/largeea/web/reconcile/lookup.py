"""Lookups that are made once: texts by bisection, rows by key."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Int32, Int64, Strings


@dataclass(frozen=True, eq=False)
class SortedTexts:
    """Texts in ascending order, and the row that each comes from; null texts are left out.

    Example: `SortedTexts.of(graph.entities).rows_of("http://example.org/a")`.
    """

    texts: Strings
    rows: Int32

    @classmethod
    def of(cls, texts: Strings) -> SortedTexts:
        """Sort a column of texts; rows with equal texts stay in their order."""
        known = np.flatnonzero(np.asarray(pc.is_valid(texts)))
        texts = texts.take(pa.array(known))
        order = pc.sort_indices(texts)
        return cls(texts.take(order), known[np.asarray(order)].astype(np.int32))

    def rows_of(self, text: str) -> Int32:
        """The rows whose text equals this one, `[n]`."""
        places = range(len(self.texts))
        first = bisect_left(places, text, key=self._text)
        return self.rows[first : bisect_right(places, text, lo=first, key=self._text)]

    def rows_from(self, prefix: str) -> Int32:
        """The rows whose text begins with a prefix, in the order of the texts, `[n]`."""
        places, length = range(len(self.texts)), len(prefix)
        first = bisect_left(places, prefix, key=self._text)
        last = bisect_right(places, prefix, lo=first, key=lambda place: self._text(place)[:length])
        return self.rows[first:last]

    def _text(self, place: int) -> str:
        text: str = self.texts[place].as_py()
        return text


@dataclass(frozen=True, eq=False)
class RowsByKey:
    """The rows of each key in CSR form: those of key k are `order[pointers[k] : pointers[k + 1]]`."""

    order: Int32
    pointers: Int64

    @classmethod
    def of(cls, keys: npt.NDArray[np.integer], size: int) -> RowsByKey:
        """Group rows by their key, which is in [0, size); the rows of a key stay in their order."""
        counts = np.bincount(keys, minlength=size)
        order = np.argsort(keys, kind="stable").astype(np.int32)
        return cls(order, np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]))

    def __getitem__(self, key: int) -> Int32:
        """The rows of a key, `[n]`."""
        return self.order[self.pointers[key] : self.pointers[key + 1]]
