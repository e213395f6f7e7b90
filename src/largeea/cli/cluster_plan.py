"""The plan for a cluster on the command line: from options to a cluster, and the plan as a table."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated

import typer

from largeea.cli.grouping import Group
from largeea.cli.screen import screen
from largeea.errors import UsageError
from largeea.execution import Execution
from largeea.execution.settings import parse_size
from largeea.planning import Cluster, ClusterPlan

_RATE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([MG])(bit|B)(?:/s)?\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Nodes(Group):
    """The nodes of a cluster."""

    nodes: Annotated[
        int | None, typer.Option(help="Plan for a cluster with this number of nodes.", min=1)
    ] = None
    memory_per_node: Annotated[
        str | None, typer.Option(help="Memory that a run may use on each node, such as 64GB.")
    ] = None
    cores_per_node: Annotated[int, typer.Option(help="CPU cores of each node.", min=1)] = 16
    gpus_per_node: Annotated[
        int, typer.Option(help="GPUs of each node; encoders and training use them.", min=0)
    ] = 0
    driver_memory: Annotated[
        str | None, typer.Option(help="Memory of the driver's own machine; default: it runs on a node.")
    ] = None
    network: Annotated[str, typer.Option(help="Network of each node, such as 10Gbit.")] = "10Gbit"

    def make(self) -> Cluster | None:
        """Return the cluster; None for a plan for one machine."""
        memory, own = self.memory_per_node, self.driver_memory
        if self.nodes is None:
            if memory is not None or own is not None:
                raise UsageError("--memory-per-node and --driver-memory are for a cluster: add --nodes N")
            return None
        return Cluster(
            self.nodes,
            Execution().memory_bytes if memory is None else parse_size(memory, "memory-per-node"),
            self.cores_per_node,
            self.gpus_per_node,
            parse_network(self.network),
            None if own is None else parse_size(own, "driver-memory"),
        )


def parse_network(rate: str) -> float:
    """Bytes a second from text: "10Gbit" is 1.25e9, "500MB" is 5e8."""
    match = _RATE.fullmatch(rate)
    if not match or not float(match[1]):
        raise UsageError(f"--network {rate}: give bits or bytes a second, such as 10Gbit or 500MB")
    per_second = float(match[1]) * (1e9 if match[2].upper() == "G" else 1e6)
    return per_second / 8 if match[3].lower() == "bit" else per_second


def show_cluster(plan: ClusterPlan) -> None:
    """Print what each stage needs on a node, in the driver and of the network, and what it comes to."""
    rows = [
        (
            work.stage,
            *(f"{size / 1e9:,.1f}" for size in (work.whole, work.share, work.driver, plan.moved_by(work))),
            f"{plan.seconds_of(work) / 60:,.1f}",
        )
        for work in plan.work
    ]
    header = ("stage", "whole GB", "share GB", "driver GB", "network GB", "minutes")
    cluster = plan.cluster
    title = f"Plan for {cluster.nodes:,} nodes: each holds some data whole, and its share of the source rows"
    screen.table(title, rows, header)
    own = cluster.driver_memory
    has = "it runs on one of them" if own is None else f"it has {own / 1e9:,.0f} GB"
    screen.result(
        f"A node needs {plan.node / 1e9:,.1f} GB (each has {cluster.memory / 1e9:,.0f} GB), the driver "
        f"{plan.driver / 1e9:,.1f} GB ({has}); {plan.moved / 1e9:,.0f} GB over the network"
    )
    screen.result(
        f"Most memory: {plan.limiting.stage}; most time: {plan.slowest.stage}; roughly "
        f"{plan.seconds / 3600:,.1f} hours, {plan.node_hours:,.1f} node hours; "
        + ("it fits" if plan.fits else "it does not fit")
    )
