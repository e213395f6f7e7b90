"""Replay the stages of a large alignment on simulated nodes: makespan, bytes moved, memory, what limits.

    python benchmarks/cluster_plan.py --run RUN [--run SMALLER_RUN] [--entities 10000000,100000000]
        [--nodes 1,4,16,64,256] [--cores 16] [--network 10Gbit|loopback] [--slow-nodes 0.02]
        [--lost-node-per-hour 0.001] [--memory-per-node 256GB] [--run-cores 2] [--json]

Seconds of every stage come from the manifest of a run. They grow with a power of the number of entities: that
between two runs, but no less than in the formulas of `largeea plan`. Which part of a stage are jobs, its
memory and its bytes are those of `largeea plan --nodes` (`largeea.planning`). `--network loopback` measures
what two processes of this machine send each other; on one node, values are copied in memory instead. Without
`--run`, seconds are those of `largeea plan`. `simulated_cluster.py` says what is simulated.
"""

from __future__ import annotations

import argparse
import json
import socket
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from largeea.cli.cluster_plan import parse_network
from largeea.config import Config
from largeea.execution.jobs import BLOCKS_PER_THREAD
from largeea.execution.settings import parse_size
from largeea.planning import Cluster, ClusterPlan, Sizes, plan_cluster
from largeea.planning.enough import least_driver_memory
from largeea.planning.placement import Work, is_divided, without_trial
from rates import copy_rate
from scale import LEAST_SECONDS, by_stage, exponent
from simulated_cluster import Machines, Outcome, Simulation, Stage

ROWS_PER_JOB = 1 << 16
"""Source rows of a job at most."""
WHOLE_NODE = ("vectors", "candidates", "surroundings", "fused", "matched")
"""Stages whose jobs take all cores of a node."""
HEADER = ("entities a side", "nodes", "hours", "speed-up", "node hours", "moved TB", "node GB", "driver GB")


class Measured:
    """Seconds of stages in one or two runs, and how they grow."""

    def __init__(self, runs: list[Path], cores: int) -> None:
        manifests = [json.loads((run / "manifest.json").read_text()) for run in runs]
        found = sorted(
            (sum(side["entities"] for side in manifest["read"].values()), by_stage(manifest["timings"]))
            for manifest in manifests
        )
        self.entities, self.stages = found[-1]
        self.cores = cores
        self.exponents: dict[str, float] = {}
        for stage, figures in self.stages.items():
            if len(found) > 1 and stage in found[0][1] and figures["seconds"] >= LEAST_SECONDS:
                both = [found[0][1][stage]["seconds"], figures["seconds"]]
                self.exponents[stage] = exponent([found[0][0], self.entities], both) or 1.0

    def growth(self, stage: str, entities: int, planned: float) -> float:
        """How many times as long a call takes with so many entities; `planned` is the least exponent."""
        return (entities / self.entities) ** max(self.exponents.get(stage, 1.0), planned)

    def applied_to(
        self, plan: ClusterPlan, entities: int, small: ClusterPlan
    ) -> dict[str, tuple[int, float]]:
        """Calls of each stage, and how many times as long as planned one takes with so many entities."""
        planned, before = ({work.stage: seconds_of(work) for work in one.work} for one in (plan, small))
        factors = {}
        for stage, figures in self.stages.items():
            if not planned.get(stage):
                continue
            power = exponent([self.entities, entities], [before[stage], planned[stage]]) or 1.0
            seconds = self.cores * figures["seconds"] * self.growth(stage, entities, power)
            factors[stage] = int(figures["calls"]), seconds / planned[stage]
        return factors

    def others(self, entities: int, known: dict[str, tuple[int, float]]) -> float:
        """Seconds on one core of all stages that the plan does not have: the driver's."""
        return sum(
            self.cores * figures["seconds"] * figures["calls"] * self.growth(stage, entities, 1.0)
            for stage, figures in self.stages.items()
            if stage not in known
        )


def seconds_of(work: Work) -> float:
    """Seconds of one call on one core of one node."""
    return work.driver_seconds + work.job_seconds + work.repeated_seconds


def simulated_stages(
    plan: ClusterPlan, rows: int, factors: dict[str, tuple[int, float]] | None, others: float
) -> list[Stage]:
    """The stages of a run one after the other, each call a stage of its own: `name#call`."""
    cluster, stages = plan.cluster, [Stage("others#1", before_jobs=others / plan.cluster.cores)]
    slots = cluster.nodes * cluster.cores
    for work in plan.work:
        calls, factor = (work.calls, 1.0) if factors is None else factors.get(work.stage, (0, 0.0))
        whole = without_trial(work.stage) in WHOLE_NODE
        blocks = max(-(-rows // ROWS_PER_JOB), min(BLOCKS_PER_THREAD * slots, rows))
        jobs = (cluster.nodes if whole else blocks) if is_divided(work.stage) else 0
        cores = cluster.cores if whole else 1
        on_one_core = work.job_seconds / max(jobs, 1) + work.repeated_seconds
        for call in range(1, calls + 1):
            stages.append(
                Stage(
                    f"{work.stage}#{call}",
                    (stages[-1].name,),
                    before_jobs=factor * work.driver_seconds / cluster.cores,
                    jobs=jobs,
                    job_seconds=factor * on_one_core / cores,
                    job_cores=cores,
                    shared=work.broadcast,
                    job_input=work.scattered / max(jobs, 1),
                    job_result=work.returned / max(jobs, 1),
                )
            )
    return stages


def replay(side: int, nodes: int, options: argparse.Namespace, measured: Measured | None) -> dict[str, Any]:
    """One alignment of so many entities a side on so many nodes."""
    bandwidth = options.copy_rate if nodes == 1 else options.bandwidth
    cluster = Cluster(nodes, options.memory, options.cores, network=bandwidth, driver_memory=options.memory)
    driver = least_driver_memory(Sizes.assumed((side, side)), Config(), cluster)
    plan = plan_cluster(Sizes.assumed((side, side)), Config(), replace(cluster, driver_memory=driver))
    factors, others = None, 0.0
    if measured is not None:
        half = measured.entities // 2
        alone = Cluster(1, options.memory, options.cores, driver_memory=options.memory)
        on_one = plan_cluster(Sizes.assumed((side, side)), Config(), alone)
        small = plan_cluster(Sizes.assumed((half, half)), Config(), alone)
        factors = measured.applied_to(on_one, 2 * side, small)
        others = measured.others(2 * side, factors)
    machines = Machines(
        nodes, options.cores, bandwidth, options.slow_nodes, options.slow_factor, options.lost_node_per_hour
    )
    done = Simulation(simulated_stages(plan, side, factors, others), machines).run()
    return {
        "entities": side,
        "nodes": nodes,
        "seconds": done.makespan,
        "moved": done.moved,
        "node": plan.node,
        "driver": plan.driver,
        "repeated_jobs": done.repeated,
        "stages": by_name(done),
    }


def by_name(done: Outcome) -> dict[str, float]:
    """Seconds of all calls of each stage, longest first."""
    total = Counter[str]()
    for call, seconds in done.seconds.items():
        total[call.partition("#")[0]] += seconds
    return dict(total.most_common())


def loopback_rate(size: int = 1 << 28) -> float:
    """Bytes a second that one thread of this machine sends to another by TCP."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def send() -> None:
            with socket.create_connection(server.getsockname()) as connection:
                connection.sendall(bytes(size))

        sender = threading.Thread(target=send)
        sender.start()
        connection, _ = server.accept()
        started, left, buffer = time.perf_counter(), size, bytearray(1 << 20)
        with connection:
            while left:
                left -= connection.recv_into(buffer, min(left, len(buffer)))
        sender.join()
        return size / (time.perf_counter() - started)


def table(rows: list[dict[str, Any]]) -> str:
    """The replays as Markdown, with the speed-up over the first of the same size, and the slowest stages."""
    lines = [" | ".join([*HEADER, "repeated jobs", "longest stages, share of the time"])]
    lines.append("|".join(["---"] * (len(HEADER) + 2)))
    first: dict[int, float] = {}
    for row in rows:
        hours = row["seconds"] / 3600
        slowest = list(row["stages"].items())[:3]
        speed_up = first.setdefault(row["entities"], hours) / hours
        cells = [f"{row['entities']:,}", str(row["nodes"]), f"{hours:,.2f}", f"{speed_up:.1f}"]
        cells += [f"{row['nodes'] * hours:,.1f}", f"{row['moved'] / 1e12:,.2f}", f"{row['node'] / 1e9:,.0f}"]
        cells += [f"{row['driver'] / 1e9:,.0f}", str(row["repeated_jobs"])]
        cells += [", ".join(f"{name} {seconds / row['seconds']:.0%}" for name, seconds in slowest)]
        lines.append(" | ".join(cells))
    return "\n".join(f"| {line} |" for line in lines)


def main() -> None:
    options = parse()
    options.memory = parse_size(options.memory_per_node, "memory-per-node")
    options.copy_rate = copy_rate(1) / 2
    measured_network = options.network == "loopback"
    options.bandwidth = loopback_rate() if measured_network else parse_network(options.network)
    measured = Measured(options.run, options.run_cores) if options.run else None
    sides, nodes = ([int(text) for text in given.split(",")] for given in (options.entities, options.nodes))
    rows = [replay(side, number, options, measured) for side in sides for number in nodes]
    if options.json:
        print(json.dumps({"network": options.bandwidth, "copying": options.copy_rate, "replays": rows}))
        return
    source = "the formulas of largeea plan"
    if measured is not None:
        source = f"a run on {measured.entities:,} entities with {measured.cores} cores"
    print(f"seconds from {source}; network {options.bandwidth / 1e9:.2f} GB/s, copying ", end="")
    print(f"{options.copy_rate / 1e9:.1f} GB/s; {options.cores} cores a node\n")
    print(table(rows))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--run", type=Path, action="append", default=[], help="finished run; twice for growth"
    )
    parser.add_argument("--run-cores", type=int, default=2, help="cores that the runs were computed on")
    parser.add_argument("--entities", default="10000000,100000000", help="entities of each side")
    parser.add_argument("--nodes", default="1,4,16,64,256")
    parser.add_argument("--cores", type=int, default=16, help="cores of a node")
    parser.add_argument("--memory-per-node", default="256GB")
    parser.add_argument("--network", default="10Gbit", help="of each node, such as 10Gbit, or loopback")
    parser.add_argument("--slow-nodes", type=float, default=0.0, help="chance that a node is slow")
    parser.add_argument("--slow-factor", type=float, default=2.0, help="how many times as slow")
    parser.add_argument("--lost-node-per-hour", type=float, default=0.0, help="losses of each node")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
