"""How many nodes, or how much memory, are enough: the advice where a plan does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from largeea.config import Config
from largeea.errors import ResourceError
from largeea.execution import Execution
from largeea.planning.cluster import Cluster, ClusterPlan, plan_cluster
from largeea.planning.one_machine import make_plan
from largeea.planning.sizes import Sizes

MOST_NODES = 1 << 14
MOST_MEMORY = 1 << 46
GB = 10**9


def least_nodes(sizes: Sizes, config: Config, cluster: Cluster) -> int | None:
    """The smallest number of nodes of this memory that is enough; None if no number is.

    A driver that has a machine of its own is taken to have enough memory there.
    """
    room = _with_room_for_driver(cluster)
    return _smallest(lambda nodes: plan_cluster(sizes, config, replace(room, nodes=nodes)).fits, MOST_NODES)


def least_memory(sizes: Sizes, config: Config, cluster: Cluster) -> int:
    """The smallest memory of each of these nodes that is enough, in bytes, rounded up to whole GB.

    A driver that has a machine of its own is taken to have enough memory there.
    """
    room = _with_room_for_driver(cluster)

    def fits(gigabytes: int) -> bool:
        return plan_cluster(sizes, config, replace(room, memory=gigabytes * GB)).fits

    return GB * (_smallest(fits, MOST_MEMORY // GB) or 0)


def least_driver_memory(sizes: Sizes, config: Config, cluster: Cluster) -> int:
    """The smallest memory of the driver's own machine that is enough, in bytes, rounded up to whole GB."""

    def fits(gigabytes: int) -> bool:
        room = replace(cluster, driver_memory=gigabytes * GB)
        return plan_cluster(sizes, config, room).driver <= gigabytes * GB

    return GB * (_smallest(fits, MOST_MEMORY // GB) or 0)


def least_memory_of_one_machine(sizes: Sizes, config: Config, threads: int) -> int:
    """The smallest memory of one machine that is enough without narrower labels or smaller mini-batches.

    In bytes, rounded up to whole GB.
    """

    def fits(gigabytes: int) -> bool:
        execution = Execution(memory=gigabytes * GB, threads=threads, device="cpu")
        plan, _ = make_plan(sizes, config, execution)
        return plan.peak.host <= plan.memory and not plan.adjustments

    return GB * (_smallest(fits, MOST_MEMORY // GB) or 0)


def check_cluster(plan: ClusterPlan, sizes: Sizes, config: Config) -> None:
    """An error if a stage has too little memory: it says how many nodes or how much memory would do."""
    if plan.fits:
        return
    cluster, work, own = plan.cluster, plan.limiting, plan.cluster.driver_memory
    nodes, memory = least_nodes(sizes, config, cluster), least_memory(sizes, config, cluster)
    driver = least_driver_memory(sizes, config, cluster)
    enough = "no number of nodes of this memory is enough" if nodes is None else f"{_count(nodes)} would do"
    advice = f"{enough}; {_count(cluster.nodes)} would need {memory / GB:,.0f} GB each"
    if own is None:
        driver_has = "runs on one of them"
        advice += (
            f", or {plan.node / GB:,.0f} GB each beside a driver with a machine of its own "
            f"(--driver-memory), which would need {driver / GB:,.0f} GB"
        )
    else:
        driver_has = f"has {own / GB:,.0f} GB"
        if own < plan.driver:
            advice += f"; the driver would need {driver / GB:,.0f} GB"
    raise ResourceError(
        f"the stage {work.stage!r} needs about {work.node / GB:,.0f} GB on each node and "
        f"{work.driver / GB:,.0f} GB in the driver; nodes have {cluster.memory / GB:,.0f} GB, and the "
        f"driver {driver_has}: {advice}. Fewer candidates (names.top_k, evidence.top_k) or narrower labels "
        "(evidence.label_width) take less"
    )


def _count(nodes: int) -> str:
    return "one node" if nodes == 1 else f"{nodes:,} nodes"


def _with_room_for_driver(cluster: Cluster) -> Cluster:
    return replace(cluster, driver_memory=None if cluster.driver_memory is None else MOST_MEMORY)


def _smallest(is_enough: Callable[[int], bool], most: int) -> int | None:
    """The smallest number from 1 that is enough, where every larger one is too; None if `most` is not."""
    least = 1
    if not is_enough(most):
        return None
    while least < most:
        middle = (least + most) // 2
        least, most = (least, middle) if is_enough(middle) else (middle + 1, most)
    return least
