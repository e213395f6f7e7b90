"""The least time that each stage can take on this machine: what it must move or multiply, and how fast.

`FLOORS` says for each stage which bytes it has to read and write and which operations it cannot do without,
given what a run has stored. How fast the machine does both is measured (`rates.py`). A stage that is not
listed has no meaningful floor: its work depends on the data and not on sizes alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from largeea.config import EvidenceConfig
from largeea.evidence.labels import FIRST_SKETCHES, POOL, SCORED_BY_ALL
from largeea.evidence.sketches import sketch_dimension
from rates import ADDED, Rates

ENTRY = 8
"""Bytes of one kept pair of a matrix: target and score."""
TRIPLE = 12
LINK = 12
"""Bytes of a stored anchor: both ends and its weight."""


@dataclass(frozen=True)
class Facts:
    """The sizes of a run, from its manifest."""

    entities: tuple[int, int]
    triples: int
    files: int
    """Bytes of the graphs' input files."""
    stored: dict[str, int]
    """Bytes of each stage's result."""
    evidence: dict[str, Any]
    """The settings of evidence."""
    exact_search: bool = False
    """Whether candidates are found by comparing all pairs, as on a GPU."""

    @classmethod
    def of(cls, manifest: dict[str, Any], exact_search: bool) -> Facts:
        """The sizes of a finished run."""
        read = manifest["read"]
        files = {record["path"]: record["bytes"] for record in manifest["inputs"]}
        return cls(
            (read["source"]["entities"], read["target"]["entities"]),
            read["source"]["triples"] + read["target"]["triples"],
            sum(size for path, size in files.items() if Path(path).name.startswith(("rel_", "attr_"))),
            {name: record["bytes"] for name, record in manifest["stages"].items()},
            manifest["config"]["evidence"],
            exact_search,
        )

    def size(self, *stages: str) -> int:
        """Bytes of the results of stages; 0 for one that the run does not have."""
        return sum(self.stored.get(stage, 0) for stage in stages)

    def pairs(self, stage: str) -> float:
        """Kept pairs of a stage's matrix."""
        return self.size(stage) / ENTRY

    @property
    def most_anchors(self) -> float:
        """The anchors of the round that had most."""
        return (
            max((size for name, size in self.stored.items() if name.startswith("anchors")), default=0) / LINK
        )

    @property
    def dimension(self) -> int:
        """Dimensions of one sketch."""
        return sketch_dimension(self.evidence["label_width"])


@dataclass(frozen=True)
class Floor:
    """What a stage cannot do without, in words, why, and as functions of a run's sizes.

    `moved` are bytes of arrays in main memory, where results are kept; `worked_on` are bytes that are read
    again and again where the stage computes.
    """

    formula: str
    reason: str
    moved: Callable[[Facts], float]
    operations: Callable[[Facts], float] = lambda _: 0.0
    worked_on: Callable[[Facts], float] = lambda _: 0.0


def matching(facts: Facts, stage: str) -> float:
    """Bytes of a Sinkhorn matching: each iteration reads all kept pairs by row and by column."""
    return 2 * facts.evidence["sinkhorn_iterations"] * facts.size(stage)


def compared(facts: Facts) -> float:
    """Operations that find the candidates of entities which are never anchors.

    A pool of pairs is scored by some sketches. An exact search first compares all entities by one of them.
    """
    sources, targets = (max(size - facts.most_anchors, 0) for size in facts.entities)
    pool = POOL * facts.evidence["candidates_per_round"] * facts.evidence["retrieval_sketches"]
    pairs = sources * (pool + (targets if facts.exact_search else 0))
    return ADDED * facts.dimension * pairs


def scored(facts: Facts) -> float:
    """Operations that score all pairs by the first sketches, and the best of each source by all."""
    pairs = facts.pairs("surroundings")
    sketches = EvidenceConfig(**facts.evidence).sketches_for(sum(facts.entities))
    first = min(sketches, FIRST_SKETCHES)
    best = min(pairs, SCORED_BY_ALL * facts.entities[0])
    return ADDED * facts.dimension * (first * pairs + (sketches - first) * best)


CHANNELS = ("equal-names", "neighbours", "surroundings")
FLOORS = {
    "source": Floor(
        "input files + both graphs",
        "both graphs are read in this stage and kept",
        lambda facts: facts.files + facts.size("source", "target"),
    ),
    "name-rows": Floor(
        "2 name rows", "names are read and written", lambda facts: 2 * facts.size("name-rows")
    ),
    "semantic": Floor(
        "name rows + M_se",
        "every name is read, the best pairs are written",
        lambda facts: facts.size("name-rows", "semantic"),
    ),
    "strings": Floor(
        "name rows + M_st",
        "every name is read, the best pairs are written",
        lambda facts: facts.size("name-rows", "strings"),
    ),
    "names": Floor(
        "M_se + M_st + M_n",
        "two matrices are read, their sum is written",
        lambda facts: facts.size("semantic", "strings", "names"),
    ),
    "equal-names": Floor("2 M_n", "scores are read and written", lambda facts: 2 * facts.size("names")),
    "seeds": Floor("M_n", "the best of every row and column is sought", lambda facts: facts.size("names")),
    "edges": Floor(
        "12 triples + edges",
        "triples are read, both directions are written",
        lambda facts: TRIPLE * facts.triples + facts.size("edges"),
    ),
    "agreement": Floor("edges", "every edge is looked at", lambda facts: facts.size("edges")),
    "neighbours": Floor(
        "edges + M",
        "every edge is looked at, the best pairs are written",
        lambda facts: facts.size("edges", "neighbours"),
    ),
    "candidates": Floor(
        "edges + M; 2 d free sources (pool sketches + free targets) operations",
        "a pool is scored; on a GPU, all entities that are not anchors are compared first",
        lambda facts: facts.size("edges", "candidates"),
        compared,
    ),
    "surroundings": Floor(
        "edges + M; 2 d (first sketches pairs + other sketches best pairs) operations",
        "every pair is an inner product in the first sketches, the best ones in all",
        lambda facts: facts.size("edges", "surroundings"),
        scored,
    ),
    "fused": Floor(
        "channels + (1 + 2 iterations) M",
        "a Sinkhorn iteration reads all pairs by row and by column",
        lambda facts: facts.size(*CHANNELS, "fused"),
        worked_on=lambda facts: matching(facts, "fused"),
    ),
    "anchors": Floor("M", "the best of every row and column is sought", lambda facts: facts.size("fused")),
    "matched": Floor(
        "channels + (1 + 2 iterations) M",
        "as fused, with the temperature of confidence",
        lambda facts: facts.size(*CHANNELS, "matched"),
        worked_on=lambda facts: matching(facts, "matched"),
    ),
    "calibration": Floor(
        "channels of the trial + (1 + 2 iterations) M",
        "the trial is matched",
        lambda facts: facts.size("equal-names", "trial-neighbours", "trial-surroundings", "matched"),
        worked_on=lambda facts: matching(facts, "matched"),
    ),
    "likelihood": Floor(
        "M_n + 3 M",
        "names and two matchings are read, chances are written",
        lambda facts: facts.size("names", "matched", "fused", "likelihood"),
    ),
    "alignment": Floor(
        "M + likelihood + answer",
        "scores choose pairs, likelihoods become their confidence",
        lambda facts: facts.size("fused", "likelihood", "alignment"),
    ),
}
"""By the stage's name without the number of its round; a stage of the trial has the floor of its model."""


def floor_seconds(stage: str, facts: Facts, rates: Rates) -> float | None:
    """The least seconds of one call of a stage; None if it has no meaningful floor."""
    floor = FLOORS.get(stage.removeprefix("trial-"))
    if floor is None:
        return None
    return rates.seconds(floor.moved(facts), floor.worked_on(facts), floor.operations(facts))
