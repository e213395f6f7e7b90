"""The basic data types: literals, counts of what was read, and the knowledge graph.

All types are columnar and immutable. Ids are positions: entity 7 is row 7 of `KnowledgeGraph.entities`.
Entities and relations are sorted by IRI and triples by id, so the order of the input lines has no effect.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import pyarrow.compute as pc

from largeea.graph.arrays import Bool, Int8, Int32, Int64, Strings, check_ids, frozen, strings
from largeea.graph.html import ROWS_SHOWN, html_table
from largeea.graph.roles import EACH_WITH_ITS_OWN, Part, Role


@dataclass(frozen=True, eq=False)
class Attributes:
    """Literals of entities, `rows[n, 4]`: entity, predicate, value and tag, all as positions.

    The tag of a literal is empty (""), its language ("@en") or its datatype IRI.
    """

    rows: Int32
    predicates: Strings
    values: Strings
    tags: Strings

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", frozen(self.rows, np.int32, 4))
        for column, words in enumerate(("predicates", "values", "tags"), start=1):
            object.__setattr__(self, words, strings(getattr(self, words)))
            check_ids(words, self.rows[:, column], len(getattr(self, words)))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Attributes({len(self):,} literals, {len(self.predicates):,} predicates)"

    @property
    def entity(self) -> Int32:
        """The entity of each literal, `[n]`."""
        return self.rows[:, 0]

    @property
    def predicate(self) -> Int32:
        """Position of each literal's predicate in `predicates`, `[n]`."""
        return self.rows[:, 1]

    @property
    def value(self) -> Int32:
        """Position of each literal's value in `values`, `[n]`."""
        return self.rows[:, 2]

    @property
    def tag(self) -> Int32:
        """Position of each literal's tag in `tags`, `[n]`."""
        return self.rows[:, 3]

    @classmethod
    def none(cls) -> Attributes:
        """Return an empty table of literals."""
        return cls(np.empty((0, 4), np.int32), strings(), strings(), strings())


@dataclass(frozen=True)
class ReadCounts:
    """Counts of everything that was read; the reader and the builder count independently.

    The reader counts `scanned` lines, parsed statements or table cells. Of these, `skipped` contain no
    statement (comments, blank lines, empty cells) and `rejected` are malformed. The builder counts the
    `statements` it receives, the `duplicates` it removes, and the `triples` and `literals` it keeps. So
    `scanned = statements + skipped + rejected`.

    A graph is simplified after reading: `folded` statements are removed, because they only spell out an OWL
    class expression, an RDF list, a reified statement or a text in a node of its own, and `derived` plain
    statements replace them. So `statements + derived = triples + literals + duplicates + folded`. The nodes
    that disappeared are counted by what they were: `expressions`, `lists`, `reified`, `text_nodes`,
    `empty_nodes`.
    """

    files: int = 0
    statements: int = 0
    triples: int = 0
    literals: int = 0
    duplicates: int = 0
    rejected: int = 0
    scanned: int = 0
    skipped: int = 0
    folded: int = 0
    derived: int = 0
    expressions: int = 0
    lists: int = 0
    reified: int = 0
    text_nodes: int = 0
    empty_nodes: int = 0

    def __add__(self, other: ReadCounts) -> ReadCounts:
        return ReadCounts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, eq=False)
class KnowledgeGraph:
    """`G = (E, R, T)`: entity IRIs, their names (null if missing), relation IRIs, triples int32 `[n, 3]`.

    The columns of `triples` are head entity, relation, tail entity.
    """

    entities: Strings
    names: Strings
    relations: Strings
    triples: Int32
    attributes: Attributes = field(default_factory=Attributes.none)
    counts: ReadCounts = field(default_factory=ReadCounts)
    label_predicates: tuple[str, ...] = ()
    """Predicates chosen by the user to give names; they give aliases, too. Empty if none were chosen."""
    roles: Int8 = None  # type: ignore[assignment]
    """The `Role` of each entity, `[size]`; all are individuals unless given."""
    kind_of_role: tuple[int, ...] = EACH_WITH_ITS_OWN
    """The kind of each role; entities are matched with those of equal kind, and kind -1 is not matched."""
    global_ids: bool = False
    """Whether equal IRIs in two such graphs identify the same thing, as in RDF; keys of tables do not."""
    scope: Int8 | None = None
    """The `Part` that each entity has in the matching, `[size]`; None if all are in scope."""
    prefixes: dict[str, str] = field(default_factory=dict)
    """The prefixes that the files declare, and their namespaces."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "triples", frozen(self.triples, np.int32, 3))
        object.__setattr__(self, "label_predicates", tuple(self.label_predicates))
        object.__setattr__(self, "kind_of_role", tuple(self.kind_of_role))
        for column in ("entities", "names", "relations"):
            object.__setattr__(self, column, strings(getattr(self, column)))
        if len(self.names) != len(self.entities):
            raise ValueError(f"{len(self.entities)} entities but {len(self.names)} names")
        roles = np.zeros(self.size, np.int8) if self.roles is None else self.roles
        object.__setattr__(self, "roles", frozen(roles, np.int8))
        if len(self.roles) != self.size:
            raise ValueError(f"{self.size} entities but {len(self.roles)} roles")
        check_ids("role", self.roles, len(Role))
        if self.scope is not None:
            object.__setattr__(self, "scope", frozen(self.scope, np.int8))
            if len(self.scope) != self.size:
                raise ValueError(f"{self.size} entities but a scope of {len(self.scope)}")
            check_ids("scope", self.scope, len(Part))
        check_ids("entity", self.triples[:, [0, 2]], self.size)
        check_ids("relation", self.triples[:, 1], len(self.relations))
        check_ids("literals' entity", self.attributes.entity, self.size)

    def __repr__(self) -> str:
        return (
            f"KnowledgeGraph({self.size:,} entities, {len(self.relations):,} relations, "
            f"{len(self.triples):,} triples, {len(self.attributes):,} literals)"
        )

    def _repr_html_(self) -> str:
        """The counts and the first entities, for notebooks."""
        shown = slice(0, ROWS_SHOWN)
        rows = zip(self.entities[shown].to_pylist(), self.names[shown].to_pylist(), strict=True)
        return html_table(repr(self), ("entity", "name"), rows, self.size - ROWS_SHOWN)

    @property
    def size(self) -> int:
        """Number of entities."""
        return len(self.entities)

    @property
    def named(self) -> Bool:
        """Mask of the entities that have a name, `[size]`."""
        return np.asarray(pc.is_valid(self.names))

    @cached_property
    def anonymous(self) -> Bool:
        """Mask of the blank nodes, `[size]`: they are part of the structure but have no IRI to link."""
        blank: Bool = frozen(pc.starts_with(self.entities, "_:"), bool)
        return blank

    @cached_property
    def kinds(self) -> Int8:
        """The kind of each entity, `[size]`: only entities of equal kind are matched; -1 is not matched.

        Context is matched too, because matched neighbours are evidence; it is not `linkable`.
        """
        kinds = np.array(self.kind_of_role, np.int8)[self.roles]
        kinds = np.where(self.anonymous, np.int8(-1), kinds)
        if self.scope is not None:
            kinds[self.scope == Part.LEFT_OUT] = -1
            kinds[(self.scope == Part.CONTEXT_APART) & (kinds >= 0)] += len(Role)
        matched: Int8 = frozen(kinds, np.int8)
        return matched

    @cached_property
    def linkable(self) -> Bool:
        """Mask of the entities that can be linked, `[size]`: with an IRI, of a matched role, in scope."""
        in_scope = (
            self.kinds >= 0 if self.scope is None else (self.kinds >= 0) & (self.scope == Part.IN_SCOPE)
        )
        linkable: Bool = frozen(in_scope, bool)
        return linkable

    def degrees(self) -> Int64:
        """Return the number of triples of each entity, `[size]`; a self-loop counts twice."""
        return np.bincount(self.triples[:, [0, 2]].ravel(), minlength=self.size).astype(np.int64)

    def find(self, iris: Strings) -> Int32:
        """Return the entity ids of IRIs, `[n]`; -1 for an unknown IRI."""
        from largeea.graph.lookup import places_in  # compiled: a graph that is only shown does without

        return places_in(iris, self.entities)

    def with_names(self, names: Strings) -> KnowledgeGraph:
        """Return the same graph with other entity names."""
        return replace(self, names=names)

    def with_kinds(self, kind_of_role: tuple[int, ...]) -> KnowledgeGraph:
        """Return the same graph with another choice of what is matched."""
        return replace(self, kind_of_role=kind_of_role)

    def with_scope(self, scope: Int8) -> KnowledgeGraph:
        """Return the same graph with another `Part` of each entity, `[size]`."""
        return replace(self, scope=scope)
