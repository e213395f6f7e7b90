"""All names of all entities, one a row: the main name of every entity first, then aliases.

Names are compared with names, and two entities are as similar as those two of their names that agree best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.execution.jobs import over_rows
from largeea.formats.naming import (
    LABEL_PREDICATES,
    LOCAL_NAME_WEIGHT,
    camel_case_split,
    in_camel_case,
    label_rows,
)
from largeea.graph import Arrays, Bool, Float32, Int8, Int32, Int64, KnowledgeGraph, Role, Strings
from largeea.names.aliases import Aliases, choose_aliases
from largeea.names.labels import bare_names, latinised

ROWS_AT_ONCE = 1 << 14
"""Names that are transliterated together, so that the Python strings on the way stay few."""
Columns = dict[str, Any]
"""Storable columns by name: numpy arrays and Arrow text columns."""


def name_rows(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    kinds: Arrays,
    max_aliases: int,
    alias_predicates: tuple[str, ...],
) -> Columns:
    """The main name and up to `max_aliases` others of every entity that is matched; see `Names`.

    Entities of kind -1 (see `matched_kinds`) have no names here, so that none is compared with them.
    """
    ours, theirs = choose_aliases(source, target, max_aliases, alias_predicates)
    sides = NameRows.of(source, ours, kinds["source"]), NameRows.of(target, theirs, kinds["target"])
    return Names(*sides).to_columns()


def name_rows_memory(rows: int, characters: int) -> int:
    """Bytes that `name_rows` needs at its peak, for so many names of both sides with so many characters."""
    return 25 * rows + 3 * characters + 100 * min(rows, 16 * ROWS_AT_ONCE)


@dataclass(frozen=True, eq=False)
class NameRows:
    """One graph's names, `[rows]`. Row i below `size` is the main name of entity i, null where it has none.

    texts: the names as they are written, but with words apart that camel case joins.
    entity: whose name each is; ascending among the aliases, which come after the main names.
    kind: the kind of each entity, `[size]`; only names of entities of equal kind are compared.
    weights: how much agreement with each name counts, 1 for labels.
    latin: the names in lower-case Latin letters, without punctuation.
    bracketed: the rows whose name ends with something in brackets.
    bare: the Latin names of those rows without the brackets.
    written: for each row, the row with the same text before other readings were added; empty if none were.
    """

    texts: Strings
    entity: Int32
    kind: Int8
    weights: Float32
    latin: Strings
    bracketed: Int32
    bare: Strings
    written: Int32 = field(default_factory=lambda: np.empty(0, np.int32))

    @classmethod
    def of(cls, graph: KnowledgeGraph, aliases: Aliases, kinds: Int8) -> NameRows:
        """The names of the entities of a graph whose kind is not -1."""
        matched = kinds >= 0
        kept = matched[aliases[0]]
        others, weights = aliases[0][kept], aliases[2][kept]
        entity = np.concatenate([np.arange(graph.size, dtype=np.int32), others])
        names = graph.names if matched.all() else pc.if_else(pa.array(matched), graph.names, None)
        texts = pa.concat_arrays([names, aliases[1].filter(pa.array(kept))]) if len(others) else names
        texts = with_words_apart(texts, np.isin(graph.roles, (Role.CLASS, Role.PROPERTY))[entity])
        bare = _in_blocks(bare_names, texts)
        bracketed = np.flatnonzero(np.asarray(pc.is_valid(bare))).astype(np.int32)
        weights = np.concatenate([main_weights(graph), weights])
        return cls(
            texts,
            entity,
            kinds,
            weights,
            _in_blocks(latinised, texts),
            bracketed,
            _in_blocks(latinised, bare.drop_null()),
        )

    def read_as(self, rows: Int64, latin: Strings, bare: Strings) -> NameRows:
        """The names with other readings of some rows, whose readings so far become aliases.

        `rows` ascend. `bare` are the new readings of those rows that have brackets, without the brackets.
        """
        read = np.zeros(len(self), bool)
        read[rows] = True
        with_brackets = read[self.bracketed]
        latins = pa.concat_arrays([_replaced(self.latin, read, latin), self.latin.filter(pa.array(read))])
        bares = pa.concat_arrays(
            [_replaced(self.bare, with_brackets, bare), self.bare.filter(pa.array(with_brackets))]
        )
        before = len(self) + np.searchsorted(rows, self.bracketed[with_brackets])
        bracketed = np.concatenate([self.bracketed, before])
        written = np.concatenate([np.arange(len(self)), rows])
        aliases = np.argsort(self.entity[written[self.size :]], kind="stable")
        order = np.concatenate([np.arange(self.size), self.size + aliases])
        place = np.argsort(order)[bracketed]
        return NameRows(
            self.texts.take(written[order]),
            self.entity[written[order]],
            self.kind,
            self.weights[written[order]],
            latins.take(order),
            np.sort(place).astype(np.int32),
            bares.take(np.argsort(place)),
            written[order].astype(np.int32),
        )

    def __len__(self) -> int:
        return len(self.entity)

    @property
    def size(self) -> int:
        """Number of entities."""
        return len(self.kind)

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
                columns[f"{side}_kind"],
                columns[f"{side}_weights"],
                columns[f"{side}_latin"],
                columns[f"{side}_bracketed"],
                columns[f"{side}_bare"],
                columns[f"{side}_written"],
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
                f"{side}_kind": rows.kind,
                f"{side}_weights": rows.weights,
                f"{side}_latin": rows.latin,
                f"{side}_bracketed": rows.bracketed,
                f"{side}_bare": rows.bare,
                f"{side}_written": rows.written,
            }
        return columns


def main_weights(graph: KnowledgeGraph) -> Float32:
    """How much the main name of each entity counts, `[size]`.

    Where a graph has labels, the last part of an IRI counts a little less than a label: the page about a
    thing, which has no label, often has the thing's name in its address.
    """
    labels = label_rows(graph.attributes, graph.label_predicates or LABEL_PREDICATES)
    weights = np.ones(graph.size, np.float32)
    if len(labels):
        weights[graph.named] = LOCAL_NAME_WEIGHT
        weights[labels[:, 0]] = 1
    return weights


def with_words_apart(names: Strings, terms: Bool) -> Strings:
    """The names, `[n]`, with "Sports Event" for "SportsEvent" where camel case separates words.

    That is so in names of `terms`, the classes and properties of an ontology, and in all names of a graph
    that has more names in camel case than names of several words. Elsewhere, "McDonald" is one word.
    """
    joined = in_camel_case(names)
    if joined.sum() <= (pc.sum(pc.match_substring(names, " ")).as_py() or 0):
        joined &= terms
    return _replaced(names, joined, camel_case_split(names.filter(pa.array(joined))))


def _replaced(texts: Strings, mask: Bool, by: Strings) -> Strings:
    return pc.replace_with_mask(texts, pa.array(mask), by)


def _in_blocks(function: Callable[[Strings], Strings], names: Strings) -> Strings:
    """`function(names)`, in blocks on all threads."""
    blocks = [names.slice(start, ROWS_AT_ONCE) for start in range(0, len(names), ROWS_AT_ONCE)] or [names]

    def replace(first: int, last: int) -> None:
        for block in range(first, last):
            blocks[block] = function(blocks[block])

    over_rows(replace, len(blocks), least=1)
    return pa.concat_arrays(blocks)
