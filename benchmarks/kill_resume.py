"""Kill a run with SIGKILL at random moments, resume it, and compare the answer with that of a quiet run.

    python benchmarks/kill_resume.py --kills 100
    python benchmarks/kill_resume.py --kills 20 -- --set structure.model=gcn-align --set structure.epochs=3

What follows `--` goes to `largeea align`. The moments are spread evenly over the time in which the run works
on its folder; a run that ends before its moment does not count. Each run is a process of its own, forked from
one that has imported everything and done nothing.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from largeea import cli
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.formats.links import FORMATS
from largeea.runs.inspection import verify
from largeea.runs.manifest import MANIFEST

for room in (
    "numba",
    "scipy.sparse",
    "largeea.evidence",
    "largeea.names.channel",
    "largeea.structure.channel",
):
    import_module(room)  # else every run would do so for itself

UNCOMPARED = (MANIFEST, ".lock")
"""The manifest tells times of day."""


def started(action: Callable[..., Any], *arguments: Any) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=action, args=arguments)
    process.start()
    return process


def finished(process: BaseProcess) -> None:
    process.join()
    if process.exitcode:
        raise SystemExit(f"a run that nobody killed ended with {process.exitcode}")


def largeea(arguments: list[str]) -> None:
    """The command, silent but for errors."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(cli.run([*arguments, "--quiet"]))


def write_demo(pair: Path) -> None:
    write_pair(demo_pair(("en", "fr"), seed=0), pair)


def align(pair: Path, folder: Path, options: list[str]) -> list[str]:
    wanted = [part for name in FORMATS for part in ("--write", name)]
    return ["align", str(pair), "-o", str(folder), *wanted, *options]


def wait_for(folder: Path, process: BaseProcess) -> float:
    while not folder.exists() and process.is_alive():
        time.sleep(0.001)
    return time.perf_counter()


def killed(arguments: list[str], folder: Path, after: float) -> bool:
    """Start, wait for the folder and then for the moment; whether there was still something to kill."""
    process = started(largeea, arguments)
    wait_for(folder, process)
    process.join(after)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def content(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in UNCOMPARED)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def last_stage(folder: Path) -> str:
    manifest = folder / MANIFEST
    stages = list(json.loads(manifest.read_text())["stages"]) if manifest.is_file() else []
    return f"after {stages[-1]}" if stages else "before the first stage was stored"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("options", nargs="*", help="for largeea align, after --")
    wanted = parser.parse_args()
    chance, moments, same = random.Random(wanted.seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as place:
        pair, whole, folder = Path(place, "pair"), Path(place, "whole"), Path(place, "run")
        finished(started(write_demo, pair))
        finished(started(largeea, align(pair, Path(place, "warm"), wanted.options)))
        process = started(largeea, align(pair, whole, wanted.options))
        begun = wait_for(whole, process)
        finished(process)
        duration, expected = time.perf_counter() - begun, content(whole)
        arguments = align(pair, folder, wanted.options)
        while sum(moments.values()) < wanted.kills:
            shutil.rmtree(folder, ignore_errors=True)
            if killed(arguments, folder, chance.uniform(0, duration)):
                moments[last_stage(folder)] += 1
                begun_well = (folder / MANIFEST).is_file()
                finished(started(largeea, ["resume", str(folder)] if begun_well else arguments))
                same += content(folder) == expected and verify(folder)[1] == []
    for moment, count in moments.most_common():
        print(f"{count:4} killed {moment}")
    print(f"{same} of {wanted.kills} runs ended with the same bytes; a quiet run works {duration:.2f} s")
    sys.exit(same != wanted.kills)


if __name__ == "__main__":
    main()
