"""How time and memory grow with size, stage by stage, on twins of DBP1M.

    python benchmarks/scale.py --sizes 0.02,0.05,0.1 [--preset NAME] [--device cpu] [--memory 12GB]
                               [--gpu-memory 24GB] [--set KEY=VALUE ...] [--work FOLDER] [--plot FILE]

Each size is a synthetic twin (`largeea synth --like dbp1m-en-fr --scale SIZE`), aligned by `largeea align` in
a process of its own: files on disk to alignment file. A stage that runs in every round counts with the mean
of its calls; the growth exponent is that between the smallest and the largest size. Above the stages: seconds
of the whole command, its peak memory, and how good the answer is.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LEAST_SECONDS = 0.5
"""Stages that take less at the largest size are left out: their growth is noise."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="0.02,0.05,0.1", help="shares of DBP1M's size, ascending")
    parser.add_argument("--like", default="dbp1m-en-fr")
    parser.add_argument("--preset", default="default")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--memory")
    parser.add_argument("--gpu-memory")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--work", type=Path, help="keeps twins here, to use them again")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    sizes = sorted(float(size) for size in options.sizes.split(","))
    with tempfile.TemporaryDirectory() as scratch:
        work = options.work or Path(scratch)
        found = [measure(size, work, Path(scratch), options) for size in sizes]
    print(f"\n{options.preset} on {options.device}, {os.cpu_count()} cores, twins of {options.like}")
    print(table(sizes, found))
    if options.plot:
        plot(sizes, found, options.plot)


def measure(size: float, work: Path, scratch: Path, options: argparse.Namespace) -> dict[str, Any]:
    """One twin: entities, seconds and memory of the whole command and of each stage, accuracy."""
    twin, run = work / f"{options.like}-{size:g}", scratch / f"run-{size:g}"
    if not (twin / "card.json").is_file():
        largeea("synth", "--like", options.like, "--scale", f"{size:g}", "-o", twin)
    limits = [f"--{name}={value}" for name, value in limits_of(options).items() if value]
    settings = [f"--set={setting}" for setting in options.set]
    started = time.perf_counter()
    largeea("align", twin, "-o", run, "--preset", options.preset, *limits, *settings)
    seconds = time.perf_counter() - started
    manifest = json.loads((run / "manifest.json").read_text())
    figures = json.loads(largeea("evaluate", run, "--links", twin / "ent_links", "--json"))
    stages = {name: mean_of(list(calls.values())) for name, calls in manifest["timings"].items()}
    print(f"{size:g}: {seconds:.0f} s", flush=True)
    return {
        "entities": sum(map(lines_of, (twin / "attr_triples_1", twin / "attr_triples_2"))),
        "seconds": seconds,
        "memory": manifest["peak_memory_mb"],
        "gpu": max(used["gpu"] for _, used in stages.values()),
        "hits@1": figures["protocols"]["open"]["hits@1"],
        "f1": figures["linked_ends"]["f1"],
        "stages": stages,
    }


def lines_of(file: Path) -> int:
    """The lines of a file; a twin has one name for each entity, on a line of its own."""
    with file.open() as lines:
        return sum(1 for _ in lines)


def limits_of(options: argparse.Namespace) -> dict[str, str | None]:
    return {"device": options.device, "memory": options.memory, "gpu-memory": options.gpu_memory}


def mean_of(calls: list[dict[str, Any]]) -> tuple[float, dict[str, float]]:
    """Mean seconds of the calls of a stage, and the highest memory in MB."""
    memory = {kind: max(call["memory_mb"][kind] for call in calls) for kind in ("host", "gpu")}
    return sum(call["seconds"] for call in calls) / len(calls), memory


def largeea(*arguments: Any) -> str:
    """What a command prints; its messages are shown if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "largeea", *map(str, arguments)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return done.stdout


def growth(first: float, last: float, sizes: list[float]) -> str:
    """The exponent e of `seconds ~ size ** e`."""
    if len(sizes) < 2 or min(first, last) <= 0:
        return ""
    return f"{math.log(last / first) / math.log(sizes[-1] / sizes[0]):.2f}"


def table(sizes: list[float], found: list[dict[str, Any]]) -> str:
    """Markdown: one column a size, then the growth exponent."""
    lines = [f"| | {' | '.join(f'{size:g}' for size in sizes)} | exponent |", "|---" * (len(sizes) + 2) + "|"]

    def row(name: str, values: list[float], form: str, with_growth: bool = True) -> None:
        exponent = growth(values[0], values[-1], sizes) if with_growth else ""
        lines.append(f"| {name} | {' | '.join(format(value, form) for value in values)} | {exponent} |")

    row("entities", [one["entities"] for one in found], ",", False)
    row("whole command, s", [one["seconds"] for one in found], ",.0f")
    row("peak memory, MB", [one["memory"] for one in found], ",.0f")
    row("peak GPU memory, MB", [one["gpu"] for one in found], ",.0f", False)
    row("open Hits@1", [one["hits@1"] for one in found], ".3f", False)
    row("F1 of accepted pairs, linked ends", [one["f1"] for one in found], ".3f", False)
    for stage, (seconds, _) in found[-1]["stages"].items():
        if seconds >= LEAST_SECONDS:
            row(f"{stage}, s", [one["stages"].get(stage, (0.0, {}))[0] for one in found], ",.1f")
    return "\n".join(lines)


def plot(sizes: list[float], found: list[dict[str, Any]], file: Path) -> None:
    """Seconds of the slowest stages over size, both axes logarithmic."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    slowest = sorted(found[-1]["stages"], key=lambda stage: -found[-1]["stages"][stage][0])[:8]
    figure, axes = pyplot.subplots(figsize=(7, 4.5), layout="constrained")
    for stage in slowest:
        axes.plot(sizes, [one["stages"].get(stage, (0.0, {}))[0] for one in found], marker="o", label=stage)
    axes.set(xscale="log", yscale="log", xlabel="share of DBP1M's size", ylabel="seconds a call")
    axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
    axes.minorticks_off()
    axes.legend(fontsize="small")
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    main()
