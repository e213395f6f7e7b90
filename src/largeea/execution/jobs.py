"""Jobs: a stage's work in blocks. Each is a module-level function with small arguments and shared arrays.

A stage that is a map over jobs calls `run_jobs` and puts the results together. Inside a stored stage every
finished job is stored at once, so a killed run repeats only the jobs that were under way.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from largeea.execution.engines import load_engine
from largeea.execution.settings import current
from largeea.execution.shards import Shards
from largeea.graph import Arrays
from largeea.progress import advance

BLOCKS_PER_THREAD = 4
"""Blocks that a thread gets at least, so that all threads end at about the same time."""
_own = threading.local()


@dataclass(frozen=True)
class Job:
    """`function(*arguments, *shared)`, where `shared` is the same for all jobs of a map."""

    function: Callable[..., Arrays]
    arguments: tuple[int | str, ...]
    name: str = ""
    """Tells the job from the others of its stage."""

    def run(self, shared: tuple[Any, ...]) -> Arrays:
        """The result. Jobs inside a job are not stored."""
        with storing_jobs(None):
            return self.function(*self.arguments, *shared)


class JobStore(Protocol):
    """Keeps the results of finished jobs while their stage is under way."""

    def load(self, job: str) -> Arrays | None:
        """The stored result, None if there is none."""

    def save(self, job: str, result: Arrays) -> None:
        """Store a result."""


@dataclass(frozen=True)
class _Maps:
    """The maps over jobs of a stage under way: numbered in the order of their calls."""

    store: JobStore | None = None
    begun: Callable[[], None] | None = None
    """Called whenever jobs have been handed out."""
    numbers: Iterator[int] = field(default_factory=itertools.count)


_maps: ContextVar[_Maps] = ContextVar("maps over jobs", default=_Maps())  # noqa: B039


@contextmanager
def storing_jobs(store: JobStore | None, begun: Callable[[], None] | None = None) -> Iterator[None]:
    """Keep the results of all jobs inside this context; `begun` is called whenever some are handed out."""
    token = _maps.set(_Maps(store, begun))
    try:
        yield
    finally:
        _maps.reset(token)


def run_jobs(
    function: Callable[..., Arrays],
    arguments: Sequence[tuple[int | str, ...]],
    *shared: Any,
    at_once: int | None = None,
    stored: bool = True,
    shown: bool = True,
) -> Iterator[tuple[int, Arrays]]:
    """`function(*arguments[i], *shared)` for every i: `(i, result)` as jobs finish; stored ones come first.

    At most `at_once` jobs run at a time on each machine (default: one a thread) and share its threads. Jobs
    that are quicker to repeat than to store need not be `stored`; progress is `shown` unless the caller does
    that. Nodes of a cluster begin at once, threads of this process when results are asked for.
    """
    maps = _maps.get()
    label = f"{next(maps.numbers)}-{function.__name__.strip('_')}"
    jobs = [Job(function, tuple(given), "-".join([label, *map(str, given)])) for given in arguments]
    store = maps.store if stored and len(jobs) > 1 else None
    known = {} if store is None else {number: store.load(job.name) for number, job in enumerate(jobs)}
    left = [number for number in range(len(jobs)) if known.get(number) is None]
    given = tuple(_those(value, left) for value in shared)
    under_way = load_engine(current().engine).map([jobs[number] for number in left], given, at_once)
    if maps.begun is not None:
        maps.begun()

    def results() -> Iterator[tuple[int, Arrays]]:
        yield from ((number, result) for number, result in known.items() if result is not None)
        for place, result in under_way:
            number = left[place]
            if store is not None:
                store.save(jobs[number].name, result)
            yield number, result

    return _reported(results(), len(jobs)) if shown else results()


def _reported(results: Iterator[tuple[int, Arrays]], count: int) -> Iterator[tuple[int, Arrays]]:
    """The same results of so many jobs, with progress."""
    advance(0, count)
    for done, found in enumerate(results, 1):
        advance(done, count)
        yield found


def _those(value: Any, numbers: list[int]) -> Any:
    """A shared value for some of the jobs."""
    return Shards(tuple(value.parts[number] for number in numbers)) if isinstance(value, Shards) else value


def in_order(results: Iterator[tuple[int, Arrays]]) -> list[Arrays]:
    """All results of `run_jobs`, in the order of the jobs."""
    return [result for _, result in sorted(results, key=lambda found: found[0])]


def in_turn(results: Iterator[tuple[int, Arrays]]) -> Iterator[tuple[int, Arrays]]:
    """The results of `run_jobs` in the order of the jobs; those that come too early are held."""
    early: dict[int, Arrays] = {}
    following = 0
    for number, result in results:
        early[number] = result
        while following in early:
            yield following, early.pop(following)
            following += 1


def keep(value: Any) -> Any:
    """A value that several maps share: a cluster gets it once. Hand the result to `run_jobs` in its place.

    Each part of `Shards` stays on one machine.
    """
    engine = load_engine(current().engine)
    if isinstance(value, Shards):
        return Shards(tuple(engine.keep(part) for part in value.parts))
    return engine.keep(value)


def machines() -> int:
    """Machines that jobs run on: as many jobs with all threads of a machine (`at_once=1`) run at a time."""
    return load_engine(current().engine).machines


def whole_machine_blocks(rows: int, times: int) -> list[tuple[int, int]]:
    """`(first, last)` of as few blocks as keep all machines busy with `times` jobs for each block."""
    count = min(-(-machines() // max(times, 1)), rows)
    bounds = np.linspace(0, rows, count + 1).astype(np.int64).tolist()
    return list(pairwise(bounds))


def row_blocks(
    rows: int,
    *,
    least: int = 1024,
    most: int = 1 << 16,
    multiple_of: int = 1,
    bytes_per_row: int = 0,
    per_thread: int = BLOCKS_PER_THREAD,
) -> list[tuple[int, int]]:
    """`(first, last)` of blocks that cover all rows; enough for every thread, each within its memory.

    A quarter of the memory limit is for the blocks under way. Block sizes never change an answer.
    """
    threads = load_engine(current().engine).slots
    if bytes_per_row:
        most = min(most, max(1, current().memory_bytes // 4 // (threads * bytes_per_row)))
    size = min(most, max(least, -(-rows // (threads * per_thread))))
    size = max(multiple_of, size // multiple_of * multiple_of)
    return [(first, min(first + size, rows)) for first in range(0, rows, size)]


def over_rows(kernel: Callable[..., Any], rows: int, *arguments: Any, least: int = 2048) -> None:
    """`kernel(first, last, *arguments)` over all rows, on all threads. The kernel releases the GIL."""
    threads = min(current().thread_count, -(-rows // least))
    if threads <= 1:
        kernel(0, rows, *arguments)
        return
    bounds = np.linspace(0, rows, threads * BLOCKS_PER_THREAD + 1).astype(np.int64).tolist()
    for _ in _pool(threads).map(lambda span: kernel(*span, *arguments), pairwise(bounds)):
        pass


def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay with the thread that uses them: starting some takes longer than many a kernel."""
    if getattr(_own, "threads", 0) != threads:
        _own.threads, _own.pool = threads, ThreadPoolExecutor(threads)
    pool: ThreadPoolExecutor = _own.pool
    return pool
