"""Which entities of two graphs are matched with which, by their roles; `Scope` restricts that further."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from largeea.errors import UsageError
from largeea.graph import Bool, KnowledgeGraph, Part, Role
from largeea.graph.roles import EACH_WITH_ITS_OWN

Match = Literal["auto", "individuals", "classes", "properties", "all"]
"""What is matched; `auto` is what both graphs are about."""
MIN_SHARE = 0.1
"""Share of a graph's individuals and classes that a role needs to be what the graph is about."""
PLURALS = {"individuals": Role.INDIVIDUAL, "classes": Role.CLASS, "properties": Role.PROPERTY}
Kinds = tuple[int, ...]


@dataclass(frozen=True)
class Scope:
    """What a user restricts matching to; types and predicates are IRIs or CURIEs.

    Example: `Scope(source_types=("foaf:Person",), block_by=("birthYear",))`.
    """

    source_types: tuple[str, ...] = ()
    """Only source entities of these types, or of subclasses of them, are in the answer."""
    target_types: tuple[str, ...] = ()
    source_select: str | None = None
    """A SPARQL query that selects the source entities that may be in the answer, by one variable."""
    target_select: str | None = None
    leave_out: Path | None = None
    """File of entities that are not matched at all, one on each line."""
    compatible_types: Path | None = None
    """Table of two columns, source type and target type: entities of other known types are not paired."""
    block_by: tuple[str, ...] = ()
    """Predicates or columns: only entities that share a value are paired. `SOURCE=TARGET` if they differ."""

    @property
    def selects(self) -> bool:
        """Whether some entities are out of scope."""
        return bool(
            self.source_types
            or self.target_types
            or self.source_select
            or self.target_select
            or self.leave_out
        )


NO_SCOPE = Scope()


def in_scope(
    source: KnowledgeGraph, target: KnowledgeGraph, match: Match = "auto"
) -> tuple[KnowledgeGraph, KnowledgeGraph]:
    """Return both graphs with the kinds of entities that are matched.

    Raises `UsageError` if `match` names a role that one of the graphs does not have.
    """
    if match not in get_args(Match):
        raise UsageError(f"match is {match!r}; allowed: {', '.join(get_args(Match))}")
    if match == "auto":
        ours, theirs = _subject_matter(described(source), described(target))
    elif match == "all":
        ours = theirs = EACH_WITH_ITS_OWN
    else:
        ours = theirs = _only(PLURALS[match])
    graphs = source.with_kinds(ours), target.with_kinds(theirs)
    if match in PLURALS:
        for side, graph in zip(("source", "target"), graphs, strict=True):
            if graph.size and not graph.linkable.any():
                there = ", ".join(f"{count:,} {name}" for name, count in role_counts(graph).items() if count)
                raise UsageError(
                    f"match is {match!r}, but the {side} graph has none of them; it has "
                    f"{there or 'nothing'}. Match what both graphs have, or auto"
                )
    return graphs


def role_counts(graph: KnowledgeGraph) -> dict[str, int]:
    """Return the number of individuals, classes and properties that have an IRI, by name in the plural."""
    counts = np.bincount(graph.roles[~graph.anonymous], minlength=len(Role))
    return {name: int(counts[role]) for name, role in PLURALS.items()}


def described(graph: KnowledgeGraph) -> dict[Role, int]:
    """Return the number of entities of each role that the graph says something about.

    These are subjects of a statement that have an IRI and are in scope. If there are none, all entities with
    an IRI count.
    """
    subject = is_subject(graph) & ~graph.anonymous
    if graph.scope is not None:
        subject &= graph.scope == Part.IN_SCOPE
    counted = graph.roles[subject] if subject.any() else graph.roles[~graph.anonymous]
    counts = np.bincount(counted, minlength=len(Role))
    return {role: int(counts[role]) for role in Role}


def is_subject(graph: KnowledgeGraph) -> Bool:
    """Return the mask of the entities that are the subject of a triple or literal, `[size]`."""
    subject = np.zeros(graph.size, bool)
    subject[graph.triples[:, 0]] = True
    subject[graph.attributes.entity] = True
    return subject


def _subject_matter(ours: dict[Role, int], theirs: dict[Role, int]) -> tuple[Kinds, Kinds]:
    """Kinds by what both graphs are about: individuals, classes or both.

    Where one graph is about individuals and the other about classes, as a thesaurus and an ontology are,
    these are matched with each other.
    """
    roles = Role.INDIVIDUAL, Role.CLASS
    totals = [sum(counts[role] for role in roles) for counts in (ours, theirs)]
    if not all(totals):
        return EACH_WITH_ITS_OWN, EACH_WITH_ITS_OWN
    common = [
        role
        for role in roles
        if all(
            counts[role] >= MIN_SHARE * total for counts, total in zip((ours, theirs), totals, strict=True)
        )
    ]
    first, second = (max(roles, key=lambda role: counts[role]) for counts in (ours, theirs))
    if first != second and len(common) < len(roles):
        return _only(first), _only(second)
    kinds = _only(*common)
    return kinds, kinds


def _only(*roles: Role) -> Kinds:
    """Kinds of which only these roles are matched; a single one has kind 0, whatever it is."""
    kinds = [-1] * len(Role)
    for kind, role in enumerate(roles):
        kinds[role] = kind
    return tuple(kinds)
