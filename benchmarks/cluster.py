"""The Ray engine against the local one: the same bytes, the overhead, and the speed-up with more nodes.

    python benchmarks/cluster.py PAIR --nodes 1 2 3        # same bytes; seconds for each number of nodes
    python benchmarks/cluster.py PAIR --nodes 1 2 --pin    # the same, with no more cores than the nodes have
    python benchmarks/cluster.py PAIR --overhead           # Ray on this machine against the local engine

PAIR is a folder that `largeea align` takes. Nodes are Ray processes on this machine with object stores of
their own and `--cores` cores each. The driver has `--driver-threads`, by default as many as a node has cores;
without a limit, `align` would use all cores of the driver's machine. Every run is a process of its own. Ray's
start (connecting, starting the workers, their imports) is timed apart from the work. `driver_cpu_s` are the
seconds of the work in which the driver itself computed: unlike the others, other programs hardly change them.
`--preset` and `--set` are those of `align`.

Without `--pin`, everything may use all cores of this machine: a node of one core, the driver, its writer and
Ray's own processes then take more than one core together. With it, all processes of a node are bound to the
node's cores, and the driver and Ray's head to those of the first node, as on machines of that size. The local
engine is bound to the first node's cores too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import largeea
from largeea.config import load
from largeea.execution import Execution, executing
from largeea.execution.engines import load_engine
from largeea.execution.jobs import run_jobs
from largeea.execution.memory import peak_rss_mb
from largeea.matching.sinkhorn_shards import normalise_shard

STORE_BYTES = 2_000_000_000
"""Object store of each node."""
CORES = sorted(os.sched_getaffinity(0))


def bind(first: int, count: int) -> None:
    """Let this thread, and the processes that it starts, run on these cores of the machine alone."""
    os.sched_setaffinity(0, CORES[first : first + count])


@contextmanager
def cluster(nodes: int, cores: int, pin: bool = False) -> Iterator[str]:
    """The address of a cluster: a head without cores for tasks, and so many nodes."""
    from ray.cluster_utils import Cluster

    from largeea.execution.ray_cluster import SETTINGS

    os.environ |= SETTINGS
    store = {"object_store_memory": STORE_BYTES}
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **store})
    try:
        for number in range(nodes):
            if pin:
                bind(number * cores, cores)
            started.add_node(num_cpus=cores, **store)
        if pin:
            bind(0, cores)
        yield started.address
    finally:
        started.shutdown()


def work(
    pair: Path, run: Path, execution: Execution, preset: str, settings: tuple[str, ...]
) -> dict[str, Any]:
    """Align a pair in this process: seconds of the start and of the work, those of them that this process
    computed, peak memory, what nodes did."""
    begun = time.perf_counter()
    with executing(execution):
        engine = load_engine(execution.engine)
        engine.begin()
        shard = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.float32), np.ones(1, np.float32)
        numbers = [(number,) for number in range(4 * engine.slots)]
        list(run_jobs(normalise_shard, numbers, shard, np.ones(1, np.float32)))
    started, computed = time.perf_counter(), time.process_time()
    largeea.align_files(pair, output=run, execution=execution, config=load(preset, settings=settings))
    return {
        "start_s": round(started - begun, 1),
        "work_s": round(time.perf_counter() - started, 1),
        "driver_cpu_s": round(time.process_time() - computed, 1),
        "driver_mb": peak_rss_mb(),
        **engine.report(),
    }


def timed(pair: Path, run: Path, method: list[str], **execution: Any) -> dict[str, Any]:
    """`work` in a process of its own."""
    given = {"device": "cpu"} | execution
    command = [sys.executable, __file__, str(pair), "--one", str(run), json.dumps(given), *method]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def content(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in [*run.glob("stages/*"), *run.glob("*.tsv")]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("pair", type=Path)
    parser.add_argument("--nodes", type=int, nargs="*", default=[])
    parser.add_argument("--cores", type=int, default=1)
    parser.add_argument("--driver-threads", type=int)
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--overhead", action="store_true")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--set", action="append", default=[], dest="settings", metavar="KEY=VALUE")
    wanted = parser.parse_args()
    if wanted.one:
        run, execution = Path(wanted.one[0]), Execution(**json.loads(wanted.one[1]))
        print(json.dumps(work(wanted.pair, run, execution, wanted.preset, tuple(wanted.settings))))
        return
    method = [f"--preset={wanted.preset}", *(f"--set={setting}" for setting in wanted.settings)]
    threads, differing = wanted.driver_threads or wanted.cores, 0
    if wanted.pin:
        if (most := max(wanted.nodes, default=1) * wanted.cores) > len(CORES):
            parser.error(f"--pin needs {most} cores, and this machine has {len(CORES)}")
        bind(0, wanted.cores)
    with tempfile.TemporaryDirectory() as place:
        local = Path(place, "local")
        found = timed(wanted.pair, local, method, threads=wanted.cores)
        first, expected = found["work_s"], content(local)
        print(f"local, {wanted.cores} threads: {found}", flush=True)
        runs: list[tuple[str, int]] = [("this machine", 0)] if wanted.overhead else []
        for name, nodes in [*runs, *((f"{count} nodes", count) for count in wanted.nodes)]:
            run = Path(place, name)
            if nodes:
                with cluster(nodes, wanted.cores, wanted.pin) as address:
                    given = {"engine": "ray", "address": address, "threads": threads}
                    found = timed(wanted.pair, run, method, **given)
            else:
                found = timed(wanted.pair, run, method, engine="ray", threads=wanted.cores)
            same = content(run) == expected
            differing += not same
            told = f"{found['work_s'] / first:.2f} times the local time, same bytes: {same}"
            print(f"Ray, {name}: {told}; {found}", flush=True)
    sys.exit(differing > 0)


if __name__ == "__main__":
    main()
