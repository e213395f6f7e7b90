"""Answers to reconciliation queries: candidates by name, judged by types and properties."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from largeea.evidence.attributes.kinds import UNDECLARED
from largeea.graph import Bool, Float32, Int32, KnowledgeGraph
from largeea.web.reconcile.comparison import Comparison
from largeea.web.reconcile.facts import Facts
from largeea.web.reconcile.index import Found, NameIndex, name_rows
from largeea.web.reconcile.properties import AGREES, UNKNOWN, Properties
from largeea.web.reconcile.queries import MAX_LIMIT, BadRequest, Query
from largeea.web.reconcile.run_links import RunLinks
from largeea.web.reconcile.schema import Schema

PROPERTY_WEIGHT = 0.5
"""Weight of all given properties together relative to the name."""
GROUP = 50
"""Queries that are searched together; bounds the memory of a batch."""
WRONG_TYPE = 0.5
"""What a score is multiplied by if a type should be there and is not (`type_strict` is "should")."""


class Judged(NamedTuple):
    """Candidates of one query, `[n]` each, in any order.

    name: the score of the name, in [0, 1]; 0 throughout if the query has no name.
    agreement: with each given property, `[n, properties]`.
    typed: whether the types are right; equal: whether name or identifier are equal, or a run linked them.
    """

    entity: Int32
    name: Float32
    agreement: Float32
    typed: Bool
    equal: Bool

    def keep(self, mask: Bool) -> Judged:
        """The candidates of a mask, `[n]`."""
        return Judged(
            self.entity[mask], self.name[mask], self.agreement[mask], self.typed[mask], self.equal[mask]
        )


class Reconciler:
    """Answers reconciliation queries about one graph."""

    def __init__(self, graph: KnowledgeGraph, links: RunLinks | None = None) -> None:
        self.facts = Facts(graph)
        self.schema = Schema(self.facts)
        self.names = NameIndex.of(graph)
        self.links = links
        self._properties = Properties(self.facts, self.schema)

    def answer(self, queries: Mapping[str, Query], seconds: float) -> dict[str, Any]:
        """The result of each query by its key; queries are searched in groups but do not affect each other.

        Stops with status 503 when the time is over.
        """
        deadline = time.monotonic() + seconds
        results: dict[str, Any] = {}
        keys = list(queries)
        for first in range(0, len(keys), GROUP):
            group = keys[first : first + GROUP]
            if time.monotonic() > deadline:
                raise BadRequest(f"the batch took more than {seconds:g} s; send fewer queries at a time", 503)
            found = self._results([queries[key] for key in group])
            results |= {key: {"result": result} for key, result in zip(group, found, strict=True)}
        return results

    def _results(self, queries: list[Query]) -> list[list[dict[str, Any]]]:
        """The candidates of each query."""
        found = [
            candidates if query.text else self._by_values(query)
            for query, candidates in zip(
                queries, self._search([query.text for query in queries]), strict=True
            )
        ]
        asked = [(part.entity, query.properties) for query, part in zip(queries, found, strict=True)]
        agreement = self._properties.agreement(asked)
        return [self._result(*each) for each in zip(queries, found, agreement, strict=True)]

    def _search(self, texts: list[str]) -> list[Found]:
        """Candidates by name or identifier; a run's link replaces the score of the name."""
        found = self.names.search(texts)
        if self.links is None:
            return [self._by_identifier(text, by_name) for text, by_name in zip(texts, found, strict=True)]
        latin = name_rows(texts).latin.to_pylist()
        return [
            self._by_link(text, name, self._by_identifier(text, by_name))
            for text, name, by_name in zip(texts, latin, found, strict=True)
        ]

    def _by_identifier(self, text: str, found: Found) -> Found:
        """The entity with this identifier comes first; nothing else is meant by a whole IRI."""
        entity = self.facts.find(text) if text else -1
        if entity < 0 or not self.facts.linkable[entity]:
            return found
        if self.facts.iri(entity) == text:
            found = found.keep(np.zeros(len(found.entity), bool))
        return _with_first(found, entity, 1.0)

    def _by_link(self, text: str, latin: str | None, found: Found) -> Found:
        """The counterpart has the run's confidence, and the others share what is left of 1."""
        counterpart = self.links.find(text, latin) if self.links else None
        if counterpart is None:
            return found
        left = np.float32(1 - counterpart.confidence)
        found = Found(found.entity, found.score * left, np.zeros_like(found.equal))
        return _with_first(found, *counterpart)

    def _by_values(self, query: Query) -> Found:
        """The candidates of a query without a name."""
        entity = self._properties.entities_with(query.properties)
        return Found(entity, np.zeros(len(entity), np.float32), np.zeros(len(entity), bool))

    def _result(self, query: Query, found: Found, agreement: Float32) -> list[dict[str, Any]]:
        typed = np.array([self._has_types(entity, query) for entity in found.entity.tolist()], bool)
        judged = Judged(found.entity, found.score, agreement, typed, found.equal)
        if query.type_strict != "should":
            judged = judged.keep(typed)
        scores, sure = _scores(query, judged), _sure(judged)
        order = np.lexsort((judged.entity, ~judged.equal, -scores))[: min(query.limit, MAX_LIMIT)]
        return [self._candidate(query, judged, place, scores[place], sure) for place in order.tolist()]

    def _has_types(self, entity: int, query: Query) -> bool:
        if not query.types:
            return True
        together = all if query.type_strict == "all" else any
        return together(self.schema.has_type(entity, kind) for kind in query.types)

    def _candidate(self, query: Query, judged: Judged, place: int, score: float, sure: int) -> dict[str, Any]:
        entity = int(judged.entity[place])
        features: dict[str, float | bool] = {"name": _percent(judged.name[place])} if query.text else {}
        for constraint, agreement in zip(query.properties, judged.agreement[place].tolist(), strict=True):
            features[f"property:{constraint.pid}"] = _percent(agreement)
        if query.types:
            features["type"] = bool(judged.typed[place])
        described = self.facts.description(entity)
        return {
            "id": self.facts.iri(entity),
            "name": self.facts.name(entity),
            "type": self.schema.types_of(entity),
            "score": _percent(score),
            "match": place == sure,
            "features": [{"id": name, "value": value} for name, value in features.items()],
            **({} if described is None else {"description": described}),
        }


def warm_up(reconciler: Reconciler) -> None:
    """Compile what the first queries would have to wait for."""
    comparison = Comparison()
    comparison.add(0, ("1", UNDECLARED), ("2", UNDECLARED))
    comparison.best(1, 0)
    reconciler.answer({"": Query(query="a")}, 60)


def _scores(query: Query, judged: Judged) -> Float32:
    """The scores in [0, 1]: the name and the mean agreement of properties, lowered for a wrong type."""
    scores = judged.name
    if query.properties:
        agreement = PROPERTY_WEIGHT * judged.agreement.mean(axis=1)
        scores = (scores + agreement) / (PROPERTY_WEIGHT + bool(query.text))
    return np.asarray(np.where(judged.typed, scores, WRONG_TYPE * scores), np.float32)


def _sure(judged: Judged) -> int:
    """The place of the only candidate that is equal, has the right types and contradicts no property; or -1.

    A candidate without a value does not contradict, unless another has the right one.
    """
    agrees = (judged.agreement >= AGREES) | (judged.agreement == UNKNOWN)
    possible = np.flatnonzero(judged.equal & judged.typed & agrees.all(axis=1))
    if len(possible) > 1:
        known = (judged.agreement[possible] >= AGREES).sum(axis=1)
        possible = possible[known == known.max()]
    return int(possible[0]) if len(possible) == 1 else -1


def _with_first(found: Found, entity: int, score: float) -> Found:
    """The candidates with one more in front, which is sure; it is not repeated."""
    others = found.keep(found.entity != entity)
    return Found(
        np.concatenate([np.array([entity], np.int32), others.entity]),
        np.concatenate([np.array([score], np.float32), others.score]),
        np.concatenate([np.ones(1, bool), others.equal]),
    )


def _percent(share: float) -> float:
    return round(100 * float(share), 2)
