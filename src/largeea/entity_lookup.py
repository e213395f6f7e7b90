"""Finds the entity that a user asks for by IRI, CURIE or name, and suggests similar ones if there is none."""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Literal

import numpy as np
import pyarrow.compute as pc

from largeea.errors import UsageError
from largeea.formats.prefixes import Curies
from largeea.graph import KnowledgeGraph, Strings
from largeea.matching.alignment import Alignment
from largeea.matching.cardinality import Cardinality

Side = Literal["source", "target"]
SIDES: tuple[Side, Side] = ("source", "target")
SUGGESTIONS = 5
"""Number of entities to suggest if the requested one is unknown; twice as many if it is ambiguous."""
_COMPARED = 200
"""Number of texts with the most shared trigrams whose similarity is computed."""
_MIN_SIMILARITY = 0.6
Graphs = dict[Side, KnowledgeGraph]
Hit = tuple[Side, int]


def find_entity(alignment: Alignment, wanted: str, side: Side | None = None) -> tuple[int, Side]:
    """Return the id and side of the entity with this IRI or CURIE, else this name, else ignoring case.

    Two entities that are each other's counterpart are not ambiguous: they have the same explanation.
    """
    graphs: Graphs = {"source": alignment.source, "target": alignment.target}
    sides: tuple[Side, ...] = SIDES if side is None else (side,)
    if alignment.cardinality is Cardinality.WITHIN:
        sides = ("source",)
    bare = wanted[1:-1] if wanted.startswith("<") and wanted.endswith(">") else wanted
    ways: list[Callable[[KnowledgeGraph], list[int]]] = [
        lambda graph: _where(graph.entities, bare),
        lambda graph: _where(graph.entities, Curies.of(graph).expand(bare)),
        lambda graph: _where(graph.names, wanted),
        lambda graph: _where(pc.utf8_lower(graph.names), wanted.lower()),
    ]
    found = ([(one, entity) for one in sides for entity in way(graphs[one])] for way in ways)
    hits: list[Hit] = next(filter(None, found), [])
    if len(hits) == 1 or _are_counterparts(hits, alignment):
        return hits[0][1], hits[0][0]
    if hits:
        raise _ambiguous(wanted, graphs, hits, side)
    unknown = Curies.of(alignment.source, alignment.target).advice(bare)
    where = "either graph" if side is None else f"the {side} graph"
    near = _listed(graphs, _similar(graphs, sides, bare))
    advice = f"; the most similar are:{near}" if near else ""
    raise UsageError(f"no entity of {where} has the IRI or name {wanted!r}{unknown}{advice}")


def _are_counterparts(hits: list[Hit], alignment: Alignment) -> bool:
    if [side for side, _ in hits] != list(SIDES):
        return False
    return bool((alignment.pairs == [entity for _, entity in hits]).all(axis=1).any())


def _ambiguous(wanted: str, graphs: Graphs, hits: list[Hit], side: Side | None) -> UsageError:
    shown = hits[: 2 * SUGGESTIONS]
    more = f"\n  and {len(hits) - len(shown):,} more" if len(hits) > len(shown) else ""
    advice = "say which by its IRI" if side else "say which by its IRI, or by --side source or target"
    return UsageError(f"{wanted!r} is {len(hits):,} entities; {advice}:{_listed(graphs, shown)}{more}")


def _listed(graphs: Graphs, hits: list[Hit]) -> str:
    """One line for each entity, each after a line feed."""
    lines = []
    for side, entity in hits:
        iri, name = graphs[side].entities[entity].as_py(), graphs[side].names[entity].as_py()
        lines.append(f"\n  {side}: {iri}" + (f" ({name})" if name else ""))
    return "".join(lines)


def _where(column: Strings, value: str) -> list[int]:
    return np.flatnonzero(np.asarray(pc.fill_null(pc.equal(column, value), False))).tolist()


def _similar(graphs: Graphs, sides: tuple[Side, ...], wanted: str) -> list[Hit]:
    """Return the entities whose IRI or name is similar to the requested one, most similar first."""
    found: dict[Hit, float] = {}
    for side in sides:
        for column in (graphs[side].entities, graphs[side].names):
            for entity, similarity in _similar_texts(pc.utf8_lower(column), wanted.lower()):
                found[side, entity] = max(similarity, found.get((side, entity), 0.0))
    return sorted(found, key=lambda hit: (-found[hit], hit))[:SUGGESTIONS]


def _similar_texts(column: Strings, wanted: str) -> list[tuple[int, float]]:
    """Return the rows with similar texts and their similarity; texts are preselected by shared trigrams."""
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
    return [(entity, ratio) for entity, ratio in ratios if ratio >= _MIN_SIMILARITY]
