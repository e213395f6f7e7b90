"""`benchmarks/simulated_cluster.py` and `cluster_plan.py`: times, transfers and losses with known answers."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from largeea.planning.placement import ON_NODES

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
simulated, cluster_plan = (importlib.import_module(name) for name in ("simulated_cluster", "cluster_plan"))
sys.path.pop(0)
Stage, Machines = simulated.Stage, simulated.Machines


def run(stages: list[Any], **machines: Any) -> Any:
    return simulated.Simulation(stages, Machines(**machines)).run()


def test_one_node_takes_the_sum_of_all_jobs_divided_by_its_cores() -> None:
    stages = [Stage("a", jobs=40, job_seconds=3.0), Stage("b", ("a",), jobs=8, job_seconds=5.0)]
    done = run(stages, nodes=1, cores=4)
    assert done.makespan == pytest.approx((40 * 3 + 8 * 5) / 4)
    assert done.seconds == pytest.approx({"a": 30.0, "b": 10.0})


def test_many_nodes_take_the_critical_path() -> None:
    stages = [
        Stage("start", before_jobs=1.0, jobs=500, job_seconds=2.0, after_jobs=0.5),
        Stage("long", ("start",), jobs=500, job_seconds=9.0),
        Stage("short", ("start",), jobs=500, job_seconds=4.0),
        Stage("end", ("long", "short"), jobs=3, job_seconds=1.0),
    ]
    assert run(stages, nodes=1000, cores=4).makespan == pytest.approx(1 + 2 + 0.5 + 9 + 1)


def test_the_driver_does_one_thing_at_a_time() -> None:
    stages = [Stage("a", before_jobs=3.0), Stage("b", before_jobs=4.0)]
    assert run(stages, nodes=9, cores=9).makespan == pytest.approx(7.0)


def test_amdahl() -> None:
    """A tenth of the work is the driver's: 16 cores are 6.4 times as fast as one."""
    stages = [Stage("a", before_jobs=10.0, jobs=160, job_seconds=90 / 160)]
    assert 100 / run(stages, nodes=4, cores=4).makespan == pytest.approx(1 / (0.1 + 0.9 / 16))


def test_a_node_receives_what_jobs_share_once_and_the_driver_receives_results_one_by_one() -> None:
    stage = Stage("a", jobs=8, job_seconds=1.0, shared=100.0, job_input=10.0, job_result=20.0)
    done = run([stage], nodes=2, cores=4, bandwidth=10.0)
    assert done.moved == 2 * 100 + 8 * (10 + 20)
    assert done.makespan == pytest.approx(10 + 1 + 1 + 8 * 2)


def test_jobs_that_take_all_cores_of_a_node() -> None:
    stage = Stage("a", jobs=6, job_seconds=2.0, job_cores=4)
    assert run([stage], nodes=3, cores=4).makespan == pytest.approx(4.0)


def test_a_lost_node_repeats_the_jobs_that_were_under_way() -> None:
    stage = Stage("a", jobs=8, job_seconds=10.0)
    done = run([stage], nodes=2, cores=4, losses=((5.0, 1),), replaced_after=1000.0)
    assert done.repeated == 4
    assert done.makespan == pytest.approx(20.0)
    quickly = run([stage], nodes=2, cores=4, losses=((5.0, 1),), replaced_after=1.0)
    assert quickly.repeated == 4
    assert quickly.makespan == pytest.approx(16.0)


def test_a_node_that_comes_back_is_empty() -> None:
    stage = Stage("a", jobs=2, job_seconds=10.0, shared=30.0)
    done = run([stage], nodes=2, cores=1, bandwidth=10.0, losses=((5.0, 1),), replaced_after=1.0)
    assert done.moved == 3 * 30
    assert done.makespan == pytest.approx(6 + 3 + 10)


def test_a_slow_node_gets_fewer_jobs() -> None:
    stage = Stage("a", jobs=30, job_seconds=1.0)
    fast = run([stage], nodes=2, cores=1).makespan
    slow = run([stage], nodes=2, cores=1, slow_share=1.0, slow_factor=2.0).makespan
    assert (fast, slow) == (15.0, 30.0)
    one_slow = simulated.Simulation([stage], Machines(nodes=2, cores=1))
    one_slow._nodes[1].factor = 2.0
    assert one_slow.run().makespan == pytest.approx(20.0)


def test_random_losses_are_those_of_the_seed() -> None:
    stage = Stage("a", jobs=400, job_seconds=60.0)
    often = {"nodes": 10, "cores": 2, "lost_per_hour": 2.0}
    one, again, other = (run([stage], **often, seed=seed) for seed in (1, 1, 2))
    assert one == again
    assert one.repeated > 0
    assert one.makespan > run([stage], nodes=10, cores=2).makespan
    assert one != other


# Replaying a run


def manifest(entities: int, seconds: dict[str, float]) -> str:
    """A manifest of a run with so many entities on either side."""
    memory = {"host": 1.0, "gpu": 0.0}
    timings = {stage: {"key": {"seconds": took, "memory_mb": memory}} for stage, took in seconds.items()}
    read = {side: {"entities": entities} for side in ("source", "target")}
    return json.dumps({"read": read, "timings": timings})


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Two runs: semantic grows with the power 1.5, edges with 0.5, and judged is not planned."""
    made = []
    for name, entities, factor in (("small", 10_000, 1.0), ("large", 1_000_000, 100.0)):
        (tmp_path / name).mkdir()
        seconds = {"semantic": 2 * factor**1.5, "edges": 3 * factor**0.5, "judged": factor}
        (tmp_path / name / "manifest.json").write_text(manifest(entities, seconds))
        made.append(tmp_path / name)
    return made


def replayed(runs: list[Path], side: int, nodes: int, **changes: Any) -> Any:
    options = argparse.Namespace(
        copy_rate=1e30, bandwidth=1e30, memory=10**12, cores=4, slow_nodes=0.0, slow_factor=1.0,
        lost_node_per_hour=0.0, **changes,
    )  # fmt: skip
    return cluster_plan.replay(side, nodes, options, cluster_plan.Measured(runs, cores=2))


def test_a_replay_on_as_many_cores_takes_the_measured_time_and_grows_like_the_runs(runs: list[Path]) -> None:
    found = replayed(runs, 1_000_000, 1)
    half = (2000 + 30 + 100) / 2
    assert found["seconds"] == pytest.approx(half, rel=0.01)
    assert found["stages"]["semantic"] == pytest.approx(1000, rel=0.01)
    grown = replayed(runs, 4_000_000, 1)["stages"]
    assert grown["semantic"] == pytest.approx(8 * found["stages"]["semantic"], rel=0.03)
    assert grown["edges"] == pytest.approx(4 * found["stages"]["edges"], rel=0.01), "as planned, at least"


def test_a_replay_on_many_nodes_leaves_the_driver_its_part(runs: list[Path]) -> None:
    one, many = (replayed(runs, 1_000_000, nodes) for nodes in (1, 64))
    driver = (1 - ON_NODES["semantic"]) * one["stages"]["semantic"]
    assert driver < many["stages"]["semantic"] < driver + one["stages"]["semantic"] / 32
    assert many["stages"]["edges"] == one["stages"]["edges"]
    assert many["moved"] > one["moved"]


def test_the_table_has_the_speed_up_over_the_fewest_nodes(runs: list[Path]) -> None:
    lines = cluster_plan.table([replayed(runs, 1_000_000, nodes) for nodes in (1, 4)]).splitlines()
    assert lines[2].startswith("| 1,000,000 | 1 | 0.30 | 1.0 |")
    assert float(lines[3].split("|")[4]) > 1.8
