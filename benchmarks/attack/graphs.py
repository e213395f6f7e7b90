"""Graphs that an adversary would make: time and memory at a size and at twice that size.

Growth beyond `FACTOR`, twice in a row, is a fall: linear work doubles, quadratic work takes four times as
long. CPU time is compared, so that other programs on the machine do not matter.

    python -m benchmarks.attack.graphs "one hub" 1000000 --memory 10GB    one graph, with its slowest stages
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from benchmarks.attack.process import Outcome, fall, run
from benchmarks.attack.shapes import GROWING, SMALL, Lines, hub_of_pairs, statements
from benchmarks.attack.workshop import Attempt, Workshop

FACTOR = 3.0
NEGLIGIBLE_SECONDS, NEGLIGIBLE_MB = 4.0, 200.0
SECONDS = 7200
STAGES_SHOWN = 3


EXPLANATIONS = {
    "explain": ["explain", "run", "The Hub", "--json"],
    "report": ["report", "run", "-q"],
}


def attempts(workshop: Workshop, most: int | None) -> Iterator[Attempt]:
    size = 500_000 if most is None else 10_000 if most >= 10 else 1000
    for name, text in SMALL.items():
        outcome = aligned(workshop, lambda side, text=text: iter([text.replace("{side}", side)]))
        yield f"graph: {name}", fall(outcome)
    base = aligned(workshop, statements)
    for name, make in GROWING.items():

        def of_size(n: int, make: Callable[[str, int], Lines] = make) -> Outcome:
            return aligned(workshop, lambda side: chain(statements(side), make(side, n)))

        small, large = of_size(size), of_size(2 * size)
        wrong = fall(small) or fall(large)
        if not wrong and grown(base, small, large):  # once may be chance, such as one round more
            wrong = grown(base, large, of_size(4 * size))
        yield f"graph: {name}", wrong
    yield from explained(workshop, size)


def explained(workshop: Workshop, size: int) -> Iterator[Attempt]:
    """Explain and report a pair of hubs, which has all of their neighbours as evidence."""
    outcomes: dict[str, list[Outcome]] = {name: [] for name in EXPLANATIONS}
    for n in (1, size, 2 * size):
        aligned(workshop, lambda side, n=n: hub_of_pairs(side, n))
        for name, arguments in EXPLANATIONS.items():
            outcomes[name].append(run(arguments, seconds=SECONDS))
    for name, (base, small, large) in outcomes.items():
        yield f"{name}: a pair of hubs", fall(small, (0,)) or grown(base, small, large)


def aligned(workshop: Workshop, make: Callable[[str], Lines], *options: str) -> Outcome:
    """Align two graphs of these lines."""
    workshop.clear()
    for side in "ab":
        with Path(f"{side}.nt").open("w") as file:
            file.writelines(make(side))
    return run(["align", "a.nt", "b.nt", "-o", "run", "--quiet", *options], seconds=SECONDS)


def grown(base: Outcome, small: Outcome, large: Outcome) -> str | None:
    """Return what is wrong with the growth from one size to twice that size."""
    if wrong := fall(large):
        return wrong
    kinds = (
        ("CPU s", NEGLIGIBLE_SECONDS, [one.cpu_seconds for one in (base, small, large)]),
        ("MB", NEGLIGIBLE_MB, [one.memory_mb for one in (base, small, large)]),
    )
    for unit, negligible, (alone, before, after) in kinds:
        added, added_by_twice = max(before - alone, negligible / FACTOR), after - alone
        if added_by_twice > negligible and added_by_twice / added > FACTOR:
            return f"{added:.1f} {unit} become {added_by_twice:.1f} at twice the size"
    return None


def main(name: str, n: int, *options: str) -> None:
    """Print what the alignment of one of the growing graphs takes."""
    with tempfile.TemporaryDirectory(prefix="attack") as place:
        workshop = Workshop(Path(place).resolve())
        make = GROWING[name]
        outcome = aligned(workshop, lambda side: chain(statements(side), make(side, n)), *options)
        told = fall(outcome) or f"{outcome.cpu_seconds:.0f} s of CPU time, {outcome.memory_mb:,.0f} MB"
        print(f"{name}, n = {n:,}: {told}")
        timings = json.loads(Path("run/manifest.json").read_text())["timings"]
        took = {stage: sum(one["seconds"] for one in runs.values()) for stage, runs in timings.items()}
        for stage in sorted(took, key=lambda stage: -took[stage])[:STAGES_SHOWN]:
            print(f"    {stage}: {took[stage]:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
