"""Seconds of a whole benchmark run at an earlier commit and in this tree, in turn on the same machine.

    python benchmarks/against_commit.py ../shared/data/ids15k_en_de_v1 --commit 068a1c1

Every run is a process of its own, `largeea bench DATA --train 0`, measured from the start of the interpreter
to its end. One run of each before the first measured one compiles numeric code and writes bytecode. The best
of `--repeat` runs counts: other programs only ever add time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROGRAM = "from largeea.cli import main; main()"


@dataclass(frozen=True)
class Measured:
    """The figures of one run."""

    wall: float
    processor: float
    hits: float

    def __str__(self) -> str:
        return f"{self.wall:6.2f} s ({self.processor:5.2f} s of processor time), open Hits@1 {self.hits:.4f}"


def run(source: Path, arguments: list[str]) -> Measured:
    """Run a benchmark with the package in a source folder."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", PROGRAM, "bench", *arguments, "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{source}: bench {' '.join(arguments)} ended with {done.returncode}\n{done.stderr}")
    wall, now = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return Measured(wall, processor, json.loads(done.stdout)["protocols"]["open"]["hits@1"])


def best_of(runs: list[Measured]) -> Measured:
    """The least wall time and the least processor time of some runs, which all have the same answer."""
    return Measured(min(run.wall for run in runs), min(run.processor for run in runs), runs[0].hits)


def unpack(commit: str, folder: Path) -> Path:
    """Write the sources of a commit to a folder and return where the package is."""
    archive = folder / "sources.tar"
    command = ["git", "archive", "--output", str(archive), commit, "src"]
    subprocess.run(command, cwd=ROOT, check=True)
    with tarfile.open(archive) as sources:
        sources.extractall(folder, filter="data")
    return folder / "src"


def main() -> None:
    """Print the figures of each data set, and how many times as fast this tree is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", nargs="+", help="benchmark folders")
    parser.add_argument("--commit", required=True, help="the earlier commit")
    parser.add_argument("--train", default="0", help="share of the links used as seeds")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = {given.commit: unpack(given.commit, Path(folder)), "this tree": ROOT / "src"}
        for data in given.data:
            arguments = [data, "--train", given.train]
            runs: dict[str, list[Measured]] = {name: [] for name in trees}
            for _ in range(given.repeat + 1):
                for name, source in trees.items():
                    runs[name].append(run(source, arguments))
            best = [best_of(made[1:]) for made in runs.values()]
            print(Path(data).name)
            for name, figures in zip(trees, best, strict=True):
                print(f"  {name:<12} {figures}")
            wall, processor = best[0].wall / best[1].wall, best[0].processor / best[1].processor
            print(f"  {wall:.2f} times as fast, {processor:.2f} times by processor time", flush=True)


if __name__ == "__main__":
    main()
