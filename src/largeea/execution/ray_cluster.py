"""The Ray cluster itself: connecting to it, what its nodes have, and which of them is free."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import ray
from ray import exceptions

from largeea.errors import ResourceError, UsageError
from largeea.execution.settings import current

SECONDS_TO_CONNECT = 15.0
SECONDS_BETWEEN_LOOKS = 1.0
"""Nodes that come and go are noticed after this time; asking takes as long as a short task."""


SETTINGS = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_idle_worker_killing_time_threshold_ms": "3600000"}
"""Of a Ray that is started here. Its idle workers wait for the next stage: else they would be ended while a
task takes all cores, and starting others takes seconds."""


class Nodes:
    """The nodes that are alive and have cores for tasks, looked up now and then."""

    def __init__(self) -> None:
        self._alive: list[dict[str, Any]] = []
        self._looked = -SECONDS_BETWEEN_LOOKS

    def alive(self) -> list[dict[str, Any]]:
        """The nodes as Ray describes them, in the order of their ids."""
        if time.monotonic() - self._looked >= SECONDS_BETWEEN_LOOKS:
            found = ray.nodes()  # type: ignore[no-untyped-call]
            working = [node for node in found if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
            self._alive = sorted(working, key=lambda node: str(node["NodeID"]))
            self._looked = time.monotonic()
        return self._alive

    def cores(self) -> list[int]:
        """Cores of each node; one where no node is there yet."""
        return [int(node["Resources"]["CPU"]) for node in self.alive()] or [1]

    def have_gpus(self) -> bool:
        """Whether some node has a GPU."""
        return any(node["Resources"].get("GPU", 0) for node in self.alive())


class Loads:
    """What the driver has handed to each node and not got back, by the id of the node."""

    def __init__(self) -> None:
        self._cores, self._seconds = Counter[str](), defaultdict[str, float](float)
        self._lock = threading.Lock()

    def take_freest(self, nodes: Iterable[dict[str, Any]], cores: int) -> str:
        """The node with the smallest load for its cores, which gets a task of so many cores.

        Ties go to the node whose tasks have taken the least time so far: the driver or other programs may
        slow others down.
        """

        def load(node: dict[str, Any]) -> tuple[float, float, str]:
            name: str = node["NodeID"]
            return self._cores[name] / node["Resources"]["CPU"], self._seconds[name], name

        with self._lock:
            node = min(map(load, nodes))[-1]
            self._cores[node] += cores
        return node

    def give_back(self, node: str, cores: int, seconds: float = 0.0) -> None:
        """A task of so many cores has ended."""
        with self._lock:
            self._cores[node] -= cores
            self._seconds[node] += seconds


def connect(address: str | None) -> None:
    """Connect to the cluster at an address; without one, to a running cluster or to a new local Ray."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
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


def _check(address: str) -> None:
    """Refuse what is not an address."""
    host, _, port = address.rpartition(":")
    if address != "auto" and not (host and port.isdigit()):
        raise UsageError(f"address = {address!r}: give HOST:PORT or auto")


def _within(seconds: float, connecting: Callable[[], Any]) -> None:
    """Connect, or give up in time: where no Ray answers, it would try for minutes."""
    failures: list[Exception] = []

    def attempt() -> None:
        try:
            connecting()
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
