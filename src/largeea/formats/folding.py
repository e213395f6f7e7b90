"""`Statements`: the statements of a graph under construction, in which nodes can be folded into others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from largeea.formats.distinct import sorted_distinct
from largeea.graph import Bool, Int32, Int64, ReadCounts, Strings, strings
from largeea.graph.lookup import are_in, distinct, places_in
from largeea.graph.ranges import expand_ranges

_CASCADES = 8
"""How often blank nodes below a folded node are followed."""


@dataclass(eq=False)
class Statements:
    """The distinct statements of a graph under construction; see `GraphBuilder`.

    `triples[n, 3]` and `literals[m, 4]` hold positions in `entities` (sorted), `predicates`, `values` and
    `tags`. Folding appends to `predicates`, which may therefore be unsorted at the end.
    """

    entities: Strings
    predicates: Strings
    triples: Int32
    literals: Int32
    values: Strings
    tags: Strings
    counts: ReadCounts = field(default_factory=ReadCounts)
    classes: Int64 = field(default_factory=lambda: np.empty(0, np.int64))
    """Entities that class expressions have shown to be classes."""

    def predicate(self, iri: str) -> int:
        """The position of a predicate; -1 if there is none."""
        return int(pc.index(self.predicates, pa.scalar(iri, pa.large_string())).as_py())

    def is_predicate(self, iris: Iterable[str]) -> Bool:
        """Mask of the predicates that are among these, `[predicates]`."""
        return are_in(self.predicates, strings(iris))

    def add_predicates(self, iris: Strings) -> Int32:
        """The positions of these predicates, `[n]`; new ones are appended."""
        new = distinct(iris.filter(pa.array(~are_in(iris, self.predicates))))
        if len(new):
            self.predicates = pa.concat_arrays([self.predicates, new])
        return places_in(iris, self.predicates)

    def entity(self, iri: str) -> int:
        """The position of an entity; -1 if there is none."""
        at = self._first_from(iri)
        return at if at < len(self.entities) and self.entities[at].as_py() == iri else -1

    def starting_with(self, prefix: str) -> slice:
        """The entities that start with a prefix: sorted, they follow each other."""
        return slice(self._first_from(prefix), self._first_from(prefix[:-1] + chr(ord(prefix[-1]) + 1)))

    def _first_from(self, text: str) -> int:
        wanted, places = text.encode(), range(len(self.entities))
        return bisect_left(places, wanted, key=lambda at: self.entities[at].as_py().encode())

    @property
    def blank(self) -> Bool:
        """Mask of the blank nodes, `[entities]`."""
        mask = np.zeros(len(self.entities), bool)
        mask[self.starting_with("_:")] = True
        return mask

    def mask(self, nodes: npt.NDArray[np.integer]) -> Bool:
        """Nodes as a mask, `[entities]`."""
        mask = np.zeros(len(self.entities), bool)
        mask[nodes] = True
        return mask

    def typed(self, types: Iterable[str], type_predicate: str) -> Bool:
        """Mask of the nodes that have one of these types, `[entities]`."""
        wanted = [place for place in map(self.entity, types) if place >= 0]
        relation = self.predicate(type_predicate)
        if relation < 0 or not wanted:
            return np.zeros(len(self.entities), bool)
        is_wanted = self.mask(np.array(wanted))
        types_of = self.triples[self.triples[:, 1] == relation]
        return self.mask(types_of[is_wanted[types_of[:, 2]], 0])

    def fold(self, gone: Bool, triples: Int32, literals: Int32, **found: int) -> None:
        """Remove all statements of the nodes `gone`, and add the statements that replace them.

        Blank nodes that only these nodes led to disappear, too. `found` counts the nodes by what they were.
        """
        ours, theirs = self.triples[:, 0], self.triples[:, 2]
        for _ in range(_CASCADES):
            below = self.mask(theirs[gone[ours]]) & self.blank & ~gone
            below[theirs[~gone[ours]]] = False
            if not below.any():
                break
            gone = gone | below
        triples = triples[~(gone[triples[:, 0]] | gone[triples[:, 2]])]
        literals = literals[~gone[literals[:, 0]]]
        kept = ~(gone[ours] | gone[theirs]), ~gone[self.literals[:, 0]]
        self.triples, repeated = sorted_distinct(np.concatenate([self.triples[kept[0]], triples]))
        self.literals, again = sorted_distinct(np.concatenate([self.literals[kept[1]], literals]))
        self.counts = self.counts + ReadCounts(
            folded=sum(int(np.count_nonzero(~mask)) for mask in kept),
            derived=len(triples) + len(literals),
            duplicates=repeated + again,
            **found,
        )

    def mentioned(self) -> Bool:
        """Mask of the entities that some statement mentions, `[entities]`."""
        mask = self.mask(self.triples[:, [0, 2]].ravel())
        mask[self.literals[:, 0]] = True
        return mask

    def without_lost(self, before: Bool) -> Statements:
        """The statements without the entities that were mentioned `before` and no longer are."""
        kept = self.mentioned() | ~before
        place = (np.cumsum(kept) - 1).astype(np.int32)
        triples, literals = self.triples.copy(), self.literals.copy()
        triples[:, 0], triples[:, 2] = place[triples[:, 0]], place[triples[:, 2]]
        literals[:, 0] = place[literals[:, 0]]
        classes = place[self.classes[kept[self.classes]]].astype(np.int64)
        entities = self.entities.filter(pa.array(kept))
        return replace(self, entities=entities, triples=triples, literals=literals, classes=classes)

    def in_order(self) -> Statements:
        """The statements with sorted predicates."""
        order = np.asarray(pc.sort_indices(self.predicates))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        triples, literals = self.triples.copy(), self.literals.copy()
        triples[:, 1], literals[:, 1] = place[triples[:, 1]], place[literals[:, 1]]
        return replace(
            self,
            predicates=self.predicates.take(pa.array(order)),
            triples=sorted_distinct(triples)[0],
            literals=sorted_distinct(literals)[0],
        )


def joined(
    keys: npt.NDArray[np.integer], table: npt.NDArray[np.integer]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """All matches of `keys[n]` with the ascending `table[m]`: positions in keys and in table, `[matches]`."""
    first, last = (np.searchsorted(table, keys, side) for side in ("left", "right"))
    return expand_ranges(first, last - first)
