"""A discrete-event simulation of a cluster: stages with jobs, a driver, a network, slow and lost nodes.

A stage starts when the stages before it have ended. Its driver part comes first, then its jobs, then what the
driver does with their results. Jobs are scheduled in order, each on the node with most free cores. A node
receives what all jobs of a stage share before its first one, and every job's own input before that job. All
results pass the driver's link, one after the other. The jobs under way on a lost node are carried out again.
"""

from __future__ import annotations

import heapq
import itertools
import math
import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Stage:
    """A map of equal jobs between two parts that the driver does alone. Sizes are in bytes."""

    name: str
    after: tuple[str, ...] = ()
    before_jobs: float = 0.0
    """Seconds of the driver before its jobs."""
    jobs: int = 0
    job_seconds: float = 0.0
    """Seconds of one job on its cores."""
    job_cores: int = 1
    shared: float = 0.0
    """What every node receives once."""
    job_input: float = 0.0
    job_result: float = 0.0
    after_jobs: float = 0.0
    """Seconds of the driver after its jobs."""


@dataclass(frozen=True)
class Machines:
    """Nodes of one kind, and what may go wrong with them."""

    nodes: int
    cores: int
    bandwidth: float = math.inf
    """Bytes a second of each node's link, and of the driver's."""
    slow_share: float = 0.0
    """Chance that a node is slow."""
    slow_factor: float = 2.0
    """How many times as long a job takes there."""
    lost_per_hour: float = 0.0
    """Losses of each node in an hour, on average."""
    losses: tuple[tuple[float, int], ...] = ()
    """Further losses: second and node."""
    replaced_after: float = 120.0
    """Seconds until a lost node is there again, empty."""
    seed: int = 0


@dataclass
class Outcome:
    """What a simulation ends with."""

    makespan: float = 0.0
    moved: float = 0.0
    """Bytes over the network."""
    repeated: int = 0
    """Jobs that were carried out again."""
    seconds: Counter[str] = field(default_factory=Counter)
    """From the start to the end of each stage."""


@dataclass
class _Node:
    factor: float
    free: int
    lives: int = 0
    """How often it was lost: what an earlier life was to do does not happen."""
    received: dict[str, float] = field(default_factory=dict)
    """When the shared values of each stage are there."""
    under_way: set[tuple[str, int]] = field(default_factory=set)


class Simulation:
    """One run of some stages on some machines."""

    def __init__(self, stages: Sequence[Stage], machines: Machines) -> None:
        self.stages = {stage.name: stage for stage in stages}
        self.machines = machines
        self.outcome = Outcome()
        self._random = random.Random(machines.seed)
        self._nodes = [
            _Node(
                machines.slow_factor if self._random.random() < machines.slow_share else 1.0, machines.cores
            )
            for _ in range(machines.nodes)
        ]
        self._events: list[tuple[float, int, str, Any]] = []
        self._order = itertools.count()
        self._waiting: deque[tuple[str, int]] = deque()
        self._idle = [(-machines.cores, number, 0) for number in range(machines.nodes)]
        self._left = {stage.name: stage.jobs for stage in stages}
        self._blocked = {stage.name: len(stage.after) for stage in stages}
        self._started: dict[str, float] = {}
        self._driver_free = self._link_free = 0.0

    def run(self) -> Outcome:
        """Simulate until the last stage has ended."""
        for name, number in self._blocked.items():
            if not number:
                self._begin(0.0, name)
        for second, node in self.machines.losses:
            self._at(second, "lost", (node, None))
        for node in range(self.machines.nodes):
            self._schedule_loss(0.0, node)
        unfinished = len(self.stages)
        while unfinished:
            now, _, kind, what = heapq.heappop(self._events)
            if kind == "ended":
                unfinished -= 1
                self._end(now, what)
            else:
                getattr(self, f"_{kind}")(now, what)
            self._assign(now)
        return self.outcome

    def _at(self, second: float, kind: str, what: Any) -> None:
        heapq.heappush(self._events, (second, next(self._order), kind, what))

    def _begin(self, now: float, name: str) -> None:
        self._started[name] = now
        self._drive(now, self.stages[name].before_jobs, "prepared", name)

    def _drive(self, now: float, seconds: float, then: str, name: str) -> None:
        """The driver does one thing at a time."""
        self._driver_free = max(now, self._driver_free) + seconds
        self._at(self._driver_free, then, name)

    def _prepared(self, now: float, name: str) -> None:
        stage = self.stages[name]
        self._waiting.extend((name, number) for number in range(stage.jobs))
        if not stage.jobs:
            self._drive(now, stage.after_jobs, "ended", name)

    def _computed(self, now: float, what: tuple[int, int, str, int]) -> None:
        number, life, name, job = what
        node, stage = self._nodes[number], self.stages[name]
        if node.lives != life:
            return
        node.under_way.discard((name, job))
        node.free += stage.job_cores
        heapq.heappush(self._idle, (-node.free, number, node.lives))
        self._link_free = max(now, self._link_free) + stage.job_result / self.machines.bandwidth
        self.outcome.moved += stage.job_result
        self._at(self._link_free, "arrived", name)

    def _arrived(self, now: float, name: str) -> None:
        self._left[name] -= 1
        if not self._left[name]:
            self._drive(now, self.stages[name].after_jobs, "ended", name)

    def _end(self, now: float, name: str) -> None:
        self.outcome.makespan = max(self.outcome.makespan, now)
        self.outcome.seconds[name] = now - self._started[name]
        for node in self._nodes:
            node.received.pop(name, None)
        for other in self.stages.values():
            if name in other.after:
                self._blocked[other.name] -= 1
                if not self._blocked[other.name]:
                    self._begin(now, other.name)

    def _lost(self, now: float, what: tuple[int, int | None]) -> None:
        number, life = what
        node = self._nodes[number]
        if life not in (None, node.lives):
            return
        self._waiting.extendleft(sorted(node.under_way))
        self.outcome.repeated += len(node.under_way)
        node.lives, node.free, node.received, node.under_way = node.lives + 1, 0, {}, set()
        self._at(now + self.machines.replaced_after, "replaced", (number, node.lives))

    def _replaced(self, now: float, what: tuple[int, int]) -> None:
        number, life = what
        node = self._nodes[number]
        if node.lives == life:
            node.free = self.machines.cores
            heapq.heappush(self._idle, (-node.free, number, node.lives))
            self._schedule_loss(now, number)

    def _schedule_loss(self, now: float, number: int) -> None:
        if self.machines.lost_per_hour:
            hours = self._random.expovariate(self.machines.lost_per_hour)
            self._at(now + 3600 * hours, "lost", (number, self._nodes[number].lives))

    def _assign(self, now: float) -> None:
        """Give waiting jobs to nodes with free cores."""
        bandwidth = self.machines.bandwidth
        while self._waiting and self._idle:
            free, number, life = self._idle[0]
            node = self._nodes[number]
            if node.lives != life or node.free != -free or not node.free:
                heapq.heappop(self._idle)
                continue
            stage = self.stages[self._waiting[0][0]]
            if node.free < min(stage.job_cores, self.machines.cores):
                return
            name, job = self._waiting.popleft()
            heapq.heappop(self._idle)
            node.free -= stage.job_cores
            node.under_way.add((name, job))
            heapq.heappush(self._idle, (-node.free, number, life))
            if name not in node.received:
                node.received[name] = now + stage.shared / bandwidth
                self.outcome.moved += stage.shared
            self.outcome.moved += stage.job_input
            begun = max(now, node.received[name]) + stage.job_input / bandwidth
            self._at(begun + node.factor * stage.job_seconds, "computed", (number, life, name, job))
