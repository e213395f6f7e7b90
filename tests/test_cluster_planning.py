"""The plan for a cluster: what more nodes divide, what stays whole, and how much is enough."""

from __future__ import annotations

from dataclasses import replace

import pytest

from largeea.config import Config, load
from largeea.errors import ResourceError, UsageError
from largeea.execution import Execution
from largeea.planning import Cluster, ClusterPlan, Sizes, check_cluster, make_plan, plan_cluster
from largeea.planning.cluster import PROCESS
from largeea.planning.enough import (
    least_driver_memory,
    least_memory,
    least_memory_of_one_machine,
    least_nodes,
)
from largeea.planning.placement import MATCHING, ON_NODES, QUERIES_WHOLE, whole_inputs
from largeea.planning.stages import stage_rows

SIZES = Sizes.assumed((10_000_000, 8_000_000))
CLUSTER = Cluster(4, 64 * 10**9, driver_memory=128 * 10**9)


def planned(sizes: Sizes = SIZES, config: Config | None = None, **changes: object) -> ClusterPlan:
    return plan_cluster(sizes, config or Config(), replace(CLUSTER, **changes))  # type: ignore[arg-type]


def test_all_stages_of_one_machine_are_planned() -> None:
    one, _ = make_plan(SIZES, Config(), Execution(memory="500GB"))
    assert [work.stage for work in planned().work] == [
        need.stage for need in one.needs if need.stage != "target"
    ]
    stages = {need.stage for need in one.needs}
    encoders = {"vectors", "by-ngrams", "by-vectors", "structure"}
    assert set(ON_NODES) <= stages | encoders, "a stage that does not exist has no jobs"


def test_more_nodes_divide_shares_and_leave_the_rest_whole() -> None:
    few, many = planned(), planned(nodes=16)
    divided = 0
    for one, other in zip(few.work, many.work, strict=True):
        assert one.stage == other.stage
        assert one.whole == other.whole, one.stage
        assert one.driver == other.driver, one.stage
        if one.share:
            divided += 1
            assert other.share == pytest.approx(one.share / 4, rel=0.1), one.stage
    assert divided >= 6
    assert many.node <= few.node
    assert many.seconds < few.seconds
    assert many.moved > few.moved


def test_a_single_node_has_the_whole_stage() -> None:
    """What a node needs for all source rows is what the stage's own memory function says.

    The nodes of matching and candidates leave a part of it to the driver.
    """
    limits = CLUSTER.memory, CLUSTER.cores
    whole = {row.stage: row.working for row in stage_rows(SIZES, Config(), *limits)}
    for work in planned(nodes=1).work:
        if work.share and work.stage not in (*MATCHING, "candidates"):
            inputs = whole_inputs(work.stage, SIZES)
            inputs += 4 * 50 * 10_000_000 if "surroundings" in work.stage else 0  # the targets of all pairs
            processes = CLUSTER.cores * PROCESS
            assert work.node == pytest.approx(processes + inputs + whole[work.stage], rel=1e-6), work.stage


def test_queries_that_the_driver_makes_are_whole_on_every_node() -> None:
    for work in planned(nodes=1000).work:
        if work.stage in QUERIES_WHOLE:
            assert work.share == 0
            assert work.whole > 1e9


def test_matching_divides_all_pairs_and_exchanges_vectors() -> None:
    few, many = (
        next(work for work in planned(nodes=nodes).work if work.stage == "fused") for nodes in (1, 10)
    )
    assert few.share == 16 * 50 * 10_000_000
    assert many.share == few.share / 10
    assert many.broadcast == 4 * 18_000_000 * Config().evidence.sinkhorn_iterations


def test_surroundings_keep_both_graphs_whole_on_every_node() -> None:
    """Labels of the larger graph and vectors of all targets: 268 and 448 bytes an entity."""
    work = next(work for work in planned(nodes=1000).work if work.stage == "surroundings")
    assert work.whole > 268 * 10_000_000 + 448 * 8_000_000
    wide, narrow = (
        next(
            work.whole
            for work in planned(config=load("default", settings=(f"evidence.label_width={width}",))).work
            if work.stage == "surroundings"
        )
        for width in (64, 32)
    )
    assert wide - narrow > 2e9


def test_time_falls_to_what_the_driver_does_and_what_nodes_repeat() -> None:
    fast = planned(nodes=10_000, network=1e15)
    driver = sum(work.calls * work.driver_seconds for work in fast.work) / CLUSTER.cores
    repeated = sum(work.calls * work.repeated_seconds for work in fast.work) / CLUSTER.cores
    assert fast.seconds == pytest.approx(driver + repeated, rel=0.01)
    assert repeated > 0
    alone = planned(nodes=1, network=1e15)
    rows = [
        (work.driver_seconds + work.job_seconds + work.repeated_seconds) * work.calls for work in alone.work
    ]
    local, _ = make_plan(SIZES, Config(), Execution(memory="500GB", threads=CLUSTER.cores, device="cpu"))
    assert sum(rows) / CLUSTER.cores == pytest.approx(local.seconds)


def test_a_faster_network_and_gpus_save_time() -> None:
    assert planned(network=12.5e9).seconds < planned().seconds
    trained = load("largeea-r", settings=("names.encoder=ngram",))
    assert planned(config=trained, gpus=1).seconds < planned(config=trained).seconds
    assert planned(gpus=1).seconds == planned().seconds, "the default neither encodes nor trains"


def test_a_driver_on_a_node_needs_room_there() -> None:
    tight = planned(driver_memory=None)
    needs = max(work.node + work.driver for work in tight.work)
    assert planned(driver_memory=None, memory=int(1.2 * needs)).fits
    assert not planned(driver_memory=None, memory=int(0.8 * needs)).fits


@pytest.mark.parametrize("driver_memory", [None, 128 * 10**9])
def test_the_least_memory_is_enough_and_a_gigabyte_less_is_not(driver_memory: int | None) -> None:
    cluster = replace(CLUSTER, driver_memory=driver_memory)
    memory = least_memory(SIZES, Config(), cluster)
    assert plan_cluster(SIZES, Config(), replace(cluster, memory=memory)).fits
    assert not plan_cluster(SIZES, Config(), replace(cluster, memory=memory - 10**9)).fits


def test_the_least_memory_of_the_driver() -> None:
    memory = least_driver_memory(SIZES, Config(), CLUSTER)
    assert planned(driver_memory=memory).fits
    assert not planned(driver_memory=memory - 10**9).fits


def test_the_least_number_of_nodes() -> None:
    node = planned(nodes=6).node
    nodes = least_nodes(SIZES, Config(), replace(CLUSTER, memory=node))
    assert nodes is not None
    assert 1 < nodes <= 7
    assert planned(nodes=nodes, memory=node).fits
    assert not planned(nodes=nodes - 1, memory=node).fits
    assert least_nodes(SIZES, Config(), replace(CLUSTER, memory=10**9)) is None


def test_the_advice_tells_nodes_driver_and_memory() -> None:
    check_cluster(planned(), SIZES, Config())
    with pytest.raises(ResourceError, match=r"the driver would need [0-9]+ GB"):
        check_cluster(planned(driver_memory=10**9), SIZES, Config())
    memory = planned(nodes=6).node
    with pytest.raises(ResourceError, match=r"[0-9] nodes would do; one node would need [0-9]+ GB each"):
        check_cluster(planned(nodes=1, memory=memory), SIZES, Config())


def test_the_least_memory_of_one_machine() -> None:
    memory = least_memory_of_one_machine(SIZES, Config(), 16)
    for size, fits in ((memory, True), (memory - 10**9, False)):
        plan, _ = make_plan(SIZES, Config(), Execution(memory=size, threads=16, device="cpu"))
        assert (plan.peak.host <= size and not plan.adjustments) == fits


def test_no_cluster_without_nodes() -> None:
    with pytest.raises(UsageError, match="at least one node"):
        Cluster(0, 10**9)


def test_shares_of_sizes() -> None:
    sizes = replace(SIZES, not_matched=(2_000_000, 0))
    part = sizes.part(0.25)
    assert part.matched == (2_000_000, 8_000_000)
    assert part.source_rows == 2_500_000
    assert part.characters == (50_000_000, 160_000_000)
    assert (part.entities, part.triples) == (sizes.entities, sizes.triples), "graphs stay whole"
