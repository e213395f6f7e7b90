"""What machines an alignment needs, from DBP1M to a hundred million entities a side, by `largeea plan`.

    python benchmarks/cluster_sizes.py [--cores 16] [--network 10Gbit] [--nodes 4,16]

Computed from the formulas of the plan, not measured. For each size: one machine alone, and clusters beside a
driver that has a machine of its own. Memory is the least that is enough with the default settings.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from largeea.cli.cluster_plan import parse_network
from largeea.config import Config
from largeea.execution import Execution
from largeea.planning import Cluster, ClusterPlan, Sizes, make_plan, plan_cluster
from largeea.planning.enough import least_driver_memory, least_memory, least_memory_of_one_machine

SIZES = {
    "DBP1M EN-FR, 1.88 and 1.37 million": ((1_877_793, 1_365_118), (7_031_172, 2_997_457)),
    "5 million": ((5_000_000, 5_000_000), None),
    "10 million": ((10_000_000, 10_000_000), None),
    "30 million": ((30_000_000, 30_000_000), None),
    "100 million": ((100_000_000, 100_000_000), None),
}
"""Entities of both sides, and their triples; None for 3.1 triples an entity."""
HEADER = (
    *("entities a side", "nodes", "node GB", "of it whole", "driver GB", "network TB", "hours", "node hours"),
    *("most memory: node, driver", "most time"),
)


def row_of_one_machine(title: str, sizes: Sizes, cores: int) -> tuple[str, ...]:
    """One machine alone."""
    memory = least_memory_of_one_machine(sizes, Config(), cores)
    plan, _ = make_plan(sizes, Config(), Execution(memory=memory, threads=cores, device="cpu"))
    hours = plan.seconds / 3600
    slowest = max(plan.needs, key=lambda need: need.seconds).stage
    figures = ("one machine", f"{memory / 1e9:,.0f}", "all", "", "", f"{hours:,.2f}", f"{hours:,.2f}")
    return title, *figures, plan.peak.stage, slowest


def row_of_cluster(title: str, plan: ClusterPlan) -> tuple[str, ...]:
    """A cluster beside a driver with a machine of its own."""
    fullest = max(plan.work, key=lambda work: work.node)
    in_driver = max(plan.work, key=lambda work: work.driver)
    return (
        title,
        str(plan.cluster.nodes),
        f"{fullest.node / 1e9:,.0f}",
        f"{fullest.whole / 1e9:,.0f}",
        f"{in_driver.driver / 1e9:,.0f}",
        f"{plan.moved / 1e12:,.1f}",
        f"{plan.seconds / 3600:,.2f}",
        f"{plan.node_hours:,.2f}",
        f"{fullest.stage}, {in_driver.stage}",
        plan.slowest.stage,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cores", type=int, default=16, help="cores of a node")
    parser.add_argument("--network", default="10Gbit", help="of each node")
    parser.add_argument("--nodes", default="4,16")
    options = parser.parse_args()
    rows = [HEADER, ("---",) * len(HEADER)]
    for title, (entities, triples) in SIZES.items():
        sizes = Sizes.assumed(entities, triples)
        rows.append(row_of_one_machine(title, sizes, options.cores))
        for nodes in map(int, options.nodes.split(",")):
            network = parse_network(options.network)
            cluster = Cluster(nodes, 10**9, options.cores, network=network, driver_memory=10**9)
            memory = least_memory(sizes, Config(), cluster)
            driver = least_driver_memory(sizes, Config(), replace(cluster, memory=memory))
            found = replace(cluster, memory=memory, driver_memory=driver)
            rows.append(row_of_cluster(title, plan_cluster(sizes, Config(), found)))
    print("\n".join("| " + " | ".join(row) + " |" for row in rows))


if __name__ == "__main__":
    main()
