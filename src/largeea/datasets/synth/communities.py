"""Communities of entities: which entities are close, how popular they are, and by which relations.

The members of a community have consecutive ids. The first ones are its objects, the tails of facts, such as
clubs, towns or genres, most popular first. The others are heads only, such as players, villages or albums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from largeea.graph import Bool, Int32, Int64

_SMALLEST, _MEAN_EXCESS, _TAIL = 12, 40, 1.6
_OBJECTS = 0.26
_ROLES = 5
_ROLE_SKEW = 2.2
_POPULARITY = 3.2
_AT_HOME = 0.86
_HUBS, _HUB_SKEW = 0.05, 3.0
_TYPICAL = 0.85
_ZIPF = 1.35


@dataclass(frozen=True, eq=False)
class Communities:
    """Blocks of entities: bounds `starts[c + 1]`; community `of[n]` and `role[n]` as a tail of each entity.

    Most facts with tail e have the relation `relations[of[e], role[e]]`.
    """

    starts: Int64
    of: Int32
    role: Int32
    relations: Int32

    @property
    def objects(self) -> Int64:
        """Number of objects (possible tails) in each community, `[c]`; at least two."""
        return np.maximum((np.diff(self.starts) * _OBJECTS).astype(np.int64), 2)

    @property
    def pointed_at(self) -> Bool:
        """Mask of the entities that are objects, `[n]`."""
        place = np.arange(len(self.of)) - self.starts[self.of]
        return np.asarray(place < self.objects[self.of])

    def draw_tails(self, random: np.random.Generator, home: Int32) -> Int64:
        """Draw a tail for each head of community `home`: from that community, one nearby, or a hub."""
        count, communities = len(home), len(self.starts) - 1
        place = random.random(count)
        distance = np.exp(random.random(count) * np.log(communities + 1)).astype(np.int64)
        distance *= random.integers(0, 2, count) * 2 - 1
        community = np.where(place < _AT_HOME, home, (home + distance) % communities)
        hub = (communities * random.random(count) ** _HUB_SKEW).astype(np.int64)
        community = np.where(place >= 1 - _HUBS, hub, community)
        popularity = random.random(count) ** _POPULARITY
        return self.starts[community] + (popularity * self.objects[community]).astype(np.int64)

    def draw_relations(self, random: np.random.Generator, home: Int32, tails: Int64) -> Int32:
        """Draw the relation of each head (of community `home`) to its tail: mostly the tail's typical one."""
        typical = random.random(len(home)) < _TYPICAL
        expected, other = (
            self.relations[self.of[tails], self.role[tails]],
            self.draw_any_relations(random, home),
        )
        return np.asarray(np.where(typical, expected, other), np.int32)

    def draw_any_relations(self, random: np.random.Generator, home: Int32) -> Int32:
        """Draw relations from those of each head's community."""
        drawn: Int32 = self.relations[home, _roles(random, len(home))]
        return drawn


def draw_communities(random: np.random.Generator, entities: int, relations: int) -> Communities:
    """Draw communities with power-law sizes and Zipf-distributed relations."""
    sizes = (_SMALLEST + _MEAN_EXCESS * random.pareto(_TAIL, entities // _SMALLEST + 1)).astype(np.int64)
    sizes = np.minimum(sizes, max(entities // 20, _SMALLEST))
    ends = np.cumsum(sizes)
    starts = np.concatenate([[0], ends[ends < entities - 2], [entities]])
    of = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    weight = np.arange(1, relations + 1) ** -_ZIPF
    drawn = random.choice(relations, (len(starts) - 1, _ROLES), p=weight / weight.sum())
    return Communities(starts, of, _roles(random, entities), drawn.astype(np.int32))


def _roles(random: np.random.Generator, count: int) -> Int32:
    return (random.random(count) ** _ROLE_SKEW * _ROLES).astype(np.int32)
