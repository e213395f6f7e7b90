"""Explains the match of an entity, or why it has none: channel scores, shared neighbours, competitors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from typing import Any, Literal

import numpy as np

from largeea.entity_lookup import SIDES, Side, find_entity
from largeea.evidence.witnesses import SharedNeighbour, shared_neighbours
from largeea.finished import FinishedRun
from largeea.formats.prefixes import Curies
from largeea.graph import KnowledgeGraph
from largeea.matching.cardinality import Cardinality
from largeea.similarity import Similarity

__all__ = [
    "Candidate",
    "Entity",
    "Explanation",
    "SharedValue",
    "Side",
    "Verdict",
    "Witness",
    "explain",
    "find_entity",
    "shared_evidence",
    "shortened",
]

Status = Literal["accepted", "doubtful", "unmatched"]


@dataclass(frozen=True)
class Entity:
    """An entity by IRI and name."""

    iri: str
    name: str | None

    @classmethod
    def of(cls, graph: KnowledgeGraph, entity: int) -> Entity:
        """Return the entity with this id in the graph."""
        return cls(graph.entities[entity].as_py(), graph.names[entity].as_py())


@dataclass(frozen=True)
class Verdict:
    """A score and its rank among all candidates of the entity: 1 is the best, equal scores share a rank."""

    score: float
    rank: int


@dataclass(frozen=True)
class Candidate:
    """A possible counterpart. A verdict is None if the matrix has no entry for the pair (worst score)."""

    entity: Entity
    fused: Verdict | None
    channels: dict[str, Verdict | None]
    paired_with: Entity | None
    """The entity that the answer pairs it with, accepted or doubtful, if not the explained entity."""
    is_counterpart: bool = False
    """Whether the answer pairs it with the explained entity, which may have several counterparts."""


@dataclass(frozen=True)
class Witness:
    """A neighbour of the source entity whose anchor is a neighbour of the target entity.

    A relation is written `^IRI` if the entity is its tail (inverse direction).
    """

    source_relation: str
    source_neighbour: Entity
    target_relation: str
    target_neighbour: Entity
    strength: float
    """Its weight in the neighbour channel, in [0, 1]: `p A(r, r') min(f(r), f(r'))`."""


@dataclass(frozen=True)
class SharedValue:
    """A literal that both entities have: its predicate in each graph, and its text in the source graph."""

    source_predicate: str
    target_predicate: str
    value: str
    strength: float
    """As for `Witness`: an equal literal counts as a shared neighbour."""


@dataclass(frozen=True)
class Explanation:
    """The status of one entity, its counterpart, the evidence for it, and other candidates."""

    side: Side
    entity: Entity
    status: Status
    confidence: float | None
    seed: bool
    """Whether the pair was given as a seed."""
    counterpart: Candidate | None
    witnesses: tuple[Witness, ...]
    """Witnesses of the pair or, if unmatched, of the best candidate; strongest first."""
    values: tuple[SharedValue, ...]
    """Equal literals of the same pair, strongest first. Neighbour evidence is `1 - product of (1 - strength)`
    over witnesses and literals."""
    candidates: tuple[Candidate, ...]
    """Other counterparts, if the entity has several, then other candidates, best first."""
    linkable: bool = True
    """Whether the entity can be in the answer: it is in scope, and its role is matched."""

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        return asdict(self)


_IRIS: dict[type, tuple[str, ...]] = {
    Entity: ("iri",),
    Witness: ("source_relation", "target_relation"),
    SharedValue: ("source_predicate", "target_predicate"),
}
"""The fields that hold an IRI."""


def explain(run: FinishedRun, entity: int, side: Side, candidates: int = 3) -> Explanation:
    """Explain the match of the entity with this id on this side, with up to `candidates` competitors."""
    own, other = SIDES.index(side), 1 - SIDES.index(side)
    alignment, graphs = run.alignment, (run.source, run.target)
    pairs, numbers = alignment.pairs, np.arange(len(alignment.pairs))
    if alignment.cardinality is Cardinality.WITHIN:  # either end is a source
        pairs, numbers = np.concatenate([pairs, pairs[:, ::-1]]), np.tile(numbers, 2)
    at = np.flatnonzero(pairs[:, own] == entity)
    at = at[np.argsort(numbers[at])]
    pair = int(numbers[at[0]]) if len(at) else None
    counterparts = pairs[at, other].tolist()
    counterpart = None if pair is None else counterparts[0]
    by_fused = _verdicts(run.fused, entity, own)
    by_channel = {kind: _verdicts(channel, entity, own) for kind, channel in run.evidence.items()}

    def candidate(found: int) -> Candidate:
        owners, own_one = pairs[pairs[:, other] == found, own], found in counterparts
        return Candidate(
            Entity.of(graphs[other], found),
            by_fused.get(found),
            {kind: verdicts.get(found) for kind, verdicts in by_channel.items()},
            Entity.of(graphs[own], int(owners[0])) if len(owners) and not own_one else None,
            own_one,
        )

    others = counterparts[1:]
    free = [found for found in by_fused if found not in counterparts]
    rivals = others + free[: max(candidates - len(others), 0)]
    seen_with = next(iter(by_fused), None) if counterpart is None else counterpart
    pair_seen = None if seen_with is None else (entity, seen_with)[:: 1 - 2 * own]
    status: Status = "unmatched" if pair is None else "accepted" if alignment.accepted[pair] else "doubtful"
    witnesses, values = ((), ()) if pair_seen is None else shared_evidence(run, *pair_seen)
    return Explanation(
        side,
        Entity.of(graphs[own], entity),
        status,
        None if pair is None else float(alignment.confidence[pair]),
        pair is not None and bool((run.seeds.pairs == alignment.pairs[pair]).all(axis=1).any()),
        None if counterpart is None else candidate(counterpart),
        witnesses,
        values,
        tuple(candidate(found) for found in rivals),
        bool(graphs[own].linkable[entity]),
    )


def shortened(value: Any, curies: Curies) -> Any:
    """Return an explanation, or a part of one, with CURIEs in place of IRIs, to be shown."""
    if isinstance(value, tuple):
        return tuple(shortened(one, curies) for one in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    parts = {field.name: shortened(getattr(value, field.name), curies) for field in fields(value)}
    for name in _IRIS.get(type(value), ()):
        inverse = "^" * parts[name].startswith("^")
        parts[name] = inverse + curies.shorten(parts[name].removeprefix("^"))
    return replace(value, **parts)


def shared_evidence(
    run: FinishedRun, source: int, target: int
) -> tuple[tuple[Witness, ...], tuple[SharedValue, ...]]:
    """Return the evidence of the neighbour channel for this pair: shared neighbours and equal literals.

    Both are derived from the anchors and the relation agreement of the last round.
    """
    if run.joined is None:
        return (), ()
    graphs = run.source, run.target
    shared = shared_neighbours(run.joined, source, target)
    witnesses = tuple(
        Witness(
            _relation(graphs[0], one.source_relation),
            Entity.of(graphs[0], one.source_node),
            _relation(graphs[1], one.target_relation),
            Entity.of(graphs[1], one.target_node),
            one.strength,
        )
        for one in shared
        if one.source_node < graphs[0].size
    )
    literals = [one for one in shared if one.source_node >= graphs[0].size]
    return witnesses, tuple(_shared_values(run, source, literals)) if literals else ()


def _shared_values(run: FinishedRun, source: int, shared: list[SharedNeighbour]) -> Iterator[SharedValue]:
    """Yield the equal literals with their texts, looked up by predicate and value number."""
    graphs = run.source, run.target
    attributes, numbers = graphs[0].attributes, run.value_numbers
    for one in shared:
        predicate, value = (
            one.source_relation // 2 - len(graphs[0].relations),
            one.source_node - graphs[0].size,
        )
        same = (attributes.entity == source) & (attributes.predicate == predicate) & (numbers == value)
        text = attributes.values[int(attributes.value[np.argmax(same)])].as_py()
        predicates = _relation(graphs[0], one.source_relation), _relation(graphs[1], one.target_relation)
        yield SharedValue(*predicates, text, one.strength)


def _verdicts(similarity: Similarity, entity: int, axis: int) -> dict[int, Verdict]:
    """Return score and rank of every entry in a row (axis 0) or a column (axis 1), best first."""
    if axis == 0:
        ids, scores = similarity.row(entity)
    else:
        entries = np.flatnonzero(similarity.indices == entity)
        ids = (np.searchsorted(similarity.indptr, entries, side="right") - 1).astype(np.int32)
        order = np.lexsort((ids, -similarity.scores[entries]))
        ids, scores = ids[order], similarity.scores[entries][order]
    ranks = np.searchsorted(-scores, -scores, side="left") + 1
    return {
        found: Verdict(score, rank)
        for found, score, rank in zip(ids.tolist(), scores.tolist(), ranks.tolist(), strict=True)
    }


def _relation(graph: KnowledgeGraph, directed: int) -> str:
    """Return the IRI of a directed relation of `Edges`, prefixed with `^` if the node is its tail.

    Ids above those of the relations are predicates of literals.
    """
    place = directed // 2 - len(graph.relations)
    word = graph.relations[directed // 2] if place < 0 else graph.attributes.predicates[place]
    return "^" * (directed % 2) + str(word)
