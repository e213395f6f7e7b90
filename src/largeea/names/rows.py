"""All names of all entities, one a row: the main name of every entity first, then aliases.

Names are compared with names, and two entities are as similar as those two of their names that agree best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.graph import Float32, Int32, Int64, KnowledgeGraph, Strings
from largeea.names.aliases import Aliases, choose_aliases
from largeea.names.labels import bare_names, latinised

ALIAS_WEIGHT = 0.95
"""Weight of an alias relative to the main name: if all else is equal, main names agree better."""
ROWS_AT_ONCE = 1 << 16
"""Names that are transliterated together, so that the Python strings on the way stay few."""
Columns = dict[str, Any]
"""Storable columns by name: numpy arrays and Arrow text columns."""


def name_rows(
    source: KnowledgeGraph, target: KnowledgeGraph, max_aliases: int, alias_predicates: tuple[str, ...]
) -> Columns:
    """Every entity's main name and up to `max_aliases` others, ready to be compared; see `Names`."""
    ours, theirs = choose_aliases(source, target, max_aliases, alias_predicates)
    return Names(NameRows.of(source, ours), NameRows.of(target, theirs)).to_columns()


def name_rows_memory(rows: int, characters: int) -> int:
    """Bytes that `name_rows` needs at its peak, for so many names of both sides with so many characters."""
    return 20 * rows + 3 * characters + 100 * min(rows, ROWS_AT_ONCE)


@dataclass(frozen=True, eq=False)
class NameRows:
    """One graph's names, `[rows]`. Row i below `size` is the main name of entity i, null where it has none.

    texts: the names as they are written.
    entity: whose name each is; ascending among the aliases, which come after the main names.
    latin: the names in lower-case Latin letters, without punctuation.
    bracketed: the rows whose name ends with something in brackets.
    bare: the Latin names of those rows without the brackets.
    """

    texts: Strings
    entity: Int32
    size: int
    latin: Strings
    bracketed: Int32
    bare: Strings

    @classmethod
    def of(cls, graph: KnowledgeGraph, aliases: Aliases) -> NameRows:
        """The names of a graph."""
        entity = np.concatenate([np.arange(graph.size, dtype=np.int32), aliases[0]])
        texts = pa.concat_arrays([graph.names, aliases[1]]) if len(aliases[0]) else graph.names
        bare = bare_names(texts)
        bracketed = np.flatnonzero(np.asarray(pc.is_valid(bare))).astype(np.int32)
        return cls(texts, entity, graph.size, _latin(texts), bracketed, _latin(bare.drop_null()))

    def __len__(self) -> int:
        return len(self.entity)

    def weight(self, rows: Int64) -> Float32:
        """How much agreement with the names of these rows counts, `[n]`."""
        return np.where(rows < self.size, 1, ALIAS_WEIGHT).astype(np.float32)

    @property
    def discounted(self) -> Strings:
        """Latin names in which what comes before brackets counts twice: "mercury planet mercury", `[rows]`.

        Brackets tell namesakes apart, each graph in its own words: they should weigh less in n-grams.
        """
        if not len(self.bracketed):
            return self.latin
        mask = np.zeros(len(self), bool)
        mask[self.bracketed] = True
        whole = self.latin.filter(pa.array(mask))
        twice = pc.binary_join_element_wise(whole, self.bare, pa.scalar(" ", pa.large_string()))
        return pc.replace_with_mask(self.latin, pa.array(mask), pc.coalesce(twice, whole))


@dataclass(frozen=True, eq=False)
class Names:
    """The names of both graphs."""

    source: NameRows
    target: NameRows

    @classmethod
    def from_columns(cls, columns: Columns) -> Names:
        """From what `to_columns` gave."""
        sides = [
            NameRows(
                columns[f"{side}_texts"],
                columns[f"{side}_entity"],
                int(columns[f"{side}_size"][0]),
                columns[f"{side}_latin"],
                columns[f"{side}_bracketed"],
                columns[f"{side}_bare"],
            )
            for side in ("source", "target")
        ]
        return cls(*sides)

    def to_columns(self) -> Columns:
        """As storable columns."""
        columns: Columns = {}
        for side, rows in (("source", self.source), ("target", self.target)):
            columns |= {
                f"{side}_texts": rows.texts,
                f"{side}_entity": rows.entity,
                f"{side}_size": np.array([rows.size]),
                f"{side}_latin": rows.latin,
                f"{side}_bracketed": rows.bracketed,
                f"{side}_bare": rows.bare,
            }
        return columns


def _latin(names: Strings) -> Strings:
    """Latinised names, in blocks."""
    blocks = [latinised(names.slice(start, ROWS_AT_ONCE)) for start in range(0, len(names), ROWS_AT_ONCE)]
    return pa.concat_arrays(blocks) if blocks else latinised(names)
