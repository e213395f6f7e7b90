"""Several processes, strange locks, and folders and inputs that change under a run."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks.attack.events import Events, kill_me
from benchmarks.attack.process import Outcome, fall, run, start
from benchmarks.attack.victims import VICTIMS, prepare, undisturbed
from benchmarks.attack.workshop import ALIGN, Attempt, Workshop, difference, required, spread

from largeea import cli

RUN = Path("run")
LOCKED_FROM = 12
"""The event from which a run holds its lock."""
TEN_YEARS = 10 * 365 * 86_400

Content = dict[str, bytes]


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    total, expected = undisturbed(workshop, VICTIMS["align"])
    for _ in range(min(most or 20, 5)):
        yield "two processes at once", two_at_once(workshop, expected)
    for number in spread(total - LOCKED_FROM, most and max(most // 4, 2)):
        wrong = second_beside_a_stopped_one(workshop, LOCKED_FROM + number, expected)
        yield "a second process meanwhile", wrong and f"event {number}: {wrong}"
    for name, make in STRANGE_LOCKS.items():
        workshop.restore("inputs")
        RUN.mkdir()
        make(RUN / ".lock")
        wrong = fall(run(ALIGN)) or _again(workshop, expected)
        yield "strange lock files", wrong and f"{name}: {wrong}"
    for name, change in CHANGES.items():
        for number in spread(total, most and max(most // 4, 2)):
            workshop.restore("inputs")
            outcome = changed_at(workshop, number, change)
            wrong = fall(outcome) or _untouched(workshop, expected)
            yield "folder changed under a run", wrong and f"{name} at event {number}: {wrong}"
    yield from changed_inputs(workshop, total, most)
    yield from reused_process_ids(workshop, total, most, expected)
    yield from clock_jumps(workshop, total, most, expected)


def two_at_once(workshop: Workshop, expected: dict[str, bytes]) -> str | None:
    """Start two processes on one folder: each ends with an answer, or is told that it has to wait."""
    workshop.restore("inputs")
    first = start(lambda: cli.run(ALIGN), Path("../first.out"), Path("../first.err"))
    second = run(ALIGN)
    code = os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])
    if wrong := fall(second, (0, 4)) or (f"the first ended with {code}" if code not in (0, 4) else None):
        return wrong
    if code and second.code:
        return "neither has come to an end"
    return difference(workshop.content(), expected)


def second_beside_a_stopped_one(workshop: Workshop, number: int, expected: Content) -> str | None:
    """Stop a process at an event, start another on its folder, which is refused, and let the first go on."""
    workshop.restore("inputs")

    def first_one() -> int:
        Events(workshop.work).watch(number, lambda: os.kill(os.getpid(), signal.SIGSTOP))
        return cli.run(ALIGN)

    first = start(first_one, Path("../first.out"), Path("../first.err"))
    _, status = os.waitpid(first, os.WUNTRACED)
    wrong = None
    if os.WIFSTOPPED(status):  # the number of events is not always the same
        wrong = fall(run(ALIGN), (4,))
        os.kill(first, signal.SIGCONT)
        _, status = os.waitpid(first, 0)
    code = os.waitstatus_to_exitcode(status)
    wrong = wrong or (f"the first ended with {code}" if code else None)
    return wrong or difference(workshop.content(), expected)


def _again(workshop: Workshop, expected: dict[str, bytes]) -> str | None:
    """Remove what is in the way of the run, repeat it, and compare."""
    untouched = _untouched(workshop, expected)
    if (RUN / ".lock").is_symlink():
        (RUN / ".lock").unlink()
    elif (RUN / ".lock").is_dir():
        (RUN / ".lock").rmdir()
    return untouched or fall(run(ALIGN), (0,)) or difference(workshop.content(), expected)


def _untouched(workshop: Workshop, expected: dict[str, bytes]) -> str | None:
    """Compare the files outside the run folder."""
    found, outside = (
        {name: data for name, data in files.items() if "/" not in name and name != RUN.name}
        for files in (workshop.content(), expected)
    )
    return difference(found, outside)


def _lock_of_this_process(path: Path) -> None:
    path.write_text(f'{{"pid": {os.getpid()}, "host": "here", "since": "2999-01-01"}}')


STRANGE_LOCKS: dict[str, Callable[[Path], object]] = {
    "empty": Path.touch,
    "of a process that runs": _lock_of_this_process,
    "no JSON": lambda path: path.write_bytes(b"\xff{" * 1000),
    "not to be written": lambda path: (path.touch(), path.chmod(0)),
    "a folder": Path.mkdir,
    "a link to an input": lambda path: path.symlink_to(Path.cwd() / "a.nt"),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "a pipe": os.mkfifo,
}


def _link_elsewhere() -> None:
    Path("elsewhere").mkdir()
    RUN.rename("moved")
    RUN.symlink_to("elsewhere")


CHANGES: dict[str, Callable[[], object]] = {
    "removed": lambda: shutil.rmtree(RUN, ignore_errors=True),
    "replaced by a link": _link_elsewhere,
    "replaced by a file": lambda: (RUN.rename("moved"), RUN.touch()),
    "stages removed": lambda: shutil.rmtree(RUN / "stages", ignore_errors=True),
    "not to be written": lambda: RUN.chmod(0o500),
}


def changed_at(workshop: Workshop, number: int, change: Callable[[], object]) -> Outcome:
    """Change the folder from within the run, at an event; the root user may write everywhere."""

    def act() -> None:
        if RUN.is_dir():
            change()

    return run(ALIGN, lambda: Events(workshop.work).watch(number, act))


def changed_inputs(workshop: Workshop, total: int, most: int | None) -> Iterator[Attempt]:
    """Kill a run, change an input, and go on: the answer is that of the changed input."""
    workshop.restore("inputs")
    shutil.copyfile("a2.nt", "a.nt")
    required(ALIGN)
    expected = workshop.content()
    for number in spread(total, most and max(most // 2, 2)):
        workshop.restore("inputs")
        run(ALIGN, lambda number=number: Events(workshop.work).watch(number, kill_me))
        shutil.copyfile("a2.nt", "a.nt")
        outcome = run(["resume", "run", "-q"] if (RUN / "manifest.json").is_file() else ALIGN)
        wrong = fall(outcome, (0,)) or difference(workshop.content(), expected)
        yield "input changed under a resume", wrong and f"event {number}: {wrong}"


def reused_process_ids(
    workshop: Workshop, total: int, most: int | None, expected: Content
) -> Iterator[Attempt]:
    """Kill a run that holds its lock, let another process have its id, and go on."""
    for number in spread(total, most and max(most // 4, 2)):
        workshop.restore("inputs")
        run(ALIGN, lambda number=number: Events(workshop.work).watch(number, kill_me))
        RUN.mkdir(exist_ok=True)
        _lock_of_this_process(RUN / ".lock")
        wrong = fall(run(ALIGN), (0,)) or difference(workshop.content(), expected)
        yield "process id reused", wrong and f"event {number}: {wrong}"


def clock_jumps(workshop: Workshop, total: int, most: int | None, expected: Content) -> Iterator[Attempt]:
    """Files from the future and the distant past, before a run, after it and in between."""
    for shift in (TEN_YEARS, -4 * TEN_YEARS):
        for number in spread(total, most and 2):
            workshop.restore("inputs")
            wrong = fall(jumped_at(workshop, number, shift), (0,)) or difference(workshop.content(), expected)
            yield "clock jump", wrong and f"event {number}: {wrong}"
        for state in ("inputs", "finished"):
            workshop.restore(state)
            then = time.time() + shift
            touch_all(workshop, then)
            outcome = run(ALIGN)
            yield "clock jump", fall(outcome, (0,)) or difference(workshop.content(), expected)
            shutil.copyfile("a2.nt", "a.nt")
            os.utime("a.nt", (then, then))
            outcome = run(["resume", "run", "-q"])
            wrong = fall(outcome, (0,))
            if not wrong and b"Riga" in Path("a.nt").read_bytes():
                same = (RUN / "alignment.sssom.tsv").read_bytes() == expected["run/alignment.sssom.tsv"]
                wrong = "a changed input was not noticed" if same else None
            yield "clock jump", wrong


def touch_all(workshop: Workshop, then: float) -> None:
    """Give all files this time."""
    for path in workshop.work.rglob("*"):
        with suppress(FileNotFoundError):  # a run may be under way
            os.utime(path, (then, then), follow_symlinks=False)


def jumped_at(workshop: Workshop, number: int, shift: int) -> Outcome:
    """Let the clock and the times of all files jump at an event of a run."""

    def act() -> None:
        now = time.time
        time.time = lambda: now() + shift
        touch_all(workshop, time.time())

    return run(ALIGN, lambda: Events(workshop.work).watch(number, act))
