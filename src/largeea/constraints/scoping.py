"""The part of each entity in the matching: in scope, context, or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from largeea.constraints.selection import query_text, select
from largeea.constraints.types import Types
from largeea.errors import InputError, UsageError
from largeea.formats import ReadOptions
from largeea.formats.links.tsv import text_lines
from largeea.formats.prefixes import Curies, find_entities
from largeea.formats.scope import Scope, in_scope
from largeea.graph import Bool, Int32, KnowledgeGraph, Links, Part, Strings, strings
from largeea.progress import note, warn

Graphs = tuple[KnowledgeGraph, KnowledgeGraph]
_SHOWN, _LONGEST = 3, 200
_FIELDS = tuple(field.name for field in fields(Scope))


def as_scope(given: Scope | dict[str, Any] | None) -> Scope:
    """Return a scope that is given as such or as a dictionary, with the texts of its queries."""
    if isinstance(given, dict) and (unknown := sorted(given.keys() - set(_FIELDS))):
        raise UsageError(f"a scope has no {', '.join(unknown)}; it has {', '.join(_FIELDS)}")
    try:
        scope = TypeAdapter(Scope).validate_python(given or {})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
        raise UsageError(f"the scope is not valid: {problems}") from None
    ours, theirs = (text and query_text(text) for text in (scope.source_select, scope.target_select))
    return replace(scope, source_select=ours, target_select=theirs)


def scoped(
    source: KnowledgeGraph,
    target: KnowledgeGraph,
    scope: Scope,
    reading: ReadOptions,
    files: Sequence[Sequence[Path]] = ((), ()),
    links: Links | None = None,
) -> Graphs:
    """Return both graphs with the part that each entity has by the scope.

    `files` are those that each graph was read from, for queries. Entities of given `links` are in scope,
    whatever the scope says.
    """
    if not scope.selects:
        return source, target
    selected = (
        _selected(source, "source", scope.source_types, scope.source_select, files[0], reading.format),
        _selected(target, "target", scope.target_types, scope.target_select, files[1], reading.format),
    )
    context = Part.CONTEXT if any(mask is None for mask in selected) else Part.CONTEXT_APART
    left_out = strings() if scope.leave_out is None else _listed(scope.leave_out, source, target)
    known = links or Links.none()
    found = in_scope(
        _with_parts(source, "source", selected[0], context, left_out, known.source),
        _with_parts(target, "target", selected[1], context, left_out, known.target),
        reading.match,
    )
    for side, graph in zip(("source", "target"), found, strict=True):
        if not graph.linkable.any():
            raise UsageError(f"no entity of the {side} graph is in scope, so there is nothing to match")
        note(f"{side}: {int(graph.linkable.sum()):,} of {graph.size:,} entities are in scope")
    return found


def _selected(
    graph: KnowledgeGraph,
    side: str,
    types: tuple[str, ...],
    query: str | None,
    files: Sequence[Path],
    format: str | None,
) -> Bool | None:
    """Mask of the entities that have one of the types and that the query selects, `[size]`; None for all."""
    if not types and query is None:
        return None
    mask = Types.of(graph, side).instances(types) if types else np.ones(graph.size, bool)
    return mask if query is None else mask & select(graph, side, query, files, format)


def _with_parts(
    graph: KnowledgeGraph, side: str, selected: Bool | None, context: Part, left_out: Strings, linked: Int32
) -> KnowledgeGraph:
    """The graph with the `Part` of each entity; warns if `linked` entities are to be left out."""
    parts = np.full(graph.size, Part.IN_SCOPE, np.int8)
    if selected is not None:
        parts[~selected] = context
    found = find_entities(graph, left_out)
    parts[found[found >= 0]] = Part.LEFT_OUT
    contrary = np.unique(linked[parts[linked] == Part.LEFT_OUT])
    if len(contrary):
        shown = ", ".join(graph.entities[int(entity)].as_py() for entity in contrary[:_SHOWN])
        warn(
            f"{len(contrary):,} entities of the {side} graph are to be left out, but are in given links; the "
            f"links count: {shown}"
        )
    parts[linked] = Part.IN_SCOPE
    return graph.with_scope(parts)


def _listed(path: Path, source: KnowledgeGraph, target: KnowledgeGraph) -> Strings:
    """The entities in a file, one on each line; lines that begin with `#` are comments.

    Warns of those that neither graph has; it is an error if there are no others.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text_lines(path), start=1)]
    lines = [(number, line) for number, line in lines if line and not line.startswith("#")]
    listed = strings(line for _, line in lines)
    unknown = np.flatnonzero((find_entities(source, listed) < 0) & (find_entities(target, listed) < 0))
    shown = ", ".join(f"{lines[row][1][:_LONGEST]} (line {lines[row][0]})" for row in unknown[:_SHOWN])
    if len(unknown) == len(lines):
        advice = Curies.of(source, target).advice(lines[0][1]) if lines else ""
        raise InputError(f"names no entity of either graph: {shown or 'it is empty'}{advice}", path)
    if len(unknown):
        warn(f"{path}: neither graph has {len(unknown):,} of {len(lines):,} entities: {shown}")
    return listed
