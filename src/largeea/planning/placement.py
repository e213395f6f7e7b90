"""Which part of each stage a cluster divides among its nodes, and which stays with the driver."""

from __future__ import annotations

from dataclasses import dataclass

from largeea.config import Config
from largeea.evidence import sizes as evidence
from largeea.evidence.labels import FIRST_SKETCHES, SCORED_BY_ALL
from largeea.evidence.sketches import sketch_dimension
from largeea.planning.sizes import Sizes
from largeea.planning.stages import StageRow, edge_counts, free_entities

ON_NODES = {
    "vectors": 1.0,
    "structure": 1.0,
    "semantic": 0.9,
    "by-ngrams": 0.9,
    "by-vectors": 0.9,
    "by-values": 0.5,
    "strings": 0.45,
    "neighbours": 0.9,
    "names-nearby": 0.9,
    "candidates": 0.9,
    "surroundings": 0.95,
    "fused": 0.85,
    "matched": 0.85,
}
"""Share of a stage's time that its jobs take. Stages that are missing have no jobs: the driver does all.

Those of names, strings, neighbours, candidates and surroundings were measured on a twin of DBP1M with 97,000
entities, on one core; those of matching on one with 65,000, on two. Those of vectors, training and literal
values are assumed.
"""
SEARCHES = ("semantic", "by-ngrams", "by-vectors", "by-values", "strings")
"""Stages whose driver builds an index of the targets, which every node gets whole."""
QUERIES_WHOLE = ("by-values", "strings")
"""Searches whose queries are made in the driver's memory: every node gets all of them, not its share."""
ON_GRAPHS = ("neighbours", "names-nearby", "candidates", "surroundings")
"""Stages whose jobs need the edges of both graphs whole."""
MATCHING = ("fused", "matched")
"""Stages that exchange vectors in every Sinkhorn iteration."""
BYTES_PER_MATCHED_PAIR = 16
"""Of the shards of Sinkhorn iterations: target and weight of each pair by rows, and the same by columns."""
REPEATED = 0.47
"""Share of the time of a sketch that is spent on both whole graphs, so that every job repeats it."""


@dataclass(frozen=True)
class Work:
    """One call of a stage as a cluster carries it out. Seconds are those of one thread."""

    stage: str
    calls: int
    driver_seconds: float
    """On the threads of the driver alone."""
    driver: int
    """Bytes of memory of the driver."""
    job_seconds: float = 0
    """In jobs, divided among all cores of all nodes; 0 if the driver does all."""
    repeated_seconds: float = 0
    """In jobs too, but again on every node."""
    whole: int = 0
    """Bytes of memory that every node needs, however many nodes there are."""
    share: int = 0
    """Bytes of memory that a node needs for its part of the source rows."""
    broadcast: int = 0
    """Bytes that every node receives."""
    scattered: int = 0
    """Bytes that one node or another receives."""
    returned: int = 0
    """Bytes that the driver receives."""

    @property
    def node(self) -> int:
        """Bytes of memory of a node."""
        return self.whole + self.share


def without_trial(stage: str) -> str:
    """The stage that a stage of the trial repeats."""
    return stage.removeprefix("trial-")


def is_divided(stage: str) -> bool:
    """Whether nodes carry out a part of the stage."""
    return without_trial(stage) in ON_NODES


def edges_bytes(sizes: Sizes) -> int:
    """Bytes of the edges of both graphs, with the anchor and the kind of every entity."""
    return 12 * sum(edge_counts(sizes)) + 24 * sum(sizes.entities)


def whole_inputs(stage: str, sizes: Sizes) -> int:
    """Bytes of stored arrays that a node maps whole: edges, graphs, or the vectors of Sinkhorn iterations."""
    kind = without_trial(stage)
    if kind in MATCHING:
        return 4 * sum(sizes.entities)
    return edges_bytes(sizes) if kind in ON_GRAPHS else sum(sizes.stored) if kind == "structure" else 0


def node_memory(
    row: StageRow, least: StageRow, part: StageRow, sizes: Sizes, config: Config
) -> tuple[int, int]:
    """Working memory of a node: what it needs however many there are, and for its share of the source rows.

    From what a stage takes for all source rows, for none, and for the share.
    """
    kind = without_trial(row.stage)
    if kind == "candidates":
        nothing = evidence.candidates_memory(sizes.entities, (0, 0), config.evidence.label_width, 0)
        source, target = _searched_vectors(sizes, config)
        return nothing + target, source * part.disk // max(row.disk, 1)
    if kind in QUERIES_WHOLE:
        return row.working, 0
    if kind == "surroundings":
        return 4 * _pairs(sizes, config) + least.working, max(part.working - least.working, 0)
    if kind in MATCHING:
        return 0, BYTES_PER_MATCHED_PAIR * part.disk // 8
    return least.working, max(part.working - least.working, 0)


def sent_bytes(stage: str, always: int, sizes: Sizes, config: Config) -> int:
    """What every node receives from the driver's memory for one call, and Ray holds beside the driver.

    `always` is the working memory that every node needs, however many there are.
    """
    kind = without_trial(stage)
    if kind == "candidates":
        return _searched_vectors(sizes, config)[1]
    if kind == "surroundings":
        return 4 * _pairs(sizes, config)
    return always if kind in SEARCHES else 0


def moved_bytes(row: StageRow, sent: int, sizes: Sizes, config: Config) -> tuple[int, int, int]:
    """What every node receives for one call, what one node or another receives, what the driver receives.

    Every node receives what is `sent`, and reads the edges.
    """
    kind = without_trial(row.stage)
    if kind in MATCHING:
        vectors = config.evidence.sinkhorn_iterations * whole_inputs(row.stage, sizes)
        return vectors, BYTES_PER_MATCHED_PAIR * row.disk // 8, vectors
    received = sent + whole_inputs(row.stage, sizes)
    if kind == "candidates":
        return received, sum(_searched_vectors(sizes, config)), row.disk
    if kind != "surroundings":
        return received, row.disk, row.disk
    sketches = config.evidence.sketches_for(sum(sizes.entities))
    first = min(FIRST_SKETCHES, sketches)
    scored = first + min(SCORED_BY_ALL / config.evidence.top_k, 1.0) * (sketches - first)
    return received, 0, int(4 * scored * _pairs(sizes, config))


def driver_working(row: StageRow, sent: int, sizes: Sizes, config: Config) -> int:
    """Working memory of the driver while nodes carry out the jobs of a stage, with what is sent to them."""
    kind = without_trial(row.stage)
    if kind in SEARCHES:
        return 2 * sent + row.disk
    if kind in ("vectors", "structure"):
        return row.disk
    if kind in MATCHING:
        return row.working + BYTES_PER_MATCHED_PAIR * row.disk // 8
    if kind == "surroundings":
        width = config.evidence.label_width
        return sent + evidence.surroundings_memory((0, 0), _pairs(sizes, config), width, 0) + row.disk
    if kind == "candidates":
        return sum(_searched_vectors(sizes, config)) + row.working
    return sent + row.working


def _searched_vectors(sizes: Sizes, config: Config) -> tuple[int, int]:
    """Bytes of the vectors that candidates are searched for, and of those among which they are searched.

    The latter are there twice: as they are, and rounded to a byte for each dimension.
    """
    dimension = sketch_dimension(config.evidence.label_width)
    source, target = free_entities(sizes)
    return 4 * dimension * source, 5 * dimension * target


def _pairs(sizes: Sizes, config: Config) -> int:
    """Pairs that evidence is drawn for, at most."""
    return sizes.matched[0] * config.evidence.top_k


def repeated_share(stage: str, sizes: Sizes, config: Config, nodes: int) -> float:
    """Share of a stage's job time that each of `nodes` nodes spends on both whole graphs.

    A job is one sketch of some source rows. There are at least as many as nodes, so from some nodes on, each
    makes one sketch of the first ones and one of the others.
    """
    if without_trial(stage) != "surroundings":
        return 0.0
    sketches = config.evidence.sketches_for(sum(sizes.entities))
    first = min(FIRST_SKETCHES, sketches)
    made = -(-first // nodes) + -(-(sketches - first) // nodes)
    return REPEATED * made / sketches
