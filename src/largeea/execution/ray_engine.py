"""`RayEngine`: carries jobs out as tasks of a Ray cluster, or of a Ray that it starts on this machine.

A task is described by plain values: the name of the job's function and its arguments. What all jobs of a map
share goes into Ray's object store once, so every node holds one copy that its workers map into memory. Only
the driver puts objects there: what a worker puts is lost with it. Jobs that were lost with a worker or a
node are carried out again; results are known by the place of their job, so their order leaves no trace.
"""

from __future__ import annotations

import importlib
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import ray
from ray import exceptions

from largeea.errors import ResourceError, UsageError
from largeea.execution.settings import Execution, current, executing
from largeea.graph import Arrays
from largeea.progress import note

if TYPE_CHECKING:
    from largeea.execution.jobs import Job

SECONDS_TO_CONNECT = 15.0
AHEAD = 2
"""Tasks that are handed to Ray for each one that can run, so that no worker waits for the driver."""
MOST_ATTEMPTS = 5
"""A job that is lost so often will not end well elsewhere either."""
LOST = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,
    exceptions.OutOfMemoryError,
)


@dataclass
class Usage:
    """What the tasks of this process have taken: per node, and how many were repeated."""

    nodes: dict[str, dict[str, float]] = field(default_factory=dict)
    repeated: int = 0

    def add(self, node: str, seconds: float, result: Arrays) -> None:
        """Count a finished task."""
        known = self.nodes.setdefault(node, {"jobs": 0, "seconds": 0.0, "bytes_returned": 0})
        known["jobs"] += 1
        known["seconds"] = round(known["seconds"] + seconds, 3)
        known["bytes_returned"] += sum(array.nbytes for array in result.values())


class RayEngine:
    """Jobs as Ray tasks. A machine of the cluster runs as many at a time as its cores allow."""

    usage = Usage()

    def begin(self) -> None:
        """Connect to the cluster at `address`; without one, to a running cluster or to a new local Ray."""
        if ray.is_initialized():
            return
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        RayEngine.usage = Usage()
        address = current().address
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        try:
            if address is not None:
                _check(address)
                _within(SECONDS_TO_CONNECT, partial(ray.init, address=address, **quiet))
                return
            try:
                ray.init(address="auto", **quiet)
            except ConnectionError:
                ray.init(address="local", num_cpus=current().thread_count, include_dashboard=False, **quiet)
        except (ConnectionError, RuntimeError, TimeoutError, exceptions.RayError) as error:
            raise _no_cluster(address or "auto", str(error).splitlines()[0]) from None

    @property
    def slots(self) -> int:
        """Cores of the cluster."""
        self.begin()
        return max(1, int(_resources().get("CPU", 1)))

    def report(self) -> dict[str, Any]:
        """Jobs, seconds and bytes of each node, and how many jobs were repeated, for the manifest."""
        return {"nodes": self.usage.nodes, "repeated_jobs": self.usage.repeated}

    def map(self, jobs: Sequence[Job], shared: tuple[Any, ...], at_once: int) -> Iterator[tuple[int, Arrays]]:
        """See `Engine.map`."""
        if not jobs:
            return
        self.begin()
        options = _needs(at_once)
        execution = replace(current(), engine="local", address=None, threads=int(options["num_cpus"]))
        task = ray.remote(carry_out).options(**options)
        placed = ray.put(shared)
        waiting, losses = deque(range(len(jobs))), Counter[int]()
        under_way: dict[Any, int] = {}
        try:
            while waiting or under_way:
                while waiting and len(under_way) < AHEAD * self.slots:
                    place = waiting.popleft()
                    job = jobs[place]
                    described = job.function.__module__, job.function.__qualname__, job.arguments
                    under_way[task.remote(described, execution, placed)] = place
                for finished in ray.wait(list(under_way), num_returns=1)[0]:
                    place = under_way.pop(finished)
                    try:
                        result, node, seconds = ray.get(finished)
                    except LOST as error:
                        losses[place] += 1
                        self.usage.repeated += 1
                        if losses[place] == MOST_ATTEMPTS:
                            raise _keeps_getting_lost(error) from None
                        note(f"a job was lost ({type(error).__name__}) and is carried out again")
                        waiting.append(place)
                        continue
                    except exceptions.RayTaskError as error:
                        raise error.cause from None
                    self.usage.add(node, seconds, result)
                    yield place, result
        finally:
            for task_left in under_way:
                ray.cancel(task_left)


def carry_out(
    described: tuple[str, str, tuple[int | str, ...]], execution: Execution, shared: tuple[Any, ...]
) -> tuple[Arrays, str, float]:
    """The result of a job, on which node and in how many seconds: what a worker does."""
    module, name, arguments = described
    function = getattr(importlib.import_module(module), name)
    started = time.perf_counter()
    with executing(execution):
        result = function(*arguments, *shared)
    node = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
    return result, node, time.perf_counter() - started


def _resources() -> dict[str, float]:
    """What the cluster has in all."""
    found: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return found


def _needs(at_once: int) -> dict[str, Any]:
    """The resources of one task: a share of a machine's cores and, where the cluster has GPUs, of one GPU.

    Ray itself must not repeat tasks: the engine does, and counts them.
    """
    alive = [node for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
    cores = [node["Resources"].get("CPU", 0) for node in alive]
    smallest = int(min([each for each in cores if each] or [1]))
    each = min(max(1, current().thread_count // at_once), smallest)
    needs: dict[str, Any] = {"num_cpus": each, "max_retries": 0, "scheduling_strategy": "SPREAD"}
    if current().device != "cpu" and _resources().get("GPU", 0):
        needs["num_gpus"] = 1 / at_once
    return needs


def _check(address: str) -> None:
    """Refuse what is no address."""
    host, _, port = address.rpartition(":")
    if address != "auto" and not (host and port.isdigit()):
        raise UsageError(f"address = {address!r}: give HOST:PORT or auto")


def _within(seconds: float, connect: Callable[[], Any]) -> None:
    """Connect, or give up in time: where no Ray answers, it would try for minutes."""
    failures: list[Exception] = []

    def attempt() -> None:
        try:
            connect()
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError(f"no answer from Ray within {seconds:.0f} s")
    if failures:
        raise failures[0]


def _no_cluster(address: str, why: str) -> ResourceError:
    return ResourceError(
        f"no Ray cluster answers at {address} ({why}); start one with: ray start --head, or leave out the "
        "address to use this machine alone"
    )


def _keeps_getting_lost(error: Exception) -> ResourceError:
    return ResourceError(
        f"a job was lost {MOST_ATTEMPTS} times in a row ({type(error).__name__}): its workers run out of "
        "memory or keep being killed; give each node more memory, or allow the run less (--memory)"
    )
