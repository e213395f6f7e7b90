"""The pairs of a run as columns: which are reviewed, and in which order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.finished import FEATURES, FinishedRun
from largeea.graph import Bool, Float32, Int8, Int32, KnowledgeGraph, Links, Role, strings
from largeea.matching.cardinality import Cardinality
from largeea.reviews import Pair

Order = Literal["doubtful", "sample", "lowest", "highest"]
Status = Literal["", "accepted", "doubtful"]
_KEPT_QUEUES = 8


@dataclass(frozen=True)
class Selection:
    """Which pairs to review, and in which order.

    doubtful: the pairs whose confidence is next to the threshold first.
    sample: accepted pairs that were not given as seeds, in random order; no other filter applies.
    lowest, highest: by confidence.
    """

    order: Order = "doubtful"
    status: Status = ""
    lowest: float = 0.0
    highest: float = 1.0
    role: str = ""
    """Name of the role of the source entity; empty for all."""
    evidence: str = ""
    """The kind of evidence that is strongest; empty for all."""
    text: str = ""
    """Part of a name or an IRI, ignoring case."""
    unreviewed: bool = False
    """Only pairs that had no decision after the first `since` decisions."""
    since: int = 0

    def __post_init__(self) -> None:
        for what, given, allowed in (
            ("order", self.order, get_args(Order)),
            ("status", self.status, get_args(Status)),
            ("role", self.role, ("", *(role.name.lower() for role in Role))),
        ):
            if given not in allowed:
                raise UsageError(f"unknown {what} {given!r}; there are: {', '.join(filter(None, allowed))}")
        if not 0 <= self.lowest <= self.highest <= 1:
            raise UsageError(f"the confidence must be between 0 and 1, not {self.lowest} to {self.highest}")


class PairTable:
    """The pairs of a finished run, `[n]` columns by pair number; text stays in the memory-mapped graphs."""

    def __init__(self, run: FinishedRun) -> None:
        self.source, self.target = run.source, run.target
        self.pairs, self.confidence = run.alignment.pairs, run.alignment.confidence
        self.accepted = run.alignment.accepted
        self.evidence = run.alignment.evidence
        self._seeds = run.seeds
        self._within = run.alignment.cardinality is Cardinality.WITHIN
        self._queues: OrderedDict[Selection, Int32] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self.pairs)

    @cached_property
    def distance(self) -> Float32:
        """How far the confidence of each pair is from the lowest that was accepted, `[n]`.

        Reviews next to the threshold raise F1 most: `benchmarks/reviews.py` compares orders.
        """
        found = self.confidence[self.accepted]
        return np.asarray(np.abs(self.confidence - found.min(initial=1.0)), np.float32)

    @property
    def kinds(self) -> list[str]:
        """The kinds of evidence that pairs have, without the parts that the name channel is made of."""
        return [kind for kind in self.evidence if kind not in FEATURES or "name" not in self.evidence]

    @cached_property
    def strongest(self) -> Int8:
        """Position in `kinds` of the strongest evidence of each pair, `[n]`."""
        if not self.kinds:
            return np.full(len(self), -1, np.int8)
        columns = np.column_stack([self.evidence[kind] for kind in self.kinds])
        highest: Int8 = np.argmax(columns, axis=1).astype(np.int8)
        return highest

    @cached_property
    def roles(self) -> list[str]:
        """The roles that source entities of pairs have."""
        return [Role(role).name.lower() for role in np.unique(self.source.roles[self.pairs[:, 0]])]

    @cached_property
    def sample(self) -> Int32:
        """The accepted pairs that were not given as seeds, in an order that is random and always the same."""
        given = Links(self.pairs).are_in(self._seeds)
        drawn = np.flatnonzero(self.accepted & ~given).astype(np.int32)
        return np.random.default_rng(len(drawn)).permutation(drawn)

    def partner_of_target(self, target: int) -> str | None:
        """The name of the entity that a target entity is paired with; None if it is in no pair."""
        number = int(self._pair_of_target[target])
        if number < 0:
            return None
        source, other = self.pairs[number].tolist()
        return name_of(self.source, source if other == target else other)

    @cached_property
    def _pair_of_target(self) -> Int32:
        """The number of the first pair that each target entity is in, `[targets]`, or -1."""
        found = np.full(self.target.size, -1, np.int32)
        for ends in (0, 1) if self._within else (1,):
            found[self.pairs[::-1, ends]] = np.arange(len(self))[::-1]
        return found

    def iris(self, pair: int) -> Pair:
        """The IRIs of a pair."""
        source, target = self.pairs[pair].tolist()
        return self.source.entities[source].as_py(), self.target.entities[target].as_py()

    def names(self, pair: int) -> tuple[str, str]:
        """The names of a pair; the IRI where there is none."""
        source, target = self.pairs[pair].tolist()
        return name_of(self.source, source), name_of(self.target, target)

    def find(self, pairs: list[Pair]) -> Int32:
        """The numbers of the pairs with these IRIs that are in the run, `[found]`."""
        if not pairs or not len(self):
            return np.empty(0, np.int32)
        ours, theirs = (strings(column) for column in zip(*pairs, strict=True))
        wanted = Links(np.column_stack([self.source.find(ours), self.target.find(theirs)]))
        keys = Links(self.pairs).keys
        order = np.argsort(keys, kind="stable")
        place = np.minimum(np.searchsorted(keys, wanted.keys, sorter=order), len(self) - 1)
        number: Int32 = order[place].astype(np.int32)
        known: Int32 = number[keys[number] == wanted.keys]
        return known

    def queue(self, selection: Selection, reviewed: Callable[[int], list[Pair]]) -> Int32:
        """The numbers of the selected pairs in order, `[selected]`.

        `reviewed(n)` are the pairs with a decision after the first n decisions. The same selection gives the
        same queue, so pairs do not move while they are reviewed.
        """
        with self._lock:
            if selection in self._queues:
                self._queues.move_to_end(selection)
                return self._queues[selection]
            found = self._select(selection, reviewed)
            self._queues[selection] = found
            if len(self._queues) > _KEPT_QUEUES:
                self._queues.popitem(last=False)
            return found

    def _select(self, selection: Selection, reviewed: Callable[[int], list[Pair]]) -> Int32:
        if selection.order == "sample":
            return self.sample
        chosen = (self.confidence >= selection.lowest) & (self.confidence <= selection.highest)
        if selection.status:
            chosen &= self.accepted == (selection.status == "accepted")
        if selection.role:
            chosen &= self.source.roles[self.pairs[:, 0]] == Role[selection.role.upper()]
        if selection.evidence:
            if selection.evidence not in self.kinds:
                raise UsageError(
                    f"unknown evidence {selection.evidence!r}; there are: {', '.join(self.kinds)}"
                )
            chosen &= self.strongest == self.kinds.index(selection.evidence)
        if selection.text:
            chosen &= self._with_text(selection.text)
        if selection.unreviewed:
            chosen[self.find(reviewed(selection.since))] = False
        found = np.flatnonzero(chosen).astype(np.int32)
        keys = {"doubtful": self.distance, "lowest": self.confidence, "highest": -self.confidence}
        return found[np.argsort(keys[selection.order][found], kind="stable")]

    def _with_text(self, text: str) -> Bool:
        """Mask of the pairs with this text in a name or an IRI, `[n]`."""
        found = np.zeros(len(self), bool)
        for graph, ids in ((self.source, self.pairs[:, 0]), (self.target, self.pairs[:, 1])):
            for column in (graph.entities, graph.names):
                hits = pc.match_substring(column.take(pa.array(ids)), text, ignore_case=True)
                found |= np.asarray(pc.fill_null(hits, False))
        return found


def name_of(graph: KnowledgeGraph, entity: int) -> str:
    """The name of an entity; its IRI if it has none."""
    return str(graph.names[entity].as_py() or graph.entities[entity].as_py())
