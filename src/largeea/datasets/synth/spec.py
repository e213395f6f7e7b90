"""Parameters of a synthetic twin: the sizes of a data set of the paper, and how its two sides differ."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from largeea.errors import UsageError

UNKNOWN_NEIGHBOURS = 5
"""Linked neighbours of an entity without counterpart (the paper's rule), if there are enough triples."""
_FACTS_LEFT = 1.15
"""Facts per linked entity that are reserved before entities without counterpart get theirs."""
_RELATIONS_GROW = 0.2
"""Relations grow as entities to this power, as they do from IDS15K to IDS100K to DBP1M."""
_FEWEST_LINKED, _MOST_ENTITIES = 50, 50_000_000

Sides = tuple[int, int]
"""A count for the source graph and one for the target graph."""


@dataclass(frozen=True)
class TwinSpec:
    """Counts of source and target, and three measures of difference, each between 0 and 1.

    `overlap` is the share of the smaller side's entities that have a counterpart. `heterogeneity` is the
    share of facts between linked entities, on the side with fewer such facts, that the other side lacks.
    `name_noise` sets how often and how much the two names of an entity differ beyond their languages.
    """

    like: str
    entities: Sides
    relations: Sides
    triples: Sides
    overlap: float
    heterogeneity: float
    name_noise: float

    def __post_init__(self) -> None:
        for option in ("overlap", "heterogeneity", "name_noise"):
            value = getattr(self, option)
            if not 0 <= value <= 1:
                raise UsageError(f"{option.replace('_', '-')} is {value:g}; give a share between 0 and 1")
        if self.linked < _FEWEST_LINKED:
            raise UsageError(
                f"{self.like} would link {self.linked} entities at this scale and overlap; "
                f"choose larger ones, so that there are {_FEWEST_LINKED} or more"
            )
        if max(self.entities) > _MOST_ENTITIES:
            raise UsageError(
                f"{self.like} would have {max(self.entities):,} entities at this scale; "
                f"choose a smaller one, {_MOST_ENTITIES:,} is the most"
            )

    @property
    def languages(self) -> tuple[str, str]:
        """Codes of the two languages, such as ("en", "fr")."""
        _, source, target = self.like.split("-")
        return source, target

    @property
    def linked(self) -> int:
        """Number of entities with a counterpart."""
        return round(self.overlap * min(self.entities))

    @property
    def unknown(self) -> Sides:
        """Number of entities without counterpart on each side."""
        return self.entities[0] - self.linked, self.entities[1] - self.linked

    @property
    def unknown_facts(self) -> Sides:
        """Number of triples on each side between an entity without counterpart and a linked one."""
        source, target = (
            round(min(UNKNOWN_NEIGHBOURS * unknown, max(unknown, triples - _FACTS_LEFT * self.linked)))
            for unknown, triples in zip(self.unknown, self.triples, strict=True)
        )
        return source, target

    @property
    def shared_facts(self) -> int:
        """Number of facts between linked entities that both sides state."""
        return round((1 - self.heterogeneity) * min(self._linked_facts))

    @property
    def own_facts(self) -> Sides:
        """Number of facts between linked entities that only one side states, for each side."""
        source, target = self._linked_facts
        return source - self.shared_facts, target - self.shared_facts

    @property
    def _linked_facts(self) -> Sides:
        return self.triples[0] - self.unknown_facts[0], self.triples[1] - self.unknown_facts[1]

    def scaled(self, scale: float) -> TwinSpec:
        """Return a copy with entities and triples times `scale`; relations grow with its fifth root."""
        if not (scale > 0 and math.isfinite(scale)):
            raise UsageError(f"scale is {scale:g}; give a number above 0, such as 0.1 for a tenth")

        def times(counts: Sides, factor: float) -> Sides:
            return max(1, round(counts[0] * factor)), max(1, round(counts[1] * factor))

        return replace(
            self,
            entities=times(self.entities, scale),
            relations=times(self.relations, scale**_RELATIONS_GROW),
            triples=times(self.triples, scale),
        )

    def varied(
        self,
        overlap: float | None = None,
        heterogeneity: float | None = None,
        name_noise: float | None = None,
    ) -> TwinSpec:
        """Return a copy with the given measures of difference; those that are None stay as they are."""
        return replace(
            self,
            overlap=self.overlap if overlap is None else overlap,
            heterogeneity=self.heterogeneity if heterogeneity is None else heterogeneity,
            name_noise=self.name_noise if name_noise is None else name_noise,
        )


_SETS = (
    TwinSpec("ids15k-en-fr", (15_000, 15_000), (267, 210), (47_334, 40_864), 1.0, 0.2, 0.06),
    TwinSpec("ids15k-en-de", (15_000, 15_000), (215, 131), (47_676, 50_419), 1.0, 0.14, 0.06),
    TwinSpec("ids100k-en-fr", (100_000, 100_000), (400, 300), (309_607, 258_285), 1.0, 0.2, 0.06),
    TwinSpec("ids100k-en-de", (100_000, 100_000), (381, 196), (335_359, 336_240), 1.0, 0.14, 0.06),
    TwinSpec("dbp1m-en-fr", (1_877_793, 1_365_118), (603, 380), (7_031_172, 2_997_457), 0.73, 0.4, 0.44),
    TwinSpec("dbp1m-en-de", (1_625_999, 1_112_970), (597, 241), (6_213_639, 1_994_876), 0.88, 0.4, 0.42),
)
TWINS = {spec.like: spec for spec in _SETS}
"""Twins of the paper's data sets, with the counts of its statistics table, by name.

The overlap of DBP1M gives about a million links."""


def find_twin(like: str) -> TwinSpec:
    """Return the twin of the data set with this name; raises an error for an unknown name."""
    if like not in TWINS:
        raise UsageError(f"unknown data set {like!r}; known: {', '.join(TWINS)}")
    return TWINS[like]
