"""Why an entity got its counterpart, or none: what each channel says, who bears witness, who competes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

import numpy as np
import pyarrow.compute as pc

from largeea.alignment import Alignment
from largeea.errors import UsageError
from largeea.evidence.agreement import relation_agreement
from largeea.evidence.anchors import Anchors
from largeea.evidence.edges import Edges
from largeea.evidence.literals import comparable
from largeea.graph import KnowledgeGraph, Strings, Task
from largeea.similarity import Similarity

Side = Literal["source", "target"]
Status = Literal["accepted", "review", "unmatched"]
SIDES: tuple[Side, Side] = ("source", "target")
NEAR = 5
"""Entities to offer where the one asked for is not there, or not the only one."""
_COMPARED, _ALIKE = 200, 0.6


@dataclass(frozen=True)
class Entity:
    """An entity as a reader knows it."""

    iri: str
    name: str | None

    @classmethod
    def of(cls, graph: KnowledgeGraph, entity: int) -> Entity:
        """The entity at a position of the graph."""
        return cls(graph.entities[entity].as_py(), graph.names[entity].as_py())


@dataclass(frozen=True)
class Verdict:
    """A score, and its rank among all that the entity has: 1 is the best, equals share a rank."""

    score: float
    rank: int


@dataclass(frozen=True)
class Candidate:
    """A possible counterpart. None stands where a matrix does not list the pair: worse than all it lists."""

    entity: Entity
    fused: Verdict | None
    channels: dict[str, Verdict | None]
    paired_with: Entity | None
    """Whom the answer gives it to, for review or accepted, if not to the entity that is explained."""


@dataclass(frozen=True)
class Witness:
    """A neighbour of the source entity whose accepted counterpart is a neighbour of the target entity.

    A relation that leads to the entity, not away from it, is written `^IRI`.
    """

    source_relation: str
    source_neighbour: Entity
    target_relation: str
    target_neighbour: Entity
    strength: float
    """How much it tells, in [0, 1]: `p A(r, r') min(f(r), f(r'))` as in the neighbour channel, with the
    accepted pairs for anchors."""


@dataclass(frozen=True)
class SharedValue:
    """A literal that both entities have, each by its predicate, as the source graph writes it."""

    source_predicate: str
    target_predicate: str
    value: str


@dataclass(frozen=True)
class Explanation:
    """All there is to say about one entity."""

    side: Side
    entity: Entity
    status: Status
    confidence: float | None
    seed: bool
    """Whether the pair was given, not found."""
    counterpart: Candidate | None
    witnesses: tuple[Witness, ...]
    """Of the pair or, without one, of the best candidate; strongest first."""
    values: tuple[SharedValue, ...]
    """Equal literals of the same pair, but for names."""
    candidates: tuple[Candidate, ...]
    """Other candidates, best first."""

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def explain(
    task: Task,
    fused: Similarity,
    channels: dict[str, Similarity],
    alignment: Alignment,
    entity: int,
    side: Side,
    candidates: int = 3,
) -> Explanation:
    """Everything that speaks for and against the counterpart of an entity, given by its position."""
    own, other = SIDES.index(side), 1 - SIDES.index(side)
    graphs = task.source, task.target
    at = np.flatnonzero(alignment.pairs[:, own] == entity)
    pair = int(at[0]) if len(at) else None
    counterpart = None if pair is None else int(alignment.pairs[pair, other])
    by_fused = _verdicts(fused, entity, own)
    by_channel = {kind: _verdicts(channel, entity, own) for kind, channel in channels.items()}

    def candidate(found: int) -> Candidate:
        owner = alignment.pairs[alignment.pairs[:, other] == found, own]
        return Candidate(
            Entity.of(graphs[other], found),
            by_fused.get(found),
            {kind: verdicts.get(found) for kind, verdicts in by_channel.items()},
            Entity.of(graphs[own], int(owner[0])) if len(owner) and owner[0] != entity else None,
        )

    rivals = [found for found in by_fused if found != counterpart][:candidates]
    seen_with = next(iter(by_fused), None) if counterpart is None else counterpart
    pair_seen = None if seen_with is None else (entity, seen_with)[:: 1 - 2 * own]
    status: Status = "unmatched" if pair is None else "accepted" if alignment.accepted[pair] else "review"
    return Explanation(
        side,
        Entity.of(graphs[own], entity),
        status,
        None if pair is None else float(alignment.confidence[pair]),
        pair is not None and bool((task.seeds.pairs == alignment.pairs[pair]).all(axis=1).any()),
        None if counterpart is None else candidate(counterpart),
        () if pair_seen is None else witnesses(alignment, *pair_seen),
        () if pair_seen is None else shared_literals(task, *pair_seen),
        tuple(candidate(found) for found in rivals),
    )


def witnesses(alignment: Alignment, source: int, target: int) -> tuple[Witness, ...]:
    """The matched neighbours of two entities, strongest first.

    Where several edges lead to a neighbour and to its counterpart, each bears witness once, with the one of
    the other graph that says most nearly the same.
    """
    graphs = alignment.source, alignment.target
    ours, theirs = _edges_like_those_of(graphs[0], source), _edges_like_those_of(graphs[1], target)
    anchors = Anchors.of(alignment.links, alignment.source.size, alignment.target.size)
    agreement = relation_agreement(ours, theirs, anchors).todok()
    relations_to = defaultdict(list)
    for other, matched in _edges_of(theirs, target):
        relations_to[matched].append(other)
    possible = []
    for relation, neighbour in _edges_of(ours, source):
        matched = int(anchors.target[neighbour])
        for other in relations_to.get(matched, ()):
            telling = min(ours.telling[relation], theirs.telling[other])
            strength = float(anchors.trust[neighbour] * agreement[relation, other] * telling)
            possible.append((-strength, relation, neighbour, other, matched))
    found = []
    used: set[tuple[Side, int, int]] = set()
    for weakness, relation, neighbour, other, matched in sorted(possible):
        edges: set[tuple[Side, int, int]] = {("source", relation, neighbour), ("target", other, matched)}
        if not edges & used:
            used |= edges
            here = _relation(graphs[0], relation), Entity.of(graphs[0], neighbour)
            there = _relation(graphs[1], other), Entity.of(graphs[1], matched)
            found.append(Witness(*here, *there, -weakness))
    return tuple(found)


def shared_literals(task: Task, source: int, target: int) -> tuple[SharedValue, ...]:
    """The equal literals of two entities, names left out: every pair of predicates that has them, once."""
    ours, theirs = _literals_of(task.source, source), _literals_of(task.target, target)
    found = {
        (predicate, other, value): SharedValue(predicate, other, written)
        for value, predicate, written in reversed(ours)
        for equal, other, _ in theirs
        if value == equal
    }
    return tuple(reversed(found.values()))


def find_entity(alignment: Alignment, wanted: str, side: Side | None = None) -> tuple[int, Side]:
    """The entity with this IRI, else with this name, else with this name in other letter case.

    Two that are each other's counterpart count as one: both have the same explanation.
    """
    graphs = {"source": alignment.source, "target": alignment.target}
    sides = SIDES if side is None else (side,)
    bare = wanted[1:-1] if wanted.startswith("<") and wanted.endswith(">") else wanted
    ways: list[Callable[[KnowledgeGraph], list[int]]] = [
        lambda graph: _where(graph.entities, bare),
        lambda graph: _where(graph.names, wanted),
        lambda graph: _where(pc.utf8_lower(graph.names), wanted.lower()),
    ]
    found = ([(one, entity) for one in sides for entity in way(graphs[one])] for way in ways)
    hits = next(filter(None, found), [])
    pair = [entity for _, entity in hits]
    same = [one for one, _ in hits] == list(SIDES) and (alignment.pairs == pair).all(axis=1).any()
    if len(hits) == 1 or same:
        return hits[0][1], hits[0][0]
    if hits:
        several = [_line(one, Entity.of(graphs[one], entity)) for one, entity in hits[: 2 * NEAR]]
        more = f"\n  and {len(hits) - len(several):,} more" if len(hits) > len(several) else ""
        way = "say which by its IRI" if side else "say which by its IRI, or by --side source or target"
        raise UsageError(f"{wanted!r} is {len(hits):,} entities; {way}:\n" + "\n".join(several) + more)
    near = [_line(one, Entity.of(graphs[one], entity)) for one, entity in _near(graphs, sides, bare)]
    advice = "; near are:\n" + "\n".join(near) if near else ""
    where = "either graph" if side is None else f"the {side} graph"
    raise UsageError(f"no entity of {where} has the IRI or name {wanted!r}{advice}")


def _verdicts(similarity: Similarity, entity: int, axis: int) -> dict[int, Verdict]:
    """Score and rank of everything the matrix lists for a row (axis 0) or a column (1), best first."""
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


def _edges_like_those_of(graph: KnowledgeGraph, entity: int) -> Edges:
    """All edges by the relations the entity has: enough to tell what those relations say, and far fewer."""
    head, relation, tail = graph.triples.T
    own = np.unique(relation[(head == entity) | (tail == entity)])
    return Edges.of(graph.triples[np.isin(relation, own)], graph.size, len(graph.relations))


def _edges_of(edges: Edges, node: int) -> Iterator[tuple[int, int]]:
    """Relation and neighbour of each edge of a node."""
    span = slice(edges.pointers[node], edges.pointers[node + 1])
    return zip(edges.relation[span].tolist(), edges.neighbour[span].tolist(), strict=True)


def _literals_of(graph: KnowledgeGraph, entity: int) -> list[tuple[str, str, str]]:
    """Value in one spelling, predicate, and value as it is written, of each literal that is no name."""
    rows = graph.attributes.rows[graph.attributes.entity == entity]
    written = graph.attributes.values.take(rows[:, 2])
    predicates = graph.attributes.predicates.take(rows[:, 1]).to_pylist()
    columns = comparable(written).to_pylist(), predicates, written.to_pylist()
    name = comparable(graph.names.slice(entity, 1))[0].as_py()
    return [row for row in zip(*columns, strict=True) if row[0] is not None and row[0] != name]


def _where(column: Strings, value: str) -> list[int]:
    return np.flatnonzero(np.asarray(pc.fill_null(pc.equal(column, value), False))).tolist()


def _near(graphs: dict[str, KnowledgeGraph], sides: tuple[Side, ...], wanted: str) -> list[tuple[Side, int]]:
    """Entities whose IRI or name looks like the one wanted, the likest first."""
    found: dict[tuple[Side, int], float] = {}
    for side in sides:
        for column in (graphs[side].entities, graphs[side].names):
            for entity, likeness in _alike(pc.utf8_lower(column), wanted.lower()):
                found[side, entity] = max(likeness, found.get((side, entity), 0.0))
    return sorted(found, key=lambda hit: (-found[hit], hit))[:NEAR]


def _alike(column: Strings, wanted: str) -> list[tuple[int, float]]:
    """Texts that share much with the one wanted; compared in full only if they share most of its trigrams."""
    trigrams = sorted({wanted[i : i + 3] for i in range(max(len(wanted) - 2, 1))})
    shared = np.zeros(len(column), np.int32)
    for trigram in trigrams:
        shared += np.asarray(pc.fill_null(pc.match_substring(column, trigram), False))
    length = np.asarray(pc.fill_null(pc.utf8_length(column), 0))
    promising = np.lexsort((length, -shared))[:_COMPARED]
    ratios = (
        (entity, SequenceMatcher(None, wanted, column[entity].as_py(), autojunk=False).ratio())
        for entity in promising[shared[promising] > 0].tolist()
    )
    return [(entity, ratio) for entity, ratio in ratios if ratio >= _ALIKE]


def _line(side: Side, entity: Entity) -> str:
    return f"  {side}: {entity.iri}" + (f" ({entity.name})" if entity.name else "")


def _relation(graph: KnowledgeGraph, directed: int) -> str:
    """The IRI of a relation of `Edges`, with `^` before it where it leads to the node."""
    return "^" * (directed % 2) + str(graph.relations[directed // 2])
