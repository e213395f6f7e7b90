"""Suggestions while a user types: entities, properties and types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc

from largeea.graph import Bool, Int32, strings
from largeea.names.labels import latinised
from largeea.web.reconcile.answers import Reconciler
from largeea.web.reconcile.facts import Property
from largeea.web.reconcile.schema import Type

PAGE = 20
"""Suggestions in one answer."""
MOST_NAMES = 10_000
"""Names with the same beginning that are looked through."""


class Suggestions:
    """Suggests entities, properties and types by identifier or by the beginning of their names."""

    def __init__(self, reconciler: Reconciler) -> None:
        self._reconciler = reconciler
        self._properties = _Catalogue(reconciler.schema.properties)
        self._types = _Catalogue(reconciler.schema.types)

    def entities(self, prefix: str, cursor: int) -> dict[str, Any]:
        """Entities whose name begins with `prefix`, by name; if there are none, those with similar names."""
        facts, index = self._reconciler.facts, self._reconciler.names
        latin = latinised(strings([prefix]))[0].as_py()
        rows = index.by_name.rows_from(latin)[:MOST_NAMES] if latin else index.entity[:0]
        found = _in_order(index.entity[rows])
        exact = facts.find(prefix) if prefix else -1
        if exact >= 0 and facts.linkable[exact]:
            found = _in_order(np.concatenate([np.array([exact], np.int32), found]))
        if not len(found) and latin:
            found = index.search([prefix])[0].entity
        return {"result": [self._entity(entity) for entity in found[cursor : cursor + PAGE].tolist()]}

    def properties(self, prefix: str, cursor: int) -> dict[str, Any]:
        """Properties, the most frequent first."""
        return self._properties.page(prefix, cursor)

    def types(self, prefix: str, cursor: int) -> dict[str, Any]:
        """Types, the most frequent first."""
        return self._types.page(prefix, cursor)

    def _entity(self, entity: int) -> dict[str, Any]:
        facts = self._reconciler.facts
        described = facts.description(entity)
        return {
            "id": facts.iri(entity),
            "name": facts.name(entity),
            "notable": self._reconciler.schema.types_of(entity),
            **({} if described is None else {"description": described}),
        }


class _Catalogue:
    """Properties or types in a fixed order, looked through by name."""

    def __init__(self, entries: Sequence[Property | Type]) -> None:
        self._entries = entries
        self._iris = strings([entry.iri for entry in entries])
        self._names = latinised(strings([entry.name for entry in entries]))

    def page(self, prefix: str, cursor: int) -> dict[str, Any]:
        """Entries with this identifier, then those whose name, then those in whose name a word begins so."""
        exact = np.asarray(pc.equal(self._iris, prefix), bool)
        latin = latinised(strings([prefix]))[0].as_py() or ""
        if prefix and not latin:
            found = np.flatnonzero(exact)
        else:
            begins = _true(pc.starts_with(self._names, latin))
            inside = _true(pc.match_substring(self._names, f" {latin}"))
            rank = np.where(exact, 0, np.where(begins, 1, 2))
            chosen = np.flatnonzero(exact | begins | inside)
            found = chosen[np.argsort(rank[chosen], kind="stable")]
        entries = [self._entries[place] for place in found[cursor : cursor + PAGE].tolist()]
        return {"result": [{"id": entry.iri, "name": entry.name} for entry in entries]}


def _in_order(entities: Int32) -> Int32:
    """Each entity once, in the order they come first."""
    _, first = np.unique(entities, return_index=True)
    return entities[np.sort(first)]


def _true(mask: Any) -> Bool:
    return np.asarray(pc.fill_null(mask, False), bool)
