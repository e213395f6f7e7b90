"""Engines carry jobs out. The local one uses the threads of this process."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, Protocol

from largeea.execution.settings import current, with_threads
from largeea.execution.shards import share_of
from largeea.graph import Arrays
from largeea.plugins import Registry

if TYPE_CHECKING:
    from largeea.execution.jobs import Job

ENGINES = Registry(
    "engine",
    "largeea.engines",
    {
        "local": "largeea.execution.engines:LocalEngine",
        "ray": "largeea.execution.ray_engine:RayEngine",
    },
    "ray",
)


class Engine(Protocol):
    """Where jobs run."""

    @property
    def slots(self) -> int:
        """Jobs that can run at a time."""

    @property
    def machines(self) -> int:
        """Machines that jobs run on."""

    def begin(self) -> None:
        """Make sure that jobs can be carried out, before hours of work depend on it."""

    def report(self) -> dict[str, Any]:
        """Where jobs ran and what they took; empty if there is nothing to tell."""

    def keep(self, value: Any) -> Any:
        """What stands for a value in the shared values of several maps."""

    def map(
        self, jobs: Sequence[Job], shared: tuple[Any, ...], at_once: int | None
    ) -> Iterator[tuple[int, Arrays]]:
        """`(position, result)` of each job as it finishes.

        On each machine at most `at_once` run at a time (None: one a thread), and share its threads. Other
        machines begin at once, this process when results are asked for.
        """


class LocalEngine:
    """Threads of this process: compiled code and torch release the GIL.

    The first failure ends the map; jobs that have not begun are dropped.
    """

    @property
    def slots(self) -> int:
        """See `Engine.slots`."""
        return current().thread_count

    @property
    def machines(self) -> int:
        """See `Engine.machines`."""
        return 1

    def begin(self) -> None:
        """See `Engine.begin`; there is nothing to do."""

    def report(self) -> dict[str, Any]:
        """See `Engine.report`."""
        return {}

    def keep(self, value: Any) -> Any:
        """See `Engine.keep`: the value itself."""
        return value

    def map(
        self, jobs: Sequence[Job], shared: tuple[Any, ...], at_once: int | None
    ) -> Iterator[tuple[int, Arrays]]:
        """See `Engine.map`."""
        at_once = min(at_once or self.slots, self.slots)
        if at_once == 1 or len(jobs) == 1:
            for place, job in enumerate(jobs):
                yield place, contextvars.copy_context().run(job.run, share_of(place, shared))
            return
        threads_each = max(1, current().thread_count // at_once)

        def carry_out(place: int, job: Job) -> Arrays:
            with with_threads(threads_each):
                return job.run(share_of(place, shared))

        waiting = iter(enumerate(jobs))
        with ThreadPoolExecutor(at_once) as pool:
            under_way: dict[Future[Arrays], int] = {}
            try:
                while True:
                    while len(under_way) < at_once and (following := next(waiting, None)):
                        place, job = following
                        context = contextvars.copy_context()
                        under_way[pool.submit(context.run, carry_out, place, job)] = place
                    if not under_way:
                        return
                    for finished in wait(under_way, return_when=FIRST_COMPLETED).done:
                        yield under_way.pop(finished), finished.result()
            finally:
                for future in under_way:
                    future.cancel()


def load_engine(name: str) -> Engine:
    """The engine of that name."""
    engine: Engine = ENGINES.load(name)()
    return engine
