"""kill -9 at every file-system event of a command; what its user does next must end with the same bytes.

Every result that is there after the kill is whole: the one from before, or the new one.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.attack.events import Events, kill_me
from benchmarks.attack.process import call, fall, run
from benchmarks.attack.victims import VICTIMS, Victim, prepare, undisturbed
from benchmarks.attack.workshop import Attempt, Workshop, difference, spread

from largeea.reviews import Decision, ReviewLog, read_reviews

DECISIONS = 5


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    prepare(workshop)
    for name, victim in VICTIMS.items():
        total, expected = undisturbed(workshop, victim)
        for number in spread(total, most):
            workshop.restore(victim.state)
            before = workshop.content()
            yield f"kill -9 in {name}", killed_at(workshop, victim, number, before, expected)
    yield from reviews(workshop)


def killed_at(
    workshop: Workshop, victim: Victim, number: int, before: dict[str, bytes], expected: dict[str, bytes]
) -> str | None:
    """Kill a command at an event, go on, and return what is wrong then."""
    events = Events(workshop.work)

    def watch() -> None:
        victim.ready()
        events.watch(number, kill_me)

    outcome = run(victim.arguments, watch)
    if not outcome.killed and fall(outcome, (0,)):
        return f"event {number}: {fall(outcome, (0,))}"
    if half := half_written(workshop.content(), before, expected):
        return f"event {number}: half-written: {', '.join(half)}"
    again = run(victim.again(), victim.ready)
    wrong = fall(again, (0,)) or difference(workshop.content(), expected)
    return wrong and f"event {number}: {wrong}"


def half_written(found: dict[str, bytes], before: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    """Return the results that are neither the old nor the new ones; stages are known by their digests."""
    return [
        name
        for name, data in found.items()
        if name in expected and "/stages/" not in name and data not in (before.get(name), expected[name])
    ]


def reviews(workshop: Workshop) -> Iterator[Attempt]:
    """Kill a process that stores decisions; those it has reported as stored must be there."""

    def store(shared: Events, at: int) -> int:
        shared.watch(at, kill_me)
        for i in range(DECISIONS):
            ReviewLog(workshop.work / "run").append([Decision(f"urn:a:{i}", f"urn:b:{i}", "same", "me")])
            print(i, flush=True)
        return 0

    def check() -> int:
        log = ReviewLog(workshop.work / "run")
        log.append([Decision("urn:a:last", "urn:b:last", "different", "me")])
        print(*sorted(link[0] for link in read_reviews(workshop.work / "run").confirmed), sep="\n")
        return 0

    workshop.restore("finished")
    counted = Events(workshop.work)
    call(lambda: store(counted, 0))
    for number in range(1, counted.count + 1):
        workshop.restore("finished")
        events = Events(workshop.work)
        stored = call(lambda number=number, events=events: store(events, number)).out.split()
        after = call(check)
        lost = {f"urn:a:{i}" for i in stored} - set(after.out.split())
        yield "kill -9 in review", fall(after, (0,)) or (f"event {number}: lost {lost}" if lost else None)
