"""Kill a run with SIGKILL at random moments, resume it, and compare its answer with an undisturbed run's.

    python benchmarks/kill_resume.py --kills 100
    python benchmarks/kill_resume.py --kills 20 -- --set structure.model=gcn-align --set structure.epochs=3

Options after `--` are passed to `largeea align`. The moments are spread evenly over the time in which the run
works on its folder; a run that ends before its moment does not count. Each run is a separate process, forked
from one that has only done the imports.

Every job, and every stage that is not a map over jobs, is a unit of work. The script prints how many units a
resumed run repeats: those in progress at the kill (at most one per worker), and finished ones (should be 0).
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
from collections.abc import Callable, Sequence
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from largeea import cli
from largeea.datasets.demo import demo_pair
from largeea.datasets.openea_layout import write_pair
from largeea.execution import current
from largeea.execution.engines import LocalEngine
from largeea.execution.jobs import Job, _maps
from largeea.execution.stages import Handle
from largeea.formats.links import FORMATS
from largeea.runs import store
from largeea.runs.inspection import verify
from largeea.runs.jobs import JobFolder
from largeea.runs.manifest import MANIFEST
from largeea.runs.store import FolderStore

PRELOADED = ("largeea.pipeline", "largeea.structure.batch_training")
for room in PRELOADED:
    import_module(room)  # otherwise every run would import it again

UNCOMPARED = (MANIFEST, ".lock")
"""The manifest contains timestamps, so it is not compared."""


def started(action: Callable[..., Any], *arguments: Any) -> BaseProcess:
    process = multiprocessing.get_context("fork").Process(target=action, args=arguments)
    process.start()
    return process


def finished(process: BaseProcess) -> None:
    process.join()
    if process.exitcode:
        raise SystemExit(f"a run that nobody killed ended with {process.exitcode}")


def largeea(arguments: list[str], log: Path | None = None) -> None:
    """Run the command, silent except for errors."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if log is not None:
        log_work(log)
    sys.exit(cli.run([*arguments, "--quiet"]))


def log_work(path: Path) -> None:
    """Write a line when a unit of work begins, and another when its result is stored."""
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    begin_stage, save_stage, save_job = FolderStore.jobs, FolderStore._write, JobFolder.save
    map_jobs = LocalEngine.map

    def say(event: str, stage: str, job: str = "") -> None:
        os.write(log, f"{event}\t{stage}\t{job}\n".encode())

    def logged_begin(self: FolderStore, handle: Handle[Any]) -> Any:
        say("begin", handle.key)
        return begin_stage(self, handle)

    def logged_save_stage(
        self: FolderStore, folder: Path, name: str, value: Any, record: dict[str, Any], is_outdated: bool
    ) -> None:
        save_stage(self, folder, name, value, record, is_outdated)
        say("stored", record["key"])

    def logged_save_job(self: JobFolder, job: str, result: Any) -> None:
        save_job(self, job, result)
        say("stored", str(self._folder.name), job)

    def logged_map(self: LocalEngine, jobs: Sequence[Job], shared: tuple[Any, ...], at_once: int) -> Any:
        store = _maps.get().store
        stage = store._folder.name if isinstance(store, JobFolder) and len(jobs) > 1 else None
        return map_jobs(self, [Logged(job, stage, say) for job in jobs], shared, at_once)

    store.JOBS_AFTER = 0.0  # the stages of a small run are too short otherwise
    FolderStore.jobs, FolderStore._write = logged_begin, logged_save_stage  # type: ignore[method-assign]
    JobFolder.save, LocalEngine.map = logged_save_job, logged_map  # type: ignore[method-assign]


class Logged(Job):
    """A job that logs when it begins."""

    def __init__(self, job: Job, stage: str | None, say: Callable[..., None]) -> None:
        def function(*arguments: Any) -> Any:
            if stage is not None:
                say("begin", stage, job.name)
            return job.function(*arguments)

        super().__init__(function, job.arguments, job.name)


def repeated(before: Path, after: Path) -> tuple[int, int]:
    """Counts of work units that the resumed run repeated: in progress at the kill, and finished before it.

    For a stage that is a map over jobs, its jobs are counted.
    """
    killed, resumed = (
        [tuple(line.split("\t")) for line in path.read_text().splitlines()] if path.exists() else []
        for path in (before, after)
    )
    begun = {unit[1:] for unit in killed if unit[0] == "begin"}
    stored = {unit[1:] for unit in killed if unit[0] == "stored"}
    again = {unit[1:] for unit in resumed if unit[0] == "begin"}
    maps = {stage[:16] for stage, job in begun | again if job}
    units = {(stage, job) for stage, job in again if job or stage[:16] not in maps}
    return len(units & (begun - stored)), len(units & stored)


def write_demo(pair: Path) -> None:
    write_pair(demo_pair(("en", "fr"), seed=0), pair)


def align(pair: Path, folder: Path, options: list[str]) -> list[str]:
    wanted = [part for name in FORMATS for part in ("--write", name)]
    return ["align", str(pair), "-o", str(folder), *wanted, *options]


def wait_for(folder: Path, process: BaseProcess) -> float:
    while not folder.exists() and process.is_alive():
        time.sleep(0.001)
    return time.perf_counter()


def killed(arguments: list[str], folder: Path, after: float, log: Path) -> bool:
    """Start a run and kill it `after` seconds of work on its folder; whether it was still running."""
    process = started(largeea, arguments, log)
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
    records = json.loads(manifest.read_text())["stages"] if manifest.is_file() else {}
    stages = [name for name, record in records.items()]
    return f"after {stages[-1]}" if stages else "before the first stage was stored"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("options", nargs="*", help="for largeea align, after --")
    wanted = parser.parse_args()
    workers = current().thread_count
    chance, moments, same = random.Random(wanted.seed), Counter[str](), 0
    under_way, finished_again = Counter[int](), 0
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
            logs = Path(place, "killed.log"), Path(place, "resumed.log")
            for log in logs:
                log.unlink(missing_ok=True)
            if killed(arguments, folder, chance.uniform(0, duration), logs[0]):
                moments[last_stage(folder)] += 1
                begun_well = (folder / MANIFEST).is_file()
                finished(started(largeea, ["resume", str(folder)] if begun_well else arguments, logs[1]))
                same += content(folder) == expected and verify(folder)[1] == []
                again = repeated(*logs)
                under_way[again[0]] += 1
                finished_again += again[1]
                if sum(moments.values()) % 10 == 0:
                    print(f"{sum(moments.values())} kills, {same} with the same bytes", flush=True)
    for moment, count in moments.most_common():
        print(f"{count:4} killed {moment}")
    for units, count in sorted(under_way.items()):
        print(f"{count:4} resumed runs repeated {units} units of work that were under way at the kill")
    print(f"{finished_again} finished units of work were repeated in all; there are {workers} workers")
    print(f"{same} of {wanted.kills} runs ended with the same bytes; a quiet run works {duration:.2f} s")
    sys.exit(same != wanted.kills or finished_again > 0 or max(under_way) > workers)


if __name__ == "__main__":
    main()
