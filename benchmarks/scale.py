"""How time and memory grow with size, stage by stage, on twins of DBP1M, and how far from the floor they are.

    python benchmarks/scale.py --sizes 0.02,0.05,0.1 [--preset NAME] [--device cpu] [--memory 12GB]
                               [--gpu-memory 24GB] [--set KEY=VALUE ...] [--work FOLDER]
                               [--json] [--plot docs/scale.svg]

Each size is a synthetic twin (`largeea synth --like dbp1m-en-fr --scale SIZE`), aligned by `largeea align` in
a process of its own: files on disk to alignment file. A stage that runs in every round counts with the mean
of its calls. The growth exponent is that between the smallest and the largest size. Memory, the floor
(`floors.py`) and its share of the measured time are those of the largest size. Above the stages: seconds of
the whole command and of what is no stage (starting up, storing results, writing files), its peak memory, and
how good the answer is.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from floors import FLOORS, Facts, floor_seconds
from largeea.execution import Execution, current, executing
from largeea.execution.devices import cuda_is_chosen, torch_device
from largeea.experiments.plots import Panel, draw
from rates import Rates

LEAST_SECONDS = 0.5
"""Stages that take less at the largest size are left out: their growth is noise."""
LINES_IN_PLOT = 6
"""The slowest stages are drawn; there are as many markers that can be told apart."""
WHOLE = {
    "whole command, s": ("seconds", ",.0f"),
    "outside of stages, s": ("outside", ",.1f"),
    "peak memory, MB": ("memory", ",.0f"),
}
"""Rows about the whole command that have a growth exponent: title, key and format."""
ANSWER = {
    "entities": ("entities", ","),
    "peak GPU memory, MB": ("gpu", ",.0f"),
    "open Hits@1": ("hits@1", ".3f"),
    "F1 of accepted pairs, linked ends": ("f1", ".3f"),
}


def main() -> None:
    options = parse()
    sizes = sorted(float(size) for size in options.sizes.split(","))
    with executing(Execution(device=options.device)):
        gpu = cuda_is_chosen()
        rates = Rates.measured(str(torch_device()) if gpu else "cpu", current().thread_count)
        threads = current().thread_count
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        found = [measure(size, work, Path(scratch), options, gpu) for size in sizes]
    stages = {stage: figures(stage, found, rates) for stage in found[-1]["stages"]}
    if options.json:
        facts = {
            "preset": options.preset,
            "like": options.like,
            "sizes": sizes,
            "threads": threads,
            "gpu": gpu,
        }
        whole = [
            {key: value for key, value in one.items() if key not in ("stages", "facts")} for one in found
        ]
        print(json.dumps({**facts, "rates": asdict(rates), "runs": whole, "stages": stages}))
    else:
        place = "a GPU" if gpu else "the CPU"
        print(f"\n{options.preset} on {place}, {threads} cores, twins of {options.like}: {rates.in_words()}")
        print(table(sizes, found, stages))
        print("\n" + formulas(stages))
    if options.plot:
        options.plot.write_bytes(plot(found, stages))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="0.02,0.05,0.1", help="shares of DBP1M's size")
    parser.add_argument("--like", default="dbp1m-en-fr")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--memory")
    parser.add_argument("--gpu-memory")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--work", type=Path, help="keeps twins here, to use them again")
    parser.add_argument("--json", action="store_true", help="print everything as JSON instead of tables")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="SVG: seconds of the slowest stages")
    return parser.parse_args()


def measure(size: float, work: Path, scratch: Path, options: argparse.Namespace, gpu: bool) -> dict[str, Any]:
    """One twin: entities, seconds and memory of the whole command and of each stage, accuracy."""
    twin, run = work / f"{options.like}-{size:g}", scratch / f"run-{size:g}"
    if not (twin / "card.json").is_file():
        largeea("synth", "--like", options.like, "--scale", f"{size:g}", "-o", twin)
    limits = {"device": options.device, "memory": options.memory, "gpu-memory": options.gpu_memory}
    given = [f"--{name}={value}" for name, value in limits.items() if value]
    given += [f"--set={setting}" for setting in options.set]
    started = time.perf_counter()
    largeea("align", twin, "-o", run, "--preset", options.preset, *given)
    seconds = time.perf_counter() - started
    manifest = json.loads((run / "manifest.json").read_text())
    judged = json.loads(largeea("evaluate", run, "--links", twin / "ent_links", "--json"))
    stages = by_stage(manifest["timings"])
    print(f"{size:g}: {seconds:.0f} s", file=sys.stderr, flush=True)
    facts = Facts.of(manifest, exact_search=gpu)
    return {
        "entities": sum(facts.entities),
        "seconds": seconds,
        "outside": seconds - sum(stage["seconds"] * stage["calls"] for stage in stages.values()),
        "memory": manifest["peak_memory_mb"],
        "gpu": max(stage["gpu"] for stage in stages.values()),
        "hits@1": judged["protocols"]["open"]["hits@1"],
        "f1": judged["linked_ends"]["f1"],
        "stages": stages,
        "facts": facts,
    }


def largeea(*arguments: Any) -> str:
    """What a command prints; its messages are shown if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "largeea", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return done.stdout


def by_stage(timings: dict[str, dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Calls of each stage, their mean seconds, and their highest memory in MB.

    `timings` has the calls of each stage by key. Stages with the number of a round are calls of one stage.
    """
    calls: dict[str, list[dict[str, Any]]] = {}
    for name, timed in timings.items():
        calls.setdefault(re.sub(r"-\d+$", "", name), []).extend(timed.values())
    return {
        name: {
            "calls": len(timed),
            "seconds": sum(call["seconds"] for call in timed) / len(timed),
            **{kind: max(call["memory_mb"][kind] for call in timed) for kind in ("host", "gpu")},
        }
        for name, timed in calls.items()
    }


def figures(stage: str, found: list[dict[str, Any]], rates: Rates) -> dict[str, Any]:
    """A stage at all sizes: seconds, exponent; calls, memory, floor and its share at the largest size."""
    seconds = [one["stages"].get(stage, {"seconds": 0.0})["seconds"] for one in found]
    floor = floor_seconds(stage, found[-1]["facts"], rates)
    return {
        "seconds": seconds,
        "exponent": exponent([one["entities"] for one in found], seconds),
        **{key: found[-1]["stages"][stage][key] for key in ("calls", "host", "gpu")},
        "floor": floor,
        "share_of_floor": None if floor is None or not seconds[-1] else floor / seconds[-1],
    }


def exponent(sizes: list[float], values: list[float]) -> float | None:
    """The exponent e of `value ~ size ** e` from the first size to the last; None if there is none."""
    if sizes[0] == sizes[-1] or min(values[0], values[-1]) <= 0:
        return None
    return math.log(values[-1] / values[0]) / math.log(sizes[-1] / sizes[0])


def table(sizes: list[float], found: list[dict[str, Any]], stages: dict[str, dict[str, Any]]) -> str:
    """Markdown: one column a size, then exponent, memory and floor."""
    columns = ["", *(f"{size:g}" for size in sizes), "exponent", "calls", "MB", "GPU MB", "floor, s", "share"]
    lines = [columns, ["---"] * len(columns)]
    entities = [one["entities"] for one in found]
    for title, (key, form) in (ANSWER | WHOLE).items():
        values = [one[key] for one in found]
        growth = exponent(entities, values) if title in WHOLE else None
        lines.append([title, *(format(value, form) for value in values), shown(growth), *[""] * 5])
    for stage, facts in slowest(stages).items():
        seconds = [f"{value:,.1f}" for value in facts["seconds"]]
        memory = [f"{facts[kind]:,.0f}" for kind in ("host", "gpu")]
        floor = [shown(facts["floor"], ",.2f"), shown(facts["share_of_floor"], ".1%")]
        lines.append([stage, *seconds, shown(facts["exponent"]), f"{facts['calls']}", *memory, *floor])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def formulas(stages: dict[str, dict[str, Any]]) -> str:
    """Markdown: what each stage in the table cannot do without, and why."""
    lines = ["| stage | floor | because |", "|---|---|---|"]
    for stage in slowest(stages):
        if floor := FLOORS.get(stage):
            lines.append(f"| {stage} | {floor.formula} | {floor.reason} |")
    return "\n".join(lines)


def slowest(stages: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The stages that take long enough at the largest size, slowest first."""
    lasting = {name: facts for name, facts in stages.items() if facts["seconds"][-1] >= LEAST_SECONDS}
    return dict(sorted(lasting.items(), key=lambda stage: -stage[1]["seconds"][-1]))


def shown(value: float | None, form: str = ".2f") -> str:
    return "-" if value is None else format(value, form)


def plot(found: list[dict[str, Any]], stages: dict[str, dict[str, Any]]) -> bytes:
    """An SVG of the seconds of the slowest stages over entities, both axes logarithmic."""
    lines = {}
    for stage, facts in list(slowest(stages).items())[:LINES_IN_PLOT]:
        points = zip((one["entities"] for one in found), facts["seconds"], strict=True)
        lines[stage] = [point for point in points if point[1] > 0]
    panel = Panel("Time of the slowest stages", "entities of both graphs", "one call (s)", lines, log=True)
    return draw([panel])["svg"]


if __name__ == "__main__":
    main()
