"""Pairs of literal values, gathered first and compared together, as the evidence from literals does."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numba import njit

from largeea.evidence.attributes.compare_kernels import INCOMPARABLE, LEVELS, level_of, working_space
from largeea.evidence.attributes.kinds import TEXT, typed_values
from largeea.evidence.attributes.texts import characters, joined
from largeea.evidence.attributes.values import ValueTable
from largeea.graph import Float32, Int8, Int32, strings
from largeea.graph.interning import encoded

DeclaredText = tuple[str, int]
"""A value as it is written, and what its datatype declares (`kinds.declared_kinds`)."""


class Comparison:
    """Values that are to be compared for numbered cells; a cell has the best agreement of its pairs.

    Numbers, dates and codes agree in levels. So do texts, by the edit distance of their sorted words, so that
    the order of words does not matter. The agreement of a pair depends on its two values alone.
    """

    def __init__(self) -> None:
        self._values: dict[DeclaredText, int] = {}
        self._pairs: list[tuple[int, int, int]] = []
        self._settled: list[tuple[int, float]] = []

    def add(self, cell: int, one: DeclaredText, other: DeclaredText) -> None:
        """Compare two values for a cell."""
        first, second = (self._values.setdefault(value, len(self._values)) for value in (one, other))
        self._pairs.append((cell, first, second))

    def settle(self, cell: int, agreement: float) -> None:
        """Give a cell an agreement that needs no comparison."""
        self._settled.append((cell, agreement))

    def best(self, cells: int, default: float) -> Float32:
        """The best agreement of each cell, in [0, 1], `[cells]`; `default` where nothing was compared."""
        pairs = np.array(self._pairs, np.int32).reshape(-1, 3)
        settled = np.array(self._settled, np.float64).reshape(-1, 2)
        cell = np.concatenate([pairs[:, 0], settled[:, 0].astype(np.int32)])
        agreement = np.concatenate([self._agreements(pairs), settled[:, 1]])
        best = np.full(cells, default, np.float32)
        best[cell] = 0
        np.maximum.at(best, cell, agreement.astype(np.float32))
        return best

    def _agreements(self, pairs: Int32) -> Float32:
        if not len(pairs):
            return np.empty(0, np.float32)
        texts, declared = zip(*self._values, strict=True)
        table, value = _table(list(texts), np.array(declared, np.int8))
        levels = np.full(len(pairs), INCOMPARABLE, np.int8)
        _compare_pairs(value[pairs[:, 1]], value[pairs[:, 2]], table, levels)
        return np.where(levels == INCOMPARABLE, np.float32(0), 1 - levels / np.float32(LEVELS - 1))


def _table(texts: list[str], declared: Int8) -> tuple[ValueTable, Int32]:
    """The distinct values of some texts, and which of them each text is; -1 if nothing can be compared."""
    typed = typed_values(strings(texts), declared)
    in_order = [" ".join(sorted(text.split())) if text else None for text in typed.text.to_pylist()]
    spelt = pc.if_else(pa.array(typed.kind == TEXT), strings(in_order), typed.text)
    value = encoded(joined(pc.cast(pa.array(typed.kind), pa.large_string()), " ", spelt)).places
    _, first = np.unique(value[value >= 0], return_index=True)
    row = np.flatnonzero(value >= 0)[first]
    text, pointers = characters(strings(spelt.take(pa.array(row))))
    no_tokens = np.empty(0, np.int32), np.zeros(len(row) + 1, np.int64), np.empty(0, np.float32)
    table = ValueTable(
        typed.kind[row], typed.number[row], typed.date[row], np.zeros(len(row), bool), text, pointers,
        *no_tokens, np.zeros(len(row), np.float32), int(np.diff(pointers).max(initial=1)),
    )  # fmt: skip
    return table, value


@njit(cache=True, nogil=True)
def _compare_pairs(one: Int32, other: Int32, table: ValueTable, levels: Int8) -> None:
    """Write how far each pair of values agrees to `levels[pairs]`; a value of -1 agrees with none."""
    places, steps = working_space(table)
    for pair in range(len(levels)):
        if one[pair] >= 0 and other[pair] >= 0:
            levels[pair] = level_of(one[pair], other[pair], table, places, steps)
