"""`RayEngine`: carries jobs out as tasks of a Ray cluster, or of a Ray that it starts on this machine.

A task is described by plain values: the name of the job's function and its arguments. What all jobs of a map
share goes into Ray's object store once, but for arrays in files that all nodes see: they map the files. Only
the driver puts objects there: what a worker puts is lost with it. Jobs that were lost with a worker or a
node are carried out again; results are known by the place of their job, so their order leaves no trace.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from largeea.errors import ResourceError
from largeea.execution.file_arrays import NotVisible
from largeea.execution.ray_cluster import Loads, Nodes, connect
from largeea.execution.ray_objects import ObjectStore, Placed
from largeea.execution.settings import current
from largeea.execution.shards import Shards, share_of
from largeea.execution.tasks import carry_out, described, get_ready, loaded_modules
from largeea.graph import Arrays
from largeea.progress import note

if TYPE_CHECKING:
    from largeea.execution.jobs import Job

AHEAD = 2
"""Tasks that are handed to Ray for each one that can run, so that no worker waits for the driver. The last
tasks of a map wait for a free node instead."""
MOST_ATTEMPTS = 5
"""A job that is lost so often will not end well elsewhere either."""
_connecting = threading.Lock()
LOST = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,
    exceptions.OutOfMemoryError,
    exceptions.TaskUnschedulableError,
)


@dataclass
class Usage:
    """What the tasks of this process have taken: per node, and how many were repeated."""

    nodes: dict[str, dict[str, float]] = field(default_factory=dict)
    repeated: int = 0
    seconds_waited: float = 0.0
    """In which stages waited for nodes; two stages that wait at the same time count both."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, node: str, seconds: float, result: Arrays) -> None:
        """Count a finished task."""
        with self._lock:
            known = self.nodes.setdefault(node, {"jobs": 0, "seconds": 0.0, "bytes_returned": 0})
            known["jobs"] += 1
            known["seconds"] = round(known["seconds"] + seconds, 3)
            known["bytes_returned"] += sum(array.nbytes for array in result.values())

    def add_wait(self, seconds: float) -> None:
        """Count a wait for nodes."""
        with self._lock:
            self.seconds_waited += seconds


class Session:
    """What the engine knows of the cluster that it is connected to."""

    def __init__(self) -> None:
        self.usage, self.nodes, self.loads = Usage(), Nodes(), Loads()
        self.store = ObjectStore(self.nodes)


class RayEngine:
    """Jobs as Ray tasks. A machine of the cluster runs as many at a time as its cores allow."""

    session = Session()

    def begin(self) -> None:
        """Connect to the cluster of the settings, unless that has been done."""
        with _connecting:
            if not ray.is_initialized():
                RayEngine.session = Session()
                connect(current().address)
                _let_workers_get_ready(self.session.nodes.alive())

    @property
    def slots(self) -> int:
        """Cores of the cluster."""
        self.begin()
        return sum(self.session.nodes.cores())

    @property
    def machines(self) -> int:
        """Nodes of the cluster that carry tasks out."""
        self.begin()
        return len(self.session.nodes.cores())

    def report(self) -> dict[str, Any]:
        """What each node did, the jobs repeated, the driver's wait for nodes, and how arrays got there."""
        usage, store = self.session.usage, self.session.store
        return {
            "nodes": usage.nodes,
            "repeated_jobs": usage.repeated,
            "driver_waited_seconds": round(usage.seconds_waited, 3),
            "bytes_sent": store.bytes_sent,
            "bytes_mapped": store.bytes_mapped,
        }

    def keep(self, value: Any) -> Placed:
        """See `Engine.keep`."""
        self.begin()
        return Placed(value, self.session.store)

    def map(
        self, jobs: Sequence[Job], shared: tuple[Any, ...], at_once: int | None
    ) -> Iterator[tuple[int, Arrays]]:
        """See `Engine.map`. The first tasks are handed to Ray at once."""
        if not jobs:
            return iter(())
        self.begin()
        results = _results(_Tasks(self.session, jobs, shared, at_once))
        next(results)
        return results


def _results(tasks: _Tasks) -> Iterator[Any]:
    """None when the first tasks are handed to Ray, then `(position, result)` of each job as it finishes.

    Others are handed to Ray before a result is passed on: what is done with it may take its time.
    """
    try:
        tasks.hand_out()
        yield None
        while tasks.under_way:
            place, result = tasks.next_finished()
            tasks.hand_out()
            if result is not None:
                yield place, result
    finally:
        tasks.cancel()


class _Tasks:
    """The tasks of one map."""

    def __init__(
        self, session: Session, jobs: Sequence[Job], shared: tuple[Any, ...], at_once: int | None
    ) -> None:
        self._session, self._jobs = session, jobs
        self._waiting = deque(range(len(jobs)))
        self.under_way: dict[Any, int] = {}
        """The places of the jobs that are handed to Ray."""
        self._options = _needs(self._session.nodes, at_once)
        self._cores = int(self._options["num_cpus"])
        self._execution = replace(current(), engine="local", address=None, threads=self._cores)
        self._shared = tuple(map(self._placed, shared))
        shards = (value.parts for value in shared if isinstance(value, Shards))
        self._has_homes = any(isinstance(part, Placed) for parts in shards for part in parts)
        self._losses = Counter[int]()
        self._node_of: dict[Any, str | None] = {}

    def _placed(self, value: Any) -> Any:
        """How a shared value is handed to tasks."""
        if isinstance(value, Shards):
            return Shards(tuple(map(self._placed, value.parts)))
        if value is None or isinstance(value, Placed | bool | int | float | str):
            return value
        return Placed(value, self._session.store)

    def at_a_time(self, waiting: int) -> int:
        """Tasks that may be handed to Ray at a time while so many wait.

        The last ones go to nodes that are free: behind another task, they would keep a slow node busy while
        the others have nothing left to do.
        """
        running = sum(cores // self._cores for cores in self._session.nodes.cores())
        return AHEAD * running if waiting > running else running

    def hand_out(self) -> None:
        """Hand to Ray what nodes can carry out now or next."""
        while self._waiting and len(self.under_way) < self.at_a_time(len(self._waiting)):
            place = self._waiting.popleft()
            self.under_way[self._submit(place)] = place

    def next_finished(self) -> tuple[int, Arrays | None]:
        """The place and result of the next job that finishes; None if it has to be carried out again."""
        started = time.perf_counter()
        [finished], _ = ray.wait(list(self.under_way), num_returns=1)
        self._session.usage.add_wait(time.perf_counter() - started)
        place = self.under_way.pop(finished)
        result = self._result(finished, place)
        if result is None:
            self._waiting.appendleft(place)
        return place, result

    def cancel(self) -> None:
        """Give up what is under way. A worker that is only interrupted may be left with half of a module
        imported."""
        for task in self.under_way:
            ray.cancel(task, force=True)
            self._give_back(task)

    def _submit(self, place: int) -> Any:
        """Hand the job at this place to Ray."""
        own = share_of(place, self._shared)
        given = [value.reference() if isinstance(value, Placed) else value for value in own]
        job, node = self._jobs[place], self._node_for(place)
        there = "SPREAD" if node is None else NodeAffinitySchedulingStrategy(node, soft=True)
        carried_out = _task().options(scheduling_strategy=there, **self._options)
        task = carried_out.remote(described(job.function, job.arguments), self._execution, *given)
        self._node_of[task] = node
        return task

    def _result(self, finished: Any, place: int) -> Arrays | None:
        """The result of a finished task; None if it was lost and has to be carried out again."""
        seconds = 0.0
        try:
            result, node, seconds = ray.get(finished)
        except LOST as error:
            self._losses[place] += 1
            self._session.usage.repeated += 1
            if self._losses[place] == MOST_ATTEMPTS:
                raise _keeps_getting_lost(error) from None
            note(f"a job was lost ({type(error).__name__}) and is carried out again")
            return None
        except exceptions.RayTaskError as error:
            if not isinstance(error.cause, NotVisible):
                raise error.cause from None
            self._session.store.given_up.add(str(error.cause))
            return None
        finally:
            self._give_back(finished, seconds)
        self._session.usage.add(node, seconds, result)
        arrays: Arrays = result
        return arrays

    def _give_back(self, task: Any, seconds: float = 0.0) -> None:
        """A task no longer keeps its node busy."""
        node = self._node_of.pop(task)
        if node is not None:
            self._session.loads.give_back(node, self._cores, seconds)

    def _node_for(self, place: int) -> str | None:
        """The node for a job: the freest or, for a shard that several maps share, its home.

        Ray takes another one if it is gone meanwhile. None where no node is there yet.
        """
        alive = [node for node in self._session.nodes.alive() if self._has_room(node)]
        if alive and self._has_homes:
            alive = [alive[place % len(alive)]]
        return self._session.loads.take_freest(alive, self._cores) if alive else None

    def _has_room(self, node: dict[str, Any]) -> bool:
        """Whether a task would fit on a node that does nothing else."""
        return bool(node["Resources"].get("GPU", 0) >= self._options.get("num_gpus", 0))


def _let_workers_get_ready(nodes: list[dict[str, Any]]) -> None:
    """Start a worker for each core of the nodes. It imports what jobs need while the driver reads files.

    Nobody waits for that. If it fails, the first job says why.
    """
    getting_ready, modules = ray.remote(get_ready), loaded_modules()
    for node in nodes:
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        for _ in range(int(node["Resources"]["CPU"])):
            getting_ready.options(num_cpus=1, max_retries=0, scheduling_strategy=there).remote(modules)


@cache
def _task() -> Any:
    return ray.remote(carry_out)


def _needs(nodes: Nodes, at_once: int | None) -> dict[str, Any]:
    """The resources of one task: a share of a machine's cores and, where the cluster has GPUs, of one GPU.

    Ray itself must not repeat tasks: the engine does, and counts them.
    """
    smallest = min(nodes.cores())
    share = at_once or smallest
    needs: dict[str, Any] = {"num_cpus": max(1, smallest // share), "max_retries": 0}
    if current().device != "cpu" and nodes.have_gpus():
        needs["num_gpus"] = 1 / share
    return needs


def _keeps_getting_lost(error: Exception) -> ResourceError:
    return ResourceError(
        f"a job was lost {MOST_ATTEMPTS} times in a row ({type(error).__name__}): its workers run out of "
        "memory or keep being killed; give each node more memory, or allow the run less (--memory)"
    )
