"""Commands that write files: how each is begun, and how its user goes on after it was interrupted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.attack.events import Events
from benchmarks.attack.process import fall, run
from benchmarks.attack.workshop import ALIGN, Workshop, required, write_pair

from largeea.runs import store


@dataclass(frozen=True)
class Victim:
    """A command that is attacked in a saved state of the workshop; `again` finishes what it left."""

    state: str
    arguments: list[str]
    again: Callable[[], list[str]]


def _the_same(*arguments: str) -> Victim:
    return Victim("finished", list(arguments), lambda: list(arguments))


def _resume_or(arguments: list[str], folder: str) -> Callable[[], list[str]]:
    return lambda: ["resume", folder, "-q"] if Path(folder, "manifest.json").is_file() else arguments


_UPDATE = ["update", "run", "--source", "a2.nt", "--target", "b2.nt", "-o", "run2", "-q"]
_OTHER_SEED = [*ALIGN, "--seed", "7", "--write", "tsv"]
VICTIMS = {
    "align": Victim("inputs", ALIGN, _resume_or(ALIGN, "run")),
    "align, other settings": Victim("finished", _OTHER_SEED, lambda: _OTHER_SEED),
    "update": Victim("finished", _UPDATE, _resume_or(_UPDATE, "run2")),
    "merge": _the_same("merge", "run", "-o", "merged.nt", "-q"),
    "merge, compressed": _the_same("merge", "run", "-o", "merged.nq.gz", "--provenance", "graphs", "-q"),
    "report": _the_same("report", "run", "-q"),
    "synth": _the_same("synth", "--like", "ids15k-en-fr", "--scale", "0.004", "-o", "twin", "-q"),
}


def prepare(workshop: Workshop) -> None:
    """Save the states `inputs` and `finished`."""
    workshop.clear()
    write_pair()
    workshop.save("inputs")
    required(ALIGN)
    workshop.save("finished")


def store_jobs_at_once() -> None:
    """Store every job: the stages of a tiny pair are too short otherwise."""
    store.JOBS_AFTER = 0.0


def undisturbed(workshop: Workshop, victim: Victim, reading: bool = False) -> tuple[int, dict[str, bytes]]:
    """Return the number of events of a command that nobody attacks, and the files that it leaves."""
    workshop.restore(victim.state)
    events = Events(workshop.work, reading)

    def watch() -> None:
        store_jobs_at_once()
        events.watch()

    outcome = run(victim.arguments, watch)
    if fall(outcome, (0,)):
        raise SystemExit(f"largeea {' '.join(victim.arguments)}: {outcome.err}")
    return events.count, workshop.content()
