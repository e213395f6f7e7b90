"""The sizes of a task that memory and time depend on: of two graphs, or assumed from their entities."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from largeea.execution.stages import bytes_of
from largeea.graph import Bool, KnowledgeGraph, Strings

TRIPLES_PER_ENTITY = 3.1
"""Triples for each entity where only entities are given: the mean of both sides of DBP1M EN-FR."""
LITERALS_PER_ENTITY = 1.0
"""Literals for each entity where only entities are given: its name."""
NAME_CHARACTERS = 20
IRI_BYTES = 45
"""Characters of a name and bytes of an IRI where only entities are given."""
BYTES_PER_TRIPLE = 12
BYTES_PER_ENTITY = 26
"""Offsets of the IRI and of the name, and the role of an entity."""
BYTES_PER_LITERAL = 24
"""Its four numbers and the offset of its value."""

Pair = tuple[int, int]
"""A number for the source and one for the target."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a task, as far as memory and time depend on them: `(source, target)`."""

    entities: Pair
    triples: Pair
    literals: Pair
    characters: Pair
    """In the names of the entities that are matched."""
    stored: Pair
    """Bytes of the graphs themselves."""
    literal_characters: Pair = (0, 0)
    """In the distinct values of all literals."""
    not_matched: Pair = (0, 0)
    """Entities that are part of the structure but are not matched: blank nodes, and other roles."""
    share: float = 1.0
    """Part of the source rows that is worked on; a node of a cluster has less than all."""
    foreign: bool = False
    """Whether one graph has names in a script that the other one uses less."""

    @property
    def matched(self) -> Pair:
        """Entities that are matched: only these have names to compare and rows with candidates."""
        source, target = self.all_matched
        return math.ceil(self.share * source), target

    @property
    def all_matched(self) -> Pair:
        """Entities that are matched, in all shares together."""
        return self.entities[0] - self.not_matched[0], self.entities[1] - self.not_matched[1]

    @property
    def source_rows(self) -> int:
        """Source entities that are worked on, matched or not."""
        return math.ceil(self.share * self.entities[0])

    def part(self, share: float) -> Sizes:
        """A share of the source rows against the whole target. Both graphs stay whole."""
        source, target = self.characters
        return replace(self, share=share, characters=(math.ceil(share * source), target))

    @classmethod
    def of(cls, source: KnowledgeGraph, target: KnowledgeGraph) -> Sizes:
        """The sizes of two graphs."""
        matched = source.kinds >= 0, target.kinds >= 0
        return cls(
            (source.size, target.size),
            (len(source.triples), len(target.triples)),
            (len(source.attributes), len(target.attributes)),
            (_characters(source.names, matched[0]), _characters(target.names, matched[1])),
            (bytes_of(source), bytes_of(target)),
            (_characters(source.attributes.values), _characters(target.attributes.values)),
            (int((~matched[0]).sum()), int((~matched[1]).sum())),
        )

    @classmethod
    def assumed(cls, entities: Pair, triples: Pair | None = None, literals: Pair | None = None) -> Sizes:
        """The sizes of graphs that are not at hand, from the numbers of entities, triples and literals.

        What is not given is taken to be as in DBP1M: 3.1 triples and one literal an entity, names of 20
        characters, IRIs of 45 bytes. All entities are matched.
        """
        triples = triples or _times(entities, TRIPLES_PER_ENTITY)
        literals = _times(entities, LITERALS_PER_ENTITY) if literals is None else literals
        characters = _times(entities, NAME_CHARACTERS)
        values = _times(literals, NAME_CHARACTERS)
        stored = tuple(
            (IRI_BYTES + NAME_CHARACTERS + BYTES_PER_ENTITY) * entities[side]
            + BYTES_PER_TRIPLE * triples[side]
            + BYTES_PER_LITERAL * literals[side]
            + values[side]
            for side in (0, 1)
        )
        return cls(entities, triples, literals, characters, (stored[0], stored[1]), values)


def _times(numbers: Pair, factor: float) -> Pair:
    return round(factor * numbers[0]), round(factor * numbers[1])


def _characters(texts: Strings, counted: Bool | None = None) -> int:
    """The characters of all texts, or of those that are `counted`."""
    lengths = pc.utf8_length(texts)
    return int(pc.sum(lengths if counted is None else lengths.filter(pa.array(counted))).as_py() or 0)
