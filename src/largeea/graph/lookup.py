"""Text columns looked up in each other, with a key that nobody knows.

Arrow's own functions (`index_in`, `is_in`, `unique`, `dictionary_encode`, `value_counts`) hash without a key:
whoever writes a file can choose texts that collide, and then they take quadratic time.
"""

from __future__ import annotations

import numpy as np

from largeea.graph.arrays import Bool, Int32, Int64, Strings
from largeea.graph.interning import StringTable, encoded


def places_in(texts: Strings, among: Strings) -> Int32:
    """The first position of each text among others, `[n]`; -1 where it is null or not there."""
    table = StringTable()
    numbers = table.number_column(among)
    found = table.number_column(texts, grows=False)
    if len(table) == len(among):
        return found
    first = np.full(len(table) + 1, -1, np.int32)
    first[numbers[::-1]] = np.arange(len(among) - 1, -1, -1, dtype=np.int32)
    first[-1] = -1
    return np.asarray(first[found])


def are_in(texts: Strings, among: Strings) -> Bool:
    """Which texts are among others, `[n]`; a null is not."""
    table = StringTable()
    table.number_column(among)
    return np.asarray(table.number_column(texts, grows=False) >= 0)


def distinct(texts: Strings) -> Strings:
    """The distinct texts in order of first appearance, without null."""
    return encoded(texts).values


def counted(texts: Strings) -> tuple[Strings, Int64]:
    """The distinct texts in order of first appearance, without null, and how often each occurs."""
    values, places = encoded(texts)
    return values, np.bincount(places[places >= 0], minlength=len(values))
