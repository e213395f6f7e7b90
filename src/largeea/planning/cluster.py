"""The plan for a cluster: what a node and the driver hold, what the network moves, and which stage limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from largeea.config import Config
from largeea.errors import UsageError
from largeea.execution import Execution, executing
from largeea.execution.stages import SHARE_FOR_CACHE
from largeea.planning import placement
from largeea.planning.one_machine import LIBRARIES, READING
from largeea.planning.placement import Work
from largeea.planning.sizes import Sizes
from largeea.planning.stages import StageRow, stage_rows

PROCESS = 200_000_000
"""Bytes of a process with its libraries; a node has one for each core."""
GBIT = 1e9 / 8
ON_GPU = ("vectors", "structure")
"""Stages whose jobs go to the GPUs of a cluster."""
CORES_PER_GPU = 95
"""Cores that a GPU stands for in these stages, as an H200 does that encodes 3.2 million names in 68 s."""


@dataclass(frozen=True)
class Cluster:
    """Machines of one kind. The driver runs on one of them, beside jobs, or on a machine of its own."""

    nodes: int
    memory: int
    """Bytes of each node that a run may use."""
    cores: int = 16
    gpus: int = 0
    """GPUs of each node, which encode names and train mini-batches."""
    network: float = 10 * GBIT
    """Bytes a second that a node sends or receives."""
    driver_memory: int | None = None
    """Bytes of the driver's own machine; None if it runs on a node."""

    def __post_init__(self) -> None:
        if min(self.nodes, self.memory, self.cores, self.network) <= 0:
            raise UsageError("a cluster needs at least one node with a core, memory and a network")

    def speed_of(self, stage: str) -> float:
        """How many times as fast as one core a node carries out the jobs of a stage."""
        on_gpu = CORES_PER_GPU * self.gpus if stage in ON_GPU else 0
        return max(self.cores, on_gpu)

    def fits(self, node: int, driver: int) -> bool:
        """Whether a node and the driver have room for this many bytes."""
        if self.driver_memory is None:
            return node + driver <= self.memory
        return node <= self.memory and driver <= self.driver_memory


@dataclass(frozen=True)
class ClusterPlan:
    """What all stages need on a cluster, in order."""

    cluster: Cluster
    work: tuple[Work, ...]

    @property
    def node(self) -> int:
        """Bytes that a node needs at most."""
        return max(work.node for work in self.work)

    @property
    def driver(self) -> int:
        """Bytes that the driver needs at most."""
        return max(work.driver for work in self.work)

    @property
    def limiting(self) -> Work:
        """The stage that needs most of the memory that there is."""
        return max(self.work, key=self._strain)

    @property
    def slowest(self) -> Work:
        """The stage that takes longest."""
        return max(self.work, key=self.seconds_of)

    @property
    def fits(self) -> bool:
        """Whether every stage has enough memory."""
        return all(self.cluster.fits(work.node, work.driver) for work in self.work)

    @property
    def seconds(self) -> float:
        """Rough time of all stages."""
        return sum(map(self.seconds_of, self.work))

    @property
    def moved(self) -> int:
        """Bytes over the network, of all stages."""
        return sum(map(self.moved_by, self.work))

    @property
    def node_hours(self) -> float:
        """Hours of all nodes together, the driver's own machine included."""
        return (self.cluster.nodes + (self.cluster.driver_memory is not None)) * self.seconds / 3600

    def seconds_of(self, work: Work) -> float:
        """Rough time of all calls: the driver's part, that of the nodes, and the network's."""
        cluster = self.cluster
        in_jobs = work.repeated_seconds + work.job_seconds / cluster.nodes
        moving = (work.broadcast + work.scattered + work.returned) / cluster.network
        return work.calls * (
            work.driver_seconds / cluster.cores + in_jobs / cluster.speed_of(work.stage) + moving
        )

    def moved_by(self, work: Work) -> int:
        """Bytes over the network, of all calls."""
        return work.calls * (self.cluster.nodes * work.broadcast + work.scattered + work.returned)

    def _strain(self, work: Work) -> float:
        own = self.cluster.driver_memory
        if own is None:
            return (work.node + work.driver) / self.cluster.memory
        return max(work.node / self.cluster.memory, work.driver / own)

    def to_plain(self) -> dict[str, Any]:
        """For machines."""
        stages = [
            asdict(work)
            | {"node": work.node, "moved": self.moved_by(work), "total_seconds": self.seconds_of(work)}
            for work in self.work
        ]
        totals = ("node", "driver", "moved", "seconds", "node_hours", "fits")
        return {
            "cluster": asdict(self.cluster),
            "stages": stages,
            **{total: getattr(self, total) for total in totals},
            "limiting": self.limiting.stage,
            "slowest": self.slowest.stage,
        }


def plan_cluster(sizes: Sizes, config: Config, cluster: Cluster) -> ClusterPlan:
    """The plan for a task on a cluster, with the settings as they are.

    A node's memory is what the memory functions of a stage say for its share of the source rows against the
    whole target, plus the arrays that it maps whole.
    """
    limit, cores = cluster.memory, cluster.cores
    with executing(Execution(memory=limit, threads=cores, device="cpu")):
        whole, none, share = (
            list(stage_rows(sizes.part(part), config, limit, cores)) for part in (1.0, 0.0, 1 / cluster.nodes)
        )
    return ClusterPlan(cluster, tuple(_work(sizes, config, cluster, whole, none, share)))


def _work(
    sizes: Sizes,
    config: Config,
    cluster: Cluster,
    whole: list[StageRow],
    none: list[StageRow],
    share: list[StageRow],
) -> Iterator[Work]:
    """All stages, given what they take for all source rows, for none, and for a node's share."""
    base, stored = PROCESS + LIBRARIES + sum(sizes.stored), 0
    reading = READING * (sum(sizes.triples) + sum(sizes.literals))
    yield Work("source", 1, reading, base + 2 * sum(sizes.stored))
    for row, least, part in zip(whole, none, share, strict=True):
        cached = min(stored, int(SHARE_FOR_CACHE * (cluster.driver_memory or cluster.memory)))
        stored += row.disk
        if not placement.is_divided(row.stage):
            yield Work(row.stage, row.calls, row.seconds, base + cached + row.working)
            continue
        in_jobs = placement.ON_NODES[placement.without_trial(row.stage)] * row.seconds
        repeated, alone = (
            placement.repeated_share(row.stage, sizes, config, nodes) for nodes in (cluster.nodes, 1)
        )
        always, own = placement.node_memory(row, least, part, sizes, config)
        sent = placement.sent_bytes(row.stage, always, sizes, config)
        broadcast, scattered, returned = placement.moved_bytes(row, sent, sizes, config)
        yield Work(
            row.stage,
            row.calls,
            driver_seconds=row.seconds - in_jobs,
            driver=base + cached + placement.driver_working(row, sent, sizes, config),
            job_seconds=(1 - alone) * in_jobs,
            repeated_seconds=repeated * in_jobs,
            whole=cluster.cores * PROCESS + placement.whole_inputs(row.stage, sizes) + always,
            share=own,
            broadcast=broadcast,
            scattered=scattered,
            returned=returned,
        )
