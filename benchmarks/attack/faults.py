"""The N-th file-system event fails, or a limit of the operating system is met: a clear error and no loss."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
from collections.abc import Callable, Iterator

from benchmarks.attack.events import Events, failing
from benchmarks.attack.process import fall, run
from benchmarks.attack.victims import VICTIMS, Victim, prepare, undisturbed
from benchmarks.attack.workshop import ALIGN, Attempt, Workshop, difference, spread

ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EACCES, errno.EMFILE)
MB = 1 << 20


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    for name, victim in VICTIMS.items():
        for reading in (False, True):
            total, expected = undisturbed(workshop, victim, reading)
            numbers = spread(total, most and max(most // 2, 2))
            for number, error in ((one, error) for one in numbers for error in errors_at(one, most)):

                def fail(
                    number: int = number, error: int = error, reading: bool = reading, victim: Victim = victim
                ) -> None:
                    victim.ready()
                    Events(workshop.work, reading).watch(number, failing(error))

                wrong = hindered(workshop, victim, fail, expected)
                what = f"{'read' if reading else 'write'} error in {name}"
                yield what, wrong and f"event {number}, {errno.errorcode[error]}: {wrong}"
    yield from limits(workshop)
    yield from full_disk(workshop)


def errors_at(number: int, most: int | None) -> tuple[int, ...]:
    """Return the errors that an event meets: all of them, or one after the other in the quick form."""
    return ERRORS if most is None else ERRORS[number % len(ERRORS) :][:1]


def hindered(
    workshop: Workshop, victim: Victim, hinder: Callable[[], None], expected: dict[str, bytes]
) -> str | None:
    """Run a command that `hinder` hinders, go on without if it failed, and return what is wrong."""
    workshop.restore(victim.state)
    outcome = run(victim.arguments, hinder)
    if wrong := fall(outcome):
        return wrong
    if outcome.code and (wrong := fall(run(victim.again(), victim.ready), (0,))):
        return wrong
    return difference(workshop.content(), expected)


def limits(workshop: Workshop) -> Iterator[Attempt]:
    """Limits on file size, open files and memory, from far too little to enough.

    Below 1000 bytes, the error message itself cannot be written; below 128 MB, C libraries end the process,
    or wait.
    """
    victim = VICTIMS["align"]
    _, expected = undisturbed(workshop, victim)

    def file_size(limit: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    def open_files(more: int) -> None:
        used = max(int(name) for name in os.listdir("/proc/self/fd")) + 1  # noqa: PTH208
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + more, used + more))

    def memory(more: int) -> None:
        with open("/proc/self/statm") as file:  # noqa: PTH123
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))

    kinds: tuple[tuple[str, Callable[[int], None], tuple[int, ...]], ...] = (
        ("file size limit", file_size, (1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)),
        ("open files limit", open_files, (0, 1, 2, 3, 5, 8, 16)),
        ("memory limit", memory, (128 * MB, 256 * MB, 512 * MB, 1024 * MB)),
    )
    for what, limit, values in kinds:
        for value in values:
            wrong = hindered(workshop, victim, lambda limit=limit, value=value: limit(value), expected)
            yield what, wrong and f"{value:,}: {wrong}"


def full_disk(workshop: Workshop) -> Iterator[Attempt]:
    """Small file systems; without the right to mount them, they are left out."""
    workshop.restore("inputs")
    folder = workshop.work / "run"
    for kilobytes in (8, 32, 64, 128, 256):
        folder.mkdir(exist_ok=True)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            return
        try:
            outcome = run(ALIGN)
            wrong = fall(outcome)
        finally:
            os.chdir("/")
            subprocess.run(["umount", str(folder)], check=True)
            os.chdir(workshop.work)
        yield "full disk", wrong and f"{kilobytes} KB: {wrong}"
